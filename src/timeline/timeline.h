/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timeline: captures in, finished events out, in order of time. It does no output and
 * starts no thread; its memory is bounded whatever the number of records, since what must
 * be sorted is spilled to unlinked temporary files.
 *
 *     1  each record is counted and its times converted; (begin, end, place), its
 *        track and its correlation go to a sorter
 *     -  spans that never ended get an end; annotations are projected on queues
 *     -  the sorted ones get lanes; those with a correlation are sorted by it and joined:
 *        numbers and arrows, sorted like the records
 *     2  records and joins are merged, given lanes again (the same), found in their
 *        capture, resolved and handed to the sink
 */
#ifndef KYMO_TIMELINE_TIMELINE_H
#define KYMO_TIMELINE_TIMELINE_H

#include <kymo/sink.h>

#include "capture/reader.h"

/*
 * Runs all of it: begin, batch*, end of `ops` on `sink` (abort on failure). The readers
 * are borrowed. `ledger` (may be NULL) gets what end was told. What the sink was handed
 * (header, tracks) is gone when this returns: its close must not look at it.
 */
int32_t ky_timeline_run(struct ky_reader *const *readers, size_t count,
			const struct kymo_sink_ops *ops, void *sink,
			struct kymo_sink_result *result, struct kymo_trace_ledger *ledger,
			struct kymo_error *error);

/* The same for a sink that looks at no names: code addresses are not looked up. */
int32_t ky_timeline_count(struct ky_reader *const *readers, size_t count,
			  const struct kymo_sink_ops *ops, void *sink,
			  struct kymo_error *error);

#endif
