/* SPDX-License-Identifier: BSD-3-Clause */
/* The sinks that the program has registered or loaded. */
#ifndef KYMO_SESSION_SINK_REGISTER_H
#define KYMO_SESSION_SINK_REGISTER_H

#include <kymo/sink.h>

typedef void (*ky_sink_visit_fn)(void *context, const struct kymo_sink_desc *desc);

/* Visits them, the last one first. Any thread, while others register more. */
void ky_sinks_visit(ky_sink_visit_fn visit, void *context);

#endif
