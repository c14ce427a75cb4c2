/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the process has used, as the kernel accounts it anyway: without what the thread of
 * the host's timers uses, which is ours and ticks even where the program sleeps.
 */
#ifndef KYMO_PLUGINS_SOURCE_PERF_USAGE_H
#define KYMO_PLUGINS_SOURCE_PERF_USAGE_H

#include <stdint.h>

enum perf_usage_kind {
	PERF_USAGE_CPU, /* ns */
	PERF_USAGE_MINOR,
	PERF_USAGE_MAJOR,
	PERF_USAGE_VOLUNTARY,
	PERF_USAGE_INVOLUNTARY,
	PERF_USAGE_COUNT,
};

/*
 * The total of the program and of our thread up to now; what the program has used is the
 * difference. Fed with readings that go up, they never go down.
 */
struct perf_usage {
	uint64_t own_base[PERF_USAGE_COUNT], own[PERF_USAGE_COUNT];
	uint64_t program[PERF_USAGE_COUNT];
	uint32_t has_own; /* our thread has been read once */
};

/* 0, or -1: it cannot be read. */
int perf_usage_begin(struct perf_usage *usage);

/*
 * What the program has used since the last time. `is_own`: called by our thread, which
 * then is read too. Not 0 if it cannot be read: the next time has it as well.
 */
int perf_usage_take(struct perf_usage *usage, int is_own,
		    uint64_t delta[PERF_USAGE_COUNT]);

/* The same of given readings; `own` may be NULL. */
void perf_usage_feed(struct perf_usage *usage, const uint64_t *process,
		     const uint64_t *own, uint64_t delta[PERF_USAGE_COUNT]);

#endif
