/* SPDX-License-Identifier: BSD-3-Clause */
/* Can the source record here? For `kymo doctor`. */
#ifndef KYMO_PLUGINS_SOURCE_PERF_PROBE_H
#define KYMO_PLUGINS_SOURCE_PERF_PROBE_H

#include <kymo/plugin.h>

int32_t perf_probe(struct kymo_probe *out, struct kymo_error *error);

#endif
