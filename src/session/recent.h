/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sink in front of another that hands on the end of a trace only: what ended before
 * `since_ns` is counted as out of window instead of written. An arrow from before it goes
 * as well, also where the span that it comes from reaches into the window. The header
 * stays that of the whole, since who reaches into the window from how far is not known
 * when it is due; so do the numbers of correlations, which have holes then.
 */
#ifndef KYMO_SESSION_RECENT_H
#define KYMO_SESSION_RECENT_H

#include <kymo/sink.h>

/* As of a source: records, and the activities among them. */
struct ky_recent_count {
	uint64_t written, events;
};

struct ky_recent {
	const struct kymo_sink_ops *ops; /* of the other */
	void *sink;
	int64_t since_ns;
	/* What is left out. */
	struct kymo_trace_ledger left_out;
	struct ky_recent_count *by_type; /* by the index of their type */
	const struct kymo_trace_header *header;
};

extern const struct kymo_sink_ops ky_recent_ops;

/* What is in it, not itself. */
void ky_recent_fini(struct ky_recent *window);

#endif
