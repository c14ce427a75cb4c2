/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clocks of the host. Host ticks are the cheapest clock that can be trusted here:
 * the TSC if it is invariant and agrees across all cores, else CLOCK_MONOTONIC.
 */
#ifndef KYMO_BASE_CLOCK_H
#define KYMO_BASE_CLOCK_H

#include <time.h>

#include <kymo/base.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* Equal to KY_TICKS_* of record/layout.h. */
#define KY_CLOCK_MONOTONIC 1u
#define KY_CLOCK_TSC       2u
#define KY_CLOCK_CNTVCT    3u

static inline uint64_t ky_timespec_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

/* Both through the vDSO: no system call, async-signal-safe, errno kept. */
uint64_t ky_monotonic_ns(void);
uint64_t ky_realtime_ns(void);

/* When so many milliseconds have passed from now on; -1, and what is too long: never. */
uint64_t ky_deadline_ns(int64_t timeout_ms);

/* Reads host ticks of the given kind. */
static inline uint64_t ky_ticks_of(uint32_t kind)
{
#if defined(__x86_64__)
	if (__builtin_expect(kind == KY_CLOCK_TSC, 1))
		return __rdtsc();
#elif defined(__aarch64__)
	if (__builtin_expect(kind == KY_CLOCK_CNTVCT, 1)) {
		uint64_t ticks;

		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
	}
#endif
	(void)kind;
	return ky_monotonic_ns();
}

/*
 * The kind to use on this machine. The check moves a thread of its own over the cores
 * that the caller may use (some milliseconds), so a recorder does it once and tells the
 * programs. The answer is kept for the process.
 */
uint32_t ky_clock_choose(void);

/*
 * A bound of one moment: ticks read between two readings of CLOCK_MONOTONIC, the tightest
 * of `tries` (about 70 ns each).
 */
struct ky_clock_bound {
	uint64_t ticks, monotonic_lo, monotonic_hi, realtime;
};
struct ky_clock_bound ky_clock_bound(uint32_t kind, unsigned int tries);

#endif
