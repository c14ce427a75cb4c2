/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second pass: each item's record is found again, resolved and handed to the sink, in
 * batches; tracks are announced before anything is on them, and arrows come after both of
 * their ends.
 */
#ifndef KYMO_TIMELINE_EMIT_H
#define KYMO_TIMELINE_EMIT_H

#include "timeline/join.h"
#include "timeline/model.h"
#include "timeline/stream.h"

struct ky_emit {
	struct ky_model *model;
	struct ky_stream *stream;
	struct ky_join *join;
	const struct kymo_sink_ops *ops;
	void *sink;
	struct kymo_trace_ledger *ledger; /* gets what was drawn */
};

int32_t ky_emit_run(const struct ky_emit *emit, struct kymo_error *error);

#endif
