/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who and where: what the catalogues of all captures say, as one. Captures of one process
 * (same boot, pid and start) share its tracks and devices; each keeps tables that lead
 * from its own numbers to the shared things.
 */
#ifndef KYMO_TIMELINE_MODEL_H
#define KYMO_TIMELINE_MODEL_H

#include <kymo/sink.h>

#include "capture/reader.h"
#include "record/known_keys.h"
#include "timeline/arena.h"
#include "timeline/clock_map.h"
#include "timeline/index.h"
#include "timeline/list.h"

struct ky_model_source {
	struct kymo_trace_source trace;
	uint64_t state_capture; /* the capture that set the state, + 1; 0: none did */
};

#define KY_STATE_BY_RECORDER UINT64_MAX /* as state_capture */

struct ky_model_track {
	struct kymo_trace_track trace; /* lane 0 */
	uint64_t error_ns;    /* of its times; known when all records have been scanned */
	struct ky_list lanes; /* struct kymo_trace_track, those announced */
	int is_named;         /* a thread, by a source: more than its own name */
	int is_beside;        /* a further row of a queue */
	uint64_t beside;      /* `native` of that queue */
	/* It, when all are in, whose number this one has; NULL: it is not there. */
	const struct ky_model_track *queue;
};

/* ---- Tables of one capture, by its own numbers ---- */

/* Numbers of static activity types. */
#define KY_TYPE_ANNOTATION           1u
#define KY_TYPE_PROJECTED_ANNOTATION 2u
#define KY_TYPE_COPY                 3u
#define KY_TYPE_KERNEL               5u

struct ky_capture_type {
	const struct kymo_trace_type *type;
	const struct kymo_trace_type *projected; /* of annotations, if any is */
	struct ky_model_source *source;
	uint32_t row; /* a track, + 1, for what is on track 0; 0: that of the thread */
};

struct ky_capture_track {
	uint32_t track; /* index into the model's */
	uint32_t clock; /* index into the capture's */
};

struct ky_capture_key {
	struct kymo_str name, unit;
	uint32_t type;
	enum ky_reference reference;
};

struct ky_model_capture {
	const struct ky_reader *reader;
	const struct ky_reader_capture *capture;
	const struct ky_catalog *catalog;
	struct kymo_trace_process *process;
	uint64_t first_chunk; /* number of its first chunk among those of all captures */
	int64_t shift_ns;     /* its CLOCK_MONOTONIC to the timeline's; 0 in one boot */
	int64_t earliest_ns, latest_ns; /* what is outside cannot have happened */
	int64_t recording_ns;           /* what has ended before is of the warm-up */
	int has_references;             /* a key of it is one to a correlation */

	/* Item 0 is for numbers that are not known. */
	struct ky_model_source **sources;
	struct ky_capture_type *types;
	struct ky_capture_track *tracks;
	struct ky_capture_key *keys;
	uint32_t *domains;    /* numbers of the model's, from 1 */
	uint32_t *link_kinds; /* indexes of the model's arrow names */
	struct kymo_trace_device **devices;
	struct ky_clock_map *clocks; /* 0: host ticks */
	struct kymo_str *codes;      /* shown for code addresses; {NULL, 0}: not found */
	uint32_t source_count, type_count, track_count, key_count, domain_count,
		link_kind_count, device_count, clock_count, code_count;
};

#define KY_ARROW_TO_DEVICE                                                          \
	0u                 /* "ac2g": the name that readers of such traces look for \
			    */
#define KY_ARROW_LAUNCH 1u /* "launch": other launches */

struct ky_model {
	struct ky_arena arena;
	struct ky_index things, texts;
	struct ky_model_capture *captures;
	size_t capture_count;
	uint64_t chunk_count;
	/* All in the arena. */
	struct ky_list processes, devices, types, tracks, sources;
	struct ky_list queues;      /* of the tracks, those with a number of their own */
	struct ky_list domains;     /* struct kymo_str */
	struct ky_list arrow_names; /* struct kymo_str */
	const struct kymo_trace_type *unknown_type;
	uint32_t has_unknown_types; /* a record is of that type */
	int64_t realtime_offset_ns;
	struct kymo_str window;    /* what was to be recorded; none: all */
	struct ky_list unresolved; /* struct kymo_str: code that was not found, and why */
	uint32_t next_track_index; /* of what is announced */
	int32_t status;            /* of ky_model_text, which cannot tell */
};

/* The readers must outlive the model: its texts are theirs. */
int32_t ky_model_create(struct ky_model **out, struct ky_reader *const *readers,
			size_t count, struct kymo_error *error);
void ky_model_destroy(struct ky_model *model);

/* A fixed number for a text, equal for equal bytes; notes in the model if it fails. */
uint64_t ky_model_text(struct ky_model *model, struct kymo_str text);

/* Arguments separated by NUL as one line; {NULL, 0}: no memory. */
struct kymo_str ky_model_join_arguments(struct ky_model *model, const char *arguments,
					size_t size);

static inline const struct ky_model_track *ky_model_track(const struct ky_model *model,
							  uint32_t index)
{
	return model->tracks.items[index];
}

/* ---- Its parts, in the order in which a capture is read; each NO_MEMORY or OK ---- */

int32_t ky_model_add_types(struct ky_model *model, struct ky_model_capture *capture);
/* Types for annotations that are projected on queues; when it is known that some are. */
int32_t ky_model_add_projected(struct ky_model *model);
/* After all captures: the sources that were wanted and that no process loaded. */
int32_t ky_model_add_absent(struct ky_model *model, const struct ky_reader *reader);
int32_t ky_model_add_tracks(struct ky_model *model, struct ky_model_capture *capture);
int32_t ky_model_add_clocks(struct ky_model_capture *capture);

/* How far CLOCK_REALTIME came to be from where it was when the capture began. */
uint64_t ky_model_realtime_step(const struct ky_model_capture *capture);

/* When all times have been converted: how far off those of each track can be. */
void ky_model_find_errors(struct ky_model *model);

/* After the tracks of all captures: rows for types of a device that name no track. */
int32_t ky_model_add_type_rows(struct ky_model *model, struct ky_model_capture *capture);

/* Numbers the queues of each device from 1, when all captures are in. */
int32_t ky_model_number_queues(struct ky_model *model);

/* That queue of the same device; NULL: there is none. */
const struct ky_model_track *ky_model_find_queue(const struct ky_model *model,
						 const struct kymo_trace_track *beside,
						 uint64_t native);

/*
 * The track as it is shown, for this lane of it. `is_new` is set when it was not shown
 * before and must be announced. NULL: no memory.
 */
const struct kymo_trace_track *ky_model_show_track(struct ky_model *model, uint32_t index,
						   uint32_t lane, int *is_new);

/* States and losses of the sources, which the catalogues have as well. */
void ky_model_add_states(struct ky_model_capture *capture, uint64_t number);

/*
 * codes.c: finds function and line of all code addresses, in the files that they are in.
 * Without it they are shown by object and offset. NO_MEMORY or OK.
 */
int32_t ky_model_find_codes(struct ky_model *model);

/* metadata.c: of the whole trace; also gives ranks to the processes. */
int32_t ky_model_metadata(struct ky_model *model, struct kymo_trace_value **out,
			  size_t *count);

#endif
