/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink ABI: how a trace leaves Kymo. A sink is a plug-in part like a source; it runs
 * in the process that exports, never in the profiled one.
 *
 * One export is one instance and one thread, of the library's own where there are several
 * outputs:
 *
 *     open -> begin -> batch* -> end       (then close)
 *     open -> begin -> batch* -> abort     (what was written is removed; then close)
 *
 * abort may come at any point after open: also without a begin, and after a begin, batch
 * or end that has failed. What open has not opened is neither aborted nor closed.
 *
 * An operation that takes longer than some seconds is overtaken: the other outputs are
 * written without it, for which their sinks are opened again. One that has not returned
 * long after these are whole is given up, and its memory left to it.
 *
 * Everything handed to a sink is finished: times are nanoseconds of CLOCK_MONOTONIC on
 * one timeline, names are resolved, links are joined, spans of a track are nested or
 * disjoint. Events come in order of begin, longer ones first. All pointers are borrowed:
 * events until batch returns; header, tracks and all that they point to until end or
 * abort returns, so close must not look at them. Members behind "End of ABI 1.0" are
 * there where the struct's size says so (KYMO_HAS_FIELD); of a result no more is filled
 * than the size that stands in it has room for.
 */
#ifndef KYMO_SINK_H
#define KYMO_SINK_H

#include <kymo/base.h>
#include <kymo/nested.h>
#include <kymo/plugin.h>

KYMO_BEGIN_DECLS

/*
 * Frozen. A metadata value, resolved. TIME values are timeline nanoseconds in `i64`.
 * What was recorded as NESTED is a LIST or a DICT: its items may be of any type, also
 * lists and dictionaries, KYMO_NESTED_DEPTH_MAX deep at most. Those of a DICT have keys,
 * of which two may be equal; none has a unit. kymo_value_visit walks through all of it.
 */
struct kymo_trace_value {
	struct kymo_str key, unit;
	uint32_t type;  /* KYMO_VALUE_*; STRING and CODE are `text` */
	uint32_t count; /* elements where the type has KYMO_VALUE_ARRAY, items, or 0 */
	union {
		int64_t i64;
		uint64_t u64;
		double f64;
		struct kymo_str text;
		const int64_t *i64_array;
		const uint64_t *u64_array;
		const double *f64_array;
		const struct kymo_str *text_array;
		const struct kymo_trace_value *items; /* of a LIST or DICT */
	};
};

/* Frozen. What is called for a value and all that is in it; none may be NULL. */
struct kymo_value_visitor {
	/* A value that has no items: one of 64 bits, a text, or an array. */
	void (*value)(void *context, const struct kymo_trace_value *value);
	/* Around the items of a LIST or DICT. */
	void (*begin)(void *context, const struct kymo_trace_value *value);
	void (*end)(void *context, const struct kymo_trace_value *value);
};

static inline void kymo_value_visit(const struct kymo_trace_value *value,
				    const struct kymo_value_visitor *visitor,
				    void *context)
{
	if (value->type != KYMO_VALUE_LIST && value->type != KYMO_VALUE_DICT) {
		visitor->value(context, value);
		return;
	}
	visitor->begin(context, value);
	for (uint32_t i = 0; i < value->count; i++)
		kymo_value_visit(&value->items[i], visitor, context);
	visitor->end(context, value);
}

/* One program that took part. Its threads' and devices' tracks point here. */
struct kymo_trace_process {
	uint32_t struct_size;
	uint32_t index; /* from 0, dense */
	uint64_t pid;   /* as the process saw itself */
	int64_t start_ns;
	struct kymo_str name; /* of the executable, without folders */
	struct kymo_str exe, command_line, host, boot_id;
	int64_t rank, world_size; /* -1: not known */

	/* End of ABI 1.0 */
};

struct kymo_trace_device {
	uint32_t struct_size;
	uint32_t index; /* from 0, dense, over all processes and sources */
	const struct kymo_trace_process *process;
	uint64_t native;
	struct kymo_str name, kind, uuid, source;
	uint32_t order;
	uint32_t value_count;
	const struct kymo_trace_value *values;
	/* End of ABI 1.0 */
};

/* Where things happened. A lane is a further row of a track whose spans overlap. */
struct kymo_trace_track {
	uint32_t struct_size;
	uint32_t index;  /* from 0, dense; each lane has its own */
	uint32_t kind;   /* KYMO_TRACK_* */
	uint32_t lane;   /* 0: the track itself */
	uint64_t native; /* thread id or the vendor's queue handle */
	/* Of queues: from 1 within the device, or that of one it lies beside; else 0. */
	uint32_t number;
	uint32_t order;
	const struct kymo_trace_process *process;
	const struct kymo_trace_device *device; /* NULL: the host */
	struct kymo_str name;
	const struct kymo_trace_track *base; /* lane 0 of the same; itself for that one */

