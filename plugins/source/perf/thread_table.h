/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads that records speak of: their tracks, and since when they are off the CPU.
 */
#ifndef KYMO_PLUGINS_SOURCE_PERF_THREAD_TABLE_H
#define KYMO_PLUGINS_SOURCE_PERF_THREAD_TABLE_H

#include <stdint.h>

struct perf_thread {
	uint32_t tid; /* 0: a free place */
	uint32_t track;
	uint64_t out_ns; /* 0: it is on the CPU, or nobody knows */
	uint32_t is_preempted;
	uint32_t reserved0;
};

/*
 * The thread's place; its track is registered with the host when it is new. There is room
 * for some thousands: when it is used up all are forgotten, and begin anew.
 */
struct perf_thread *perf_thread_find(uint32_t tid);

/* Calls `each` for all that are known to be off the CPU. */
void perf_threads_off_cpu(void (*each)(struct perf_thread *thread));

/* Nobody knows any more who is off the CPU. */
void perf_threads_lose(void);

void perf_threads_reset(void);

#endif
