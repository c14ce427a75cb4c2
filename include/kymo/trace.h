/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A finished trace in memory: all that a sink is told of a session, or of captures, to be
 * walked through, and to be saved later through any sink.
 *
 *     struct kymo_trace *trace = NULL;
 *
 *     if (kymo_session_trace(session, &trace, &error) == KYMO_OK)
 *             for (size_t i = 0; i < kymo_trace_event_count(trace); i++)
 *                     look_at(kymo_trace_event_at(trace, i));
 *     kymo_trace_destroy(trace);
 *
 * All that it leads to is its own and does not change until it is destroyed: any thread
 * may read it. It takes some 300 bytes an event; what is larger than memory is read as a
 * stream, with kymo_timeline_export_to().
 */
#ifndef KYMO_TRACE_H
#define KYMO_TRACE_H

#include <kymo/session.h>
#include <kymo/sink.h>

KYMO_BEGIN_DECLS

struct kymo_trace; /* opaque */

/*
 * Make the trace of a stopped session, which stays as it is, or of .kymo files. It is the
 * caller's, to be destroyed. KYMO_ERROR_NO_MEMORY if it does not fit; KYMO_ERROR_STATE.
 */
KYMO_API int32_t kymo_session_trace(struct kymo_session *session, struct kymo_trace **out,
				    struct kymo_error *error);
KYMO_API int32_t kymo_trace_load(const char *const *captures, size_t count,
				 struct kymo_trace **out, struct kymo_error *error);

/*
 * Takes the trace that was last written to memory://NAME, by whatever writes to a path: a
 * request, an export. NAME is any text, and stands for the process that exports: it is of
 * no use to `kymo record`, which exports in another one. The trace is the caller's then.
 * KYMO_ERROR_NOT_FOUND if there is none, or it was taken before. Any thread.
 */
KYMO_API int32_t kymo_trace_take(const char *name, struct kymo_trace **out,
				 struct kymo_error *error);

/* NULL is allowed. All that was got from it goes with it. */
KYMO_API void kymo_trace_destroy(struct kymo_trace *trace);

/* Processes, devices, types, metadata; and sources, clocks, the ledger. */
KYMO_API const struct kymo_trace_header *
kymo_trace_header_of(const struct kymo_trace *trace);
KYMO_API const struct kymo_trace_end *kymo_trace_end_of(const struct kymo_trace *trace);

/*
 * The events in the order of sinks: of begin, longer ones first; KYMO_EVENT_ARROW are the
 * links, KYMO_EVENT_TRACK stands before anything is on that track. NULL behind the last.
 */
KYMO_API size_t kymo_trace_event_count(const struct kymo_trace *trace);
KYMO_API const struct kymo_trace_event *
kymo_trace_event_at(const struct kymo_trace *trace, size_t index);

/* The track whose `index` that is; NULL behind the last. */
KYMO_API size_t kymo_trace_track_count(const struct kymo_trace *trace);
KYMO_API const struct kymo_trace_track *
kymo_trace_track_at(const struct kymo_trace *trace, size_t index);

/*
 * The other end of an event's correlation, in constant time: of a launch the first thing
 * that it launched, of anything launched its launch. NULL: there is none. `event` is one
 * of the trace's own.
 */
KYMO_API const struct kymo_trace_event *
kymo_trace_linked(const struct kymo_trace *trace, const struct kymo_trace_event *event);

/*
 * Writes it to `path` through the sink of its protocol or suffix, as often as wanted: the
 * file is the same as if it had been exported at once. The result (may be NULL; set
 * struct_size) is the sink's own. There is no way back to .kymo: a trace is finished.
 */
KYMO_API int32_t kymo_trace_save(const struct kymo_trace *trace, const char *path,
				 const struct kymo_sink_options *options,
				 struct kymo_sink_result *result,
				 struct kymo_error *error);

KYMO_END_DECLS

#endif
