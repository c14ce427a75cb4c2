/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads that there are when a recording begins. Each is followed by itself; those
 * that it starts later are followed with it (`inherit_thread`).
 */
#ifndef KYMO_PLUGINS_SOURCE_PERF_THREAD_LIST_H
#define KYMO_PLUGINS_SOURCE_PERF_THREAD_LIST_H

#include <stdint.h>
#include <sys/types.h>

#define PERF_THREADS_MAX 64u

struct perf_threads {
	pid_t tid[PERF_THREADS_MAX]; /* the first `count` */
	uint32_t count;
	uint32_t total; /* that there are */
};

/*
 * The calling thread first, since that one cannot end meanwhile, or, where it is the
 * host's, the main one; without /proc alone.
 */
void perf_threads_list(struct perf_threads *threads);

/* How many descriptors the source may hold: a quarter of what the program is allowed. */
uint32_t perf_descriptors_max(void);

/* Why and what to do where there are more threads than can be followed. */
#define PERF_TOO_MANY_THREADS                                                        \
	"they ran before the recording began, and it takes no more descriptors for " \
	"them",                                                                      \
		"begin to record when the program begins"

#endif
