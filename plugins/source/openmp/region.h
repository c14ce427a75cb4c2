/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When parallel regions ended. libomp tells the end of a worker's implicit task, and of
 * the barrier in it, when it uses the worker again, which may be never: the truth is that
 * they were over when the region was.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENMP_REGION_H
#define KYMO_PLUGINS_SOURCE_OPENMP_REGION_H

#include <stdint.h>

#define KY_REGION_RUNS 0u
#define KY_REGION_LOST UINT64_MAX /* it has ended, but nobody knows when any more */

/* A number for a region that begins, from 1. */
uint64_t ky_region_begin(void);
void ky_region_end(uint64_t number, uint64_t now);

/* Host ticks of its end, or one of the two above. `now` is at most a day after it. */
uint64_t ky_region_ended(uint64_t number, uint64_t now);

#endif
