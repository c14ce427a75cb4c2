/* SPDX-License-Identifier: BSD-3-Clause */
/* How the source gets into a program. */
#ifndef KYMO_PLUGINS_SOURCE_PERF_PRELOAD_H
#define KYMO_PLUGINS_SOURCE_PERF_PRELOAD_H

#include <kymo/plugin.h>

extern const struct kymo_injection_desc perf_preload;

#endif
