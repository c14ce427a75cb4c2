/* SPDX-License-Identifier: BSD-3-Clause */
#include "usage.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

static int read_usage(int who, clockid_t clock, uint64_t out[PERF_USAGE_COUNT])
{
	struct rusage used;
	struct timespec cpu;

	if (getrusage(who, &used) != 0 || clock_gettime(clock, &cpu) != 0)
		return -1;
	/*
	 * Not ru_utime: that is what the tick saw, and threads that run now are missing.
	 */
	out[PERF_USAGE_CPU] = (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
	out[PERF_USAGE_MINOR] = (uint64_t)used.ru_minflt;
	out[PERF_USAGE_MAJOR] = (uint64_t)used.ru_majflt;
	out[PERF_USAGE_VOLUNTARY] = (uint64_t)used.ru_nvcsw;
	out[PERF_USAGE_INVOLUNTARY] = (uint64_t)used.ru_nivcsw;
	return 0;
}

int perf_usage_begin(struct perf_usage *usage)
{
	*usage = (struct perf_usage){.has_own = 0};
	return read_usage(RUSAGE_SELF, CLOCK_PROCESS_CPUTIME_ID, usage->program);
}

void perf_usage_feed(struct perf_usage *usage, const uint64_t *process,
		     const uint64_t *own, uint64_t delta[PERF_USAGE_COUNT])
{
	if (own) {
		/* What it used before its first tick is not known apart. */
		if (!usage->has_own)
			memcpy(usage->own_base, own, sizeof(usage->own_base));
		memcpy(usage->own, own, sizeof(usage->own));
		usage->has_own = 1;
	}
	for (uint32_t i = 0; i < PERF_USAGE_COUNT; i++) {
		uint64_t total = process[i] - (usage->own[i] - usage->own_base[i]);

		/* Two readings are of two moments, so it can seem to go down a little. */
		if (total < usage->program[i])
			total = usage->program[i];
		delta[i] = total - usage->program[i];
		usage->program[i] = total;
	}
}

/* Our own first: what it does between the readings is in the process's at least. */
int perf_usage_take(struct perf_usage *usage, int is_own,
		    uint64_t delta[PERF_USAGE_COUNT])
{
	uint64_t process[PERF_USAGE_COUNT], own[PERF_USAGE_COUNT];

	if ((is_own && read_usage(RUSAGE_THREAD, CLOCK_THREAD_CPUTIME_ID, own) != 0) ||
	    read_usage(RUSAGE_SELF, CLOCK_PROCESS_CPUTIME_ID, process) != 0)
		return -1;
	perf_usage_feed(usage, process, is_own ? own : NULL, delta);
	return 0;
}
