/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI's clock. From 12.0 on it can be told to use one of ours, CLOCK_MONOTONIC; before
 * that, its own is a clock of which nothing is known but readings.
 */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_CLOCK_H
#define KYMO_PLUGINS_SOURCE_CUDA_CLOCK_H

#include "source.h"

/*
 * Decides which it is and registers it; before any kind of activity is enabled. Once for
 * a library: telling CUPTI again of the same clock lets the first records of the next
 * session come in another one.
 */
int32_t ky_clock_begin(void);
/* CUPTI was taken out of the process: it has to be told again. */
void ky_clock_forget(void);

/* CLOCK_MONOTONIC; from 12.0 on CUPTI calls it as well. */
uint64_t ky_monotonic_ns(void);
/* What CUPTI would say now. */
uint64_t ky_clock_now(void);
/* Gives the host a bound, where it needs any. */
void ky_clock_anchor(void);
int32_t ky_clock_sample(uint32_t clock, struct kymo_clock_pair *out);

#endif
