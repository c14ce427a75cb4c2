/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that perf_program loads and unloads: FUNCTION(N) spins for N ms. */
#include <stdint.h>
#include <time.h>

__attribute__((visibility("default"))) void FUNCTION(uint64_t ms);

static volatile uint64_t count;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void FUNCTION(uint64_t ms)
{
	const uint64_t end = now_ns() + ms * 1000000u;

	do {
		for (uint32_t i = 0; i < 10000; i++)
			count += i;
	} while (now_ns() < end);
}
