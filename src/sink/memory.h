/* SPDX-License-Identifier: BSD-3-Clause */
/* The sink that keeps a trace in memory, memory://NAME. */
#ifndef KYMO_SINK_MEMORY_H
#define KYMO_SINK_MEMORY_H

#include <kymo/sink.h>

extern const struct kymo_sink_desc ky_memory_sink;

/* Tells operations of a sink all of it: begin, batch*, end, or abort. */
int32_t ky_memory_replay(const struct kymo_memory_trace *trace,
			 const struct kymo_sink_ops *ops, void *sink,
			 struct kymo_sink_result *result, struct kymo_error *error);

#endif
