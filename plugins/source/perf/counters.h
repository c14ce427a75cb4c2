/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counters: one group of each kind, sampled together. A sample has what was counted
 * in the window since the one before, so windows add up to what the program has used;
 * `memory` alone is as it is at that moment.
 *
 * CPU time, faults and switches come from getrusage and the process's clock, not from
 * events: these count every thread whenever it came, need no right and no descriptor, and
 * cost the program nothing. In perf_event_open, who may not look into the kernel (as is
 * usual) gets 0 switches and half of the faults, since both happen there. Events are for
 * what the kernel does not count anyway: migrations, and the PMU.
 */
#ifndef KYMO_PLUGINS_SOURCE_PERF_COUNTERS_H
#define KYMO_PLUGINS_SOURCE_PERF_COUNTERS_H

#include <stdint.h>
/* Opens what perf_source.wants; what cannot be had is told, the rest goes on. */
void perf_counters_open(void);
/* Registers the groups of what was opened; a status. */
int32_t perf_counters_register(void);
/* The first window begins now. */
void perf_counters_begin(void);
/* A window ends, and the next begins. `is_tick`: on the host's timer. */
void perf_counters_sample(int is_tick);
/* The metadata that is known at the end. */
void perf_counters_end(void);
/* Also in a forked child, of what it inherited: its own copies only. */
void perf_counters_close(void);

#endif
