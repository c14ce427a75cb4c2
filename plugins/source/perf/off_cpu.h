/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switches of the scheduler become spans: from where a thread left the CPU to its return.
 */
#ifndef KYMO_PLUGINS_SOURCE_PERF_OFF_CPU_H
#define KYMO_PLUGINS_SOURCE_PERF_OFF_CPU_H

#include "ring.h"

void perf_off_cpu_register(void);
void perf_off_cpu_take(const struct perf_record *record);
/* Who has not come back is still off the CPU: told as UNFINISHED. */
void perf_off_cpu_end(void);

#endif