	/* End of ABI 1.0 */
};

struct kymo_trace_type {
	uint32_t struct_size;
	uint32_t index;         /* from 0, dense */
	uint32_t activity_type; /* number of (plugin, name), or of the static type */
	uint32_t shapes, side;
	uint32_t is_static;
	struct kymo_str source, name, category;
	struct kymo_str plugin, full_name; /* "" and `name` for a static one */
	uint32_t flags;                    /* KYMO_TYPE_* */
	uint32_t kineto_id;                /* its number in 8 bits, not its own alone */

	/* End of ABI 1.0 */
};

#define KYMO_EVENT_SPAN    1u
#define KYMO_EVENT_INSTANT 2u
#define KYMO_EVENT_COUNTER 3u /* values are the group's counters */
#define KYMO_EVENT_GAP     4u
#define KYMO_EVENT_ARROW   5u /* comes after both ends */
#define KYMO_EVENT_TRACK   6u /* announces `track`, before anything is on it */

/*
 * In the flags of a SPAN, beside KYMO_RECORD_*: a user's annotation projected on the
 * queue where what it launched was done. It was not recorded, but follows from what was.
 */
#define KYMO_EVENT_PROJECTED 0x10000u

struct kymo_trace_event {
	uint32_t struct_size;
	uint32_t kind;  /* KYMO_EVENT_* */
	uint32_t flags; /* KYMO_RECORD_*, KYMO_EVENT_PROJECTED */
	uint32_t reserved0;
	const struct kymo_trace_track *track;
	const struct kymo_trace_type *type; /* NULL for ARROW and TRACK */
	struct kymo_str name;               /* of an ARROW: its link kind ("ac2g") */
	int64_t begin_ns, end_ns;

	/*
	 * Numbers of this trace, dense from 1 (but for what a snapshot left out), 0 =
	 * none: one for a launch and the first thing it launched; each further one has
	 * its own, and the launch's beside it.
	 */
	uint64_t correlation, launch_correlation;
	struct kymo_str domain; /* what the source called it: "npu.command" */
	uint64_t native_correlation;

	const struct kymo_trace_value *values;
	size_t value_count;

	/* ARROW: fresh id from 1; from (from_track, from_ns) to (track, begin_ns). */
	uint64_t arrow_id;
	const struct kymo_trace_track *from_track;
	int64_t from_ns; /* where what it comes from begins: the launch */

	/* End of ABI 1.0 */
};

/* A source's fate in one process. */
struct kymo_trace_source {
	uint32_t struct_size;
	uint32_t state;                           /* KYMO_STATE_* */
	const struct kymo_trace_process *process; /* NULL: of the whole recording */
	struct kymo_str name, reason, remedy;
	uint64_t written; /* records of this source; a span told twice has two */
	uint64_t lost;    /* reported by the vendor or refused */
	uint64_t events;  /* activities: what is drawn of this source, and the untimed */
	uint64_t late;    /* those of `lost` that the host refused */
	uint64_t overwritten;   /* records that newer ones took the place of */
	uint64_t filtered;      /* handed in, but not wanted */
	uint64_t invalid;       /* no records, or of types that it does not have */
	uint64_t out_of_window; /* records of another time than the recording's */

	/* End of ABI 1.0 */
};

/* A thread's own counts, in records; with those of ended threads whose place it took. */
struct kymo_trace_writer {
	uint32_t struct_size;
	uint32_t reserved0;
	const struct kymo_trace_process *process;
	uint64_t tid;
	uint64_t accepted, written, full, too_big, nested, filtered;
	/* End of ABI 1.0 */
};

struct kymo_trace_clock {
	uint32_t struct_size;
	uint32_t kind;
	const struct kymo_trace_process *process;
	struct kymo_str source, name;
	uint64_t anchor_count;
	uint64_t uncertainty_ns; /* the largest error of any converted time */

	/* End of ABI 1.0 */
};

struct kymo_trace_header {
	uint32_t struct_size;
	uint32_t process_count;
	const struct kymo_trace_process *const *processes;
	const struct kymo_trace_device *const *devices;
	size_t device_count;
	const struct kymo_trace_type *const *types;
	size_t type_count;
	const struct kymo_trace_value *metadata; /* of the whole trace */
	size_t metadata_count;
	int64_t realtime_offset_ns;   /* add to timeline ns for ns since the epoch */
	int64_t first_ns, last_ns;    /* of all events; equal when there are none */
	struct kymo_str command_line; /* what the recorder was told to run, or "" */

	/* End of ABI 1.0 */
};

/*
 * What was offered, written and lost, in records:
 *
 *     offered  = filtered + accepted
 *     accepted = written + full + too_big + nested + overwritten + late
 *              + out_of_window + cut + invalid
 *
 * The rest are counts of their own: untimed ones are written but not drawn, begins are
 * written and shown as part of the span that completed them.
 */
