/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of a thread's stack become instants of the thread. */
#ifndef KYMO_PLUGINS_SOURCE_PERF_STACK_H
#define KYMO_PLUGINS_SOURCE_PERF_STACK_H

#include "ring.h"

void perf_stack_begin(void);
/* Before samples are taken: has a file been unloaded since the last ones? */
void perf_stack_look(void);
void perf_stack_take(const struct perf_record *record);
/* The metadata that is known at the end. */
void perf_stack_end(void);

#endif
