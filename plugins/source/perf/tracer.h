/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The events that the kernel writes records of: samples of stacks, and switches of the
 * scheduler. There is a ring for each CPU, and one event for each ring and each thread
 * that there was at the beginning; it counts for what that thread starts as well. (A ring
 * for each thread would miss those that start later: the kernel refuses `inherit` there.)
 *
 * A thread leaves one CPU and returns on another, so the rings are read together, in the
 * order of time.
 */
#ifndef KYMO_PLUGINS_SOURCE_PERF_TRACER_H
#define KYMO_PLUGINS_SOURCE_PERF_TRACER_H

#include <stdint.h>

/* Opens what perf_source wants; what cannot be had is told. */
void perf_tracer_open(void);
int perf_tracer_is_open(void);
/* What has been written so far is of no interest. */
void perf_tracer_begin(void);
/* Hands on what was written until `until_ns`. */
void perf_tracer_drain(uint64_t until_ns);
/* Hands on the rest, and says what is known at the end. */
void perf_tracer_end(void);
void perf_tracer_close(void);
/* In a forked child, which has the descriptors, but not the rings. */
void perf_tracer_forked(void);

#endif