struct kymo_trace_ledger {
	uint32_t struct_size;
	uint32_t reserved0;
	uint64_t offered, filtered, accepted, written;
	uint64_t full, too_big, nested, overwritten, late, out_of_window, cut;
	uint64_t source_exact, source_at_least; /* reported by vendors */
	uint64_t untimed, unfinished, names_not_kept;
	uint64_t arrows, arrows_backward, arrows_no_launch, arrows_untimed;
	uint64_t spans, instants, counters, kernels, copies;
	uint64_t cold_chunks, quarantined_chunks;
	uint64_t begins; /* OPEN records that a SPAN completed */
	/* Where one of these is not 0, nobody knows what followed. */
	uint64_t cut_captures; /* their end is missing: the recorder was killed */
	uint64_t bad_bytes;    /* of the files: behind the last whole block, or damaged */
	/* Correlations of launches that did not fail, and of which nothing came. */
	uint64_t launches_without_result;
	uint64_t invalid;   /* no records, or of types that their source does not have */
	uint64_t projected; /* spans that are no records: KYMO_EVENT_PROJECTED */
	/*
	 * Of arrows_backward: launched things that begin before their launch by more than
	 * the clocks' errors explain.
	 */
	uint64_t before_launch;
	uint64_t launches_twice; /* launches with the correlation of an earlier one */
	uint64_t arrows_twice;   /* not drawn again: the same arrow is there already */

	/* End of ABI 1.0 */
};

/* Everything that is known only at the end. */
struct kymo_trace_end {
	uint32_t struct_size;
	uint32_t source_count;
	const struct kymo_trace_ledger *ledger;
	const struct kymo_trace_source *const *sources;
	const struct kymo_trace_clock *const *clocks;
	size_t clock_count;
	/* Those of whose records some were lost or filtered. */
	const struct kymo_trace_writer *const *writers;
	size_t writer_count;
	/* End of ABI 1.0 */
};

/* What a sink did, for the last line that a person reads; `events` as in a summary. */
struct kymo_sink_result {
	uint32_t struct_size;
	uint32_t reserved0;
	uint64_t bytes, events;
	uint64_t invalid_utf8, nul; /* replacements in names and text */

	/* End of ABI 1.0 */
};

struct kymo_sink_options {
	uint32_t struct_size;
	uint32_t overwrite; /* 1: an existing file is replaced */
	/*
	 * The reader whose needs are met beyond what was recorded, flagged as synthetic;
	 * the sink knows their names, chrome's is "tensorboard". {NULL, 0}: none.
	 */
	struct kymo_str compat;
	/* End of ABI 1.0 */
};

/* The sink's operations; open, begin, batch, end, abort and close are required. */
struct kymo_sink_ops {
	uint32_t struct_size;
	uint32_t reserved0;
	/*
	 * The target stays untouched until end; an existing one is kept unless told so.
	 */
	int32_t (*open)(struct kymo_str path, const struct kymo_sink_options *options,
			void **sink, struct kymo_error *error);
	int32_t (*begin)(void *sink, const struct kymo_trace_header *header,
			 struct kymo_error *error);
	int32_t (*batch)(void *sink, const struct kymo_trace_event *const *events,
			 size_t count, struct kymo_error *error);
	/* Everything is checked, flushed and in place when this returns KYMO_OK. */
	int32_t (*end)(void *sink, const struct kymo_trace_end *end,
		       struct kymo_sink_result *result, struct kymo_error *error);
	void (*abort)(void *sink);
	void (*close)(void *sink);
	/* End of ABI 1.0 */
};

/* `suffixes` ends with NULL: ".json", ".json.gz". `protocol` as in "chrome://path". */
struct kymo_sink_desc {
	uint32_t struct_size;
	uint32_t reserved0;
	const char *protocol, *description;
	const char *const *suffixes;
	const struct kymo_sink_ops *ops;
	/* End of ABI 1.0 */
};

/* ---- For an application that has a sink of its own, or a plug-in elsewhere ---- */

/*
 * From now on "protocol://..." is written by these operations, in any case of letters.
 * The protocol (1 to 64 of [A-Za-z0-9_-]) is copied; the operations must stay valid for
 * ever. The last one of a protocol wins, also over an installed one; if there was one
 * before, KYMO_OK comes with a warning in error->message, which else is "". What is wrong
 * with the operations is KYMO_ERROR_INVALID. Any thread.
 */
KYMO_API int32_t kymo_sink_register(const char *protocol, const struct kymo_sink_ops *ops,
				    struct kymo_error *error);

/*
 * Loads a sink plug-in that is not installed, by its path (or one that is, by
 * name), with the checks of any plug-in; its sinks come before others of their protocols
 * and suffixes. Any thread; again is no error.
 */
KYMO_API int32_t kymo_sink_load(const char *name, struct kymo_error *error);

KYMO_END_DECLS

#endif
