/* SPDX-License-Identifier: BSD-3-Clause */
/* How often files have been unloaded: then other code may have an address. */
#ifndef KYMO_PLUGINS_SOURCE_PERF_UNLOADS_H
#define KYMO_PLUGINS_SOURCE_PERF_UNLOADS_H

#include <stdint.h>

/* The loader's count, or the last one while the program forks. One thread at a time. */
uint32_t perf_unloads(void);

#endif
