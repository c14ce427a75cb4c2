/* SPDX-License-Identifier: BSD-3-Clause */
/* The sink that keeps a trace in memory, memory://NAME. */
#ifndef KYMO_SINK_MEMORY_H
#define KYMO_SINK_MEMORY_H

#include <kymo/trace.h>

extern const struct kymo_sink_desc ky_memory_sink;

/*
 * A sink for its operations, to be closed by them; NULL: no memory. With name NULL the
 * trace goes to no place, and is taken from the sink after end.
 */
void *ky_memory_open(const char *name, size_t size);
struct kymo_trace *ky_memory_take_from(void *sink);

/* Tells operations of a sink all of it: begin, batch*, end, or abort. */
int32_t ky_memory_replay(const struct kymo_trace *trace, const struct kymo_sink_ops *ops,
			 void *sink, struct kymo_sink_result *result,
			 struct kymo_error *error);

#endif
