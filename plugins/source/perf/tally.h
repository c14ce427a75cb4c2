/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A group of counting events, summed up over all threads of the process. The kernel has
 * one group per thread that there was at the beginning, which counts for what that thread
 * starts as well; one read of it gives all of the group at one moment.
 *
 * Where there are more events than counters in the PMU the kernel takes turns, and says
 * for how much of the time each was counted; the rest is extrapolated.
 */
#ifndef KYMO_PLUGINS_SOURCE_PERF_TALLY_H
#define KYMO_PLUGINS_SOURCE_PERF_TALLY_H

#include "descriptor.h"
#include "thread_list.h"

#define PERF_GROUP_MAX 3u

struct perf_event_kind {
	uint32_t type; /* PERF_TYPE_* of the kernel */
	uint64_t config;
	const char *name;
};

/* What a read of a group gives: the kernel's layout. */
struct perf_reading {
	uint64_t count, enabled, running;
	uint64_t value[PERF_GROUP_MAX];
};

/* One thread's group. */
struct perf_group {
	struct perf_event events[PERF_GROUP_MAX];
	struct perf_reading last;
};

struct perf_tally {
	const struct perf_event_kind *kinds[PERF_GROUP_MAX]; /* those that there are */
	uint32_t kind_count;
	uint32_t is_user_only; /* what the kernel does is not counted */
	uint32_t is_closed;    /* the program has closed a descriptor of it */
	uint32_t group_count;
	struct perf_group groups[PERF_THREADS_MAX];
	uint64_t enabled, running; /* ns, of all groups together */
};

/*
 * Opens those of `kinds` that there are, for the threads of the list; what is missing is
 * told. `takes_user`: counting in user mode only is better than nothing.
 */
void perf_tally_open(struct perf_tally *tally, const struct perf_event_kind *kinds,
		     uint32_t kind_count, int takes_user,
		     const struct perf_threads *threads);

/*
 * Adds to `values` what was counted since the last time. False if nobody knows: then the
 * next time has it as well.
 */
int perf_tally_take(struct perf_tally *tally, uint64_t *values);

void perf_tally_close(struct perf_tally *tally);

/*
 * What a reading adds to the one before: `delta`, extrapolated. False: it was not counted
 * at all though the thread ran, so it is not known.
 */
int perf_reading_delta(const struct perf_reading *last, const struct perf_reading *now,
		       uint64_t *delta);

#endif
