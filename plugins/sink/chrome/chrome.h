/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One export to a Chrome trace: the state that its parts share. The document is written
 * front to back and never gone back in:
 *
 *     head.c      what is known before the first event
 *     tracks.c    numbers of processes and threads, and the events that name them
 *     compat.c    what a reader needs that never happened, only if asked for
 *     events.c    everything that happened
 *     counters.c  of that, samples
 *     tail.c      what is known only at the end
 */
#ifndef KYMO_CHROME_CHROME_H
#define KYMO_CHROME_CHROME_H

#include <kymo/sink.h>

#include "file.h"
#include "json.h"
#include "keys.h"
#include "set.h"

/* A track as it stands in the trace. */
struct ky_row {
	const struct kymo_trace_track *track; /* NULL: not announced yet */
	uint32_t pid, tid;
	uint32_t place_size;
	char place[64]; /* "pid": ..., "tid": ..., "ts":  ready to be written */
};

/* A process of the trace: a program or a device. */
struct ky_home {
	uint32_t pid;
	bool announced;
	const struct kymo_trace_track
		*counters; /* the first of its tracks that had any */
};

struct ky_tracks {
	struct ky_row *rows; /* by the track's index */
	size_t row_capacity;
	struct ky_home *processes, *devices; /* by their indices */
	size_t process_count, device_count;
	struct ky_set taken; /* pids, and (pid, tid) */
	uint32_t lane_count, assigned_count;
};

/* What every event begins with, and where its phase stands in that. */
#define KY_EVENT_BEGIN "\n  {\n    \"ph\": \"X\""
#define KY_EVENT_PHASE (sizeof(KY_EVENT_BEGIN) - 3)

#define KY_BEGIN_PADDING 64

/* What the sink itself has to say of its work. */
struct ky_counts {
	uint64_t activities, arrows;
	uint64_t not_drawn;  /* events outside the representable time, or backwards */
	uint64_t non_finite; /* counter values left out */
	uint64_t synthetic;  /* events made up for a reader, by --compat */
};

struct ky_chrome {
	struct ky_file file;
	struct ky_json json;
	struct ky_tracks tracks;
	struct ky_keys keys;
	/* By hash: groups and their units; units in single series; with more than one. */
	struct ky_set counters_seen, counters_split, counters_mixed;
	struct ky_counts counts;
	const struct kymo_trace_header *header;
	/*
	 * By the type's index: an event up to its category, of phase X. KY_BEGIN_PADDING
	 * bytes may be read from the beginning of each, whatever its size.
	 */
	struct kymo_str *begins;
	char *trace_name; /* JSON text, quotes included */
	size_t trace_name_size;
	int64_t base_ns;       /* timeline ns of `ts` 0 */
	int64_t base_epoch_ns; /* the same in ns since the epoch */
	bool for_tensorboard;
};

/* True and the time since the base, if it can be drawn. */
static inline bool ky_chrome_time(const struct ky_chrome *chrome, int64_t ns,
				  uint64_t *since)
{
	*since = (uint64_t)ns - (uint64_t)chrome->base_ns;
	/* Of 31 years the last has 18 digits, the most that a reader takes. */
	return ns >= chrome->base_ns && *since < UINT64_C(1000000000000000000);
}

/*
 * Begins an event with `{` and `"ph": "PHASE"`; where to go on. Each event has a comma
 * behind it, since the one that the tail writes is always the last.
 */
char *ky_chrome_begin_event(struct ky_chrome *chrome, char phase);

/* ---- head.c ---- */

/* Chooses the base, prepares what events begin with, writes up to the first event. */
int32_t ky_head_write(struct ky_chrome *chrome);

/* ---- ranks.c ---- */

/* The process whose rank is the only one of the trace, or NULL. */
const struct kymo_trace_process *ky_ranks_one(const struct kymo_trace_header *header);

/* True for metadata that stands in distributedInfo; which is written, if there is any. */
bool ky_ranks_take(const struct kymo_trace_header *header,
		   const struct kymo_trace_value *value);
void ky_ranks_write(struct ky_chrome *chrome);

/* ---- tracks.c ---- */

int32_t ky_tracks_init(struct ky_tracks *tracks, const struct kymo_trace_header *header);
void ky_tracks_fini(struct ky_tracks *tracks);

/*
 * The row of a track; the first time the events that name it, and its process before it,
 * are written. NULL when memory is out or the track makes no sense.
 */
const struct ky_row *ky_tracks_announce(struct ky_chrome *chrome,
					const struct kymo_trace_track *track);

static inline const struct ky_row *ky_tracks_row(struct ky_chrome *chrome,
						 const struct kymo_trace_track *track)
{
	const struct ky_tracks *tracks = &chrome->tracks;

	if (track->index < tracks->row_capacity && tracks->rows[track->index].track)
		return &tracks->rows[track->index];
	return ky_tracks_announce(chrome, track);
}

/* An event of phase M up to its args, which hold the name; args stay open. */
void ky_tracks_begin_meta(struct ky_chrome *chrome, struct kymo_str event, uint32_t pid,
			  uint32_t tid);
void ky_tracks_end_meta(struct ky_chrome *chrome);

/* Announces the program; its row of the trace. */
const struct ky_home *ky_tracks_process(struct ky_chrome *chrome,
					const struct kymo_trace_process *process);

/* A tid of the sink's own, for a row that is no track. */
uint32_t ky_tracks_assign(struct ky_tracks *tracks);

/* The home that a track is in, announced or not; NULL if it is in none. */
struct ky_home *ky_tracks_home(struct ky_tracks *tracks,
			       const struct kymo_trace_track *track);

/* ---- events.c ---- */

int32_t ky_events_write(struct ky_chrome *chrome, const struct kymo_trace_event *event);

/* ---- counters.c ---- */

int32_t ky_counters_write(struct ky_chrome *chrome, const struct kymo_trace_event *event,
			  const struct ky_row *row);

/* ---- compat.c ---- */

/* True if the reader is known; an empty name means none. */
bool ky_compat_set(struct ky_chrome *chrome, struct kymo_str reader);

/* The events that a reader needs beyond what was recorded, each flagged as made up. */
void ky_compat_write(struct ky_chrome *chrome);

/* ---- tail.c ---- */

/* From the last event to the last brace. */
void ky_tail_write(struct ky_chrome *chrome, const struct kymo_trace_end *end);

#endif
