/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Choosing host ticks. An invariant TSC is necessary but not enough: guests migrate, and
 * firmware can leave cores apart. So a thread visits every core that the caller may use
 * and reads (CLOCK_MONOTONIC, TSC, CLOCK_MONOTONIC) there, twice, some milliseconds
 * apart. The TSC is taken only if one straight line fits all these bounds: then it runs
 * at one rate and shows one time on all cores, as exactly as can be observed.
 */
#include "base/clock.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define ROUNDS       2u
#define TRIES        24u
#define ROUND_GAP_NS 2000000
#define CORES_MAX    4096

uint64_t ky_monotonic_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return ky_timespec_ns(&time);
}

uint64_t ky_realtime_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return ky_timespec_ns(&time);
}

uint64_t ky_deadline_ns(int64_t timeout_ms)
{
	const uint64_t now_ns = ky_monotonic_ns();

	if (timeout_ms < 0 || (uint64_t)timeout_ms > (UINT64_MAX - now_ns) / 1000000u)
		return UINT64_MAX;
	return now_ns + (uint64_t)timeout_ms * 1000000u;
}

/* Elsewhere a core may read its counter before or after what stands around it. */
static inline void stay_in_order(void)
{
#if defined(__x86_64__)
	_mm_lfence();
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
#endif
}

static uint64_t ticks_in_order(uint32_t kind)
{
	uint64_t ticks;

	stay_in_order();
	ticks = ky_ticks_of(kind);
	stay_in_order();
	return ticks;
}

struct ky_clock_bound ky_clock_bound(uint32_t kind, unsigned int tries)
{
	struct ky_clock_bound best = {0}, bound = {0};

	/* The narrowest of some: an interrupt in between only costs one try. */
	for (unsigned int i = 0; i < tries; i++) {
		bound.monotonic_lo = ky_monotonic_ns();
		bound.ticks = ticks_in_order(kind);
		bound.monotonic_hi = ky_monotonic_ns();
		if (i == 0 || bound.monotonic_hi - bound.monotonic_lo <
				      best.monotonic_hi - best.monotonic_lo)
			best = bound;
	}
	best.realtime = ky_realtime_ns() - (ky_monotonic_ns() - best.monotonic_lo);
	return best;
}

#if defined(__x86_64__)

struct survey {
	const cpu_set_t *cores;
	size_t cores_size;
	struct ky_clock_bound *bounds;
	size_t capacity, count;
};

static int tsc_is_invariant(void)
{
	unsigned int a, b, c, d;

	/* Advanced power management, bit 8 of EDX: the TSC is invariant. */
	return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8));
}

static void *visit_cores(void *context)
{
	const struct timespec gap = {0, ROUND_GAP_NS};
	struct survey *survey = context;
	cpu_set_t *one = CPU_ALLOC(CORES_MAX);

	if (!one)
		return NULL;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (size_t core = 0; core < CORES_MAX; core++) {
			if (!CPU_ISSET_S(core, survey->cores_size, survey->cores) ||
			    survey->count == survey->capacity)
				continue;
			CPU_ZERO_S(survey->cores_size, one);
			CPU_SET_S(core, survey->cores_size, one);
			/* A core that went away meanwhile is no reason to doubt. */
			if (sched_setaffinity(0, survey->cores_size, one) == 0)
				survey->bounds[survey->count++] =
					ky_clock_bound(KY_CLOCK_TSC, TRIES);
		}
		nanosleep(&gap, NULL);
	}
	CPU_FREE(one);
	return NULL;
}

/* Does one straight line pass through all bounds? */
static int bounds_agree(const struct ky_clock_bound *bounds, size_t count)
{
	const struct ky_clock_bound *first = &bounds[0], *last = &bounds[count - 1];
	double slope, lo = -1e18, hi = 1e18;

	if (count < 2 || last->ticks <= first->ticks)
		return 0;
	slope = ((double)(last->monotonic_lo - first->monotonic_lo) +
		 (double)(last->monotonic_hi - first->monotonic_hi)) /
		2 / (double)(last->ticks - first->ticks);
	for (size_t i = 0; i < count; i++) {
		double at = slope * (double)(int64_t)(bounds[i].ticks - first->ticks);
		double a =
			(double)(int64_t)(bounds[i].monotonic_lo - first->monotonic_lo);
		double b =
			(double)(int64_t)(bounds[i].monotonic_hi - first->monotonic_lo);

		lo = a - at > lo ? a - at : lo;
		hi = b - at < hi ? b - at : hi;
	}
	/* The slope itself is known to a width of the bounds: allow as much again. */
	return lo <= hi + (double)(first->monotonic_hi - first->monotonic_lo);
}

static uint32_t choose(void)
{
	struct survey survey = {.cores_size = CPU_ALLOC_SIZE(CORES_MAX)};
	cpu_set_t *cores = CPU_ALLOC(CORES_MAX);
	uint32_t chosen = KY_CLOCK_MONOTONIC;
	pthread_t thread;

	if (!cores || !tsc_is_invariant() ||
	    sched_getaffinity(0, survey.cores_size, cores) != 0)
		goto out;
	survey.cores = cores;
	survey.capacity = ROUNDS * (size_t)CPU_COUNT_S(survey.cores_size, cores);
	survey.bounds = calloc(survey.capacity, sizeof(*survey.bounds));
	if (!survey.bounds || pthread_create(&thread, NULL, visit_cores, &survey) != 0)
		goto out;
	pthread_join(thread, NULL);
	if (bounds_agree(survey.bounds, survey.count))
		chosen = KY_CLOCK_TSC;
out:
	free(survey.bounds);
	CPU_FREE(cores);
	return chosen;
}

#elif defined(__aarch64__)

/* The architecture promises one system counter for all cores. */
static uint32_t choose(void)
{
	return KY_CLOCK_CNTVCT;
}

#else

static uint32_t choose(void)
{
	return KY_CLOCK_MONOTONIC;
}

#endif

uint32_t ky_clock_choose(void)
{
	static uint32_t chosen;
	uint32_t kind = __atomic_load_n(&chosen, __ATOMIC_RELAXED);

	if (kind == 0) {
		kind = choose();
		__atomic_store_n(&chosen, kind, __ATOMIC_RELAXED);
	}
	return kind;
}
