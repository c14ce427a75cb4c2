/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of what a sink is told. They are made in blocks that are freed as a whole; equal
 * texts are kept once. When memory is out the copying goes on with what there is, and
 * `has_failed` says so.
 */
#ifndef KYMO_SINK_KEEP_H
#define KYMO_SINK_KEEP_H

#include <kymo/trace.h>

struct ky_keep_block;

/* Grows as needed; what was not set is NULL. */
struct ky_keep_events {
	const struct kymo_trace_event **at;
	size_t room;
};

struct kymo_trace {
	struct ky_keep_block *blocks;
	struct kymo_str *texts; /* open addressing; {NULL, 0}: free */
	size_t text_count, text_room;
	const struct kymo_trace_header *header; /* NULL until begin */
	const struct kymo_trace_end *end;       /* NULL until end */
	const struct kymo_trace_track **tracks; /* by index; NULL: not seen yet */
	size_t track_count, track_room;
	struct ky_keep_events events;
	size_t event_count;
	/* By correlation: what launched, and the first thing that was launched. */
	struct ky_keep_events launches, launched;
	int has_failed;
};

/* What is in it, not itself. */
void ky_keep_fini(struct kymo_trace *trace);

void ky_keep_header(struct kymo_trace *trace, const struct kymo_trace_header *header);
void ky_keep_event(struct kymo_trace *trace, const struct kymo_trace_event *event);
void ky_keep_end(struct kymo_trace *trace, const struct kymo_trace_end *end);

#endif
