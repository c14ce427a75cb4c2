/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock.h"

#include <time.h>

/* The library that has been told of our clock. */
static void *told_library;

uint64_t ky_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int is_ours(void)
{
	return told_library && told_library == ky_source.library.handle;
}

int32_t ky_clock_begin(void)
{
	const struct ky_library *library = &ky_source.library;
	struct kymo_clock_desc desc = {
		.struct_size = sizeof(desc),
		.bits = 64,
		.ticks_num = 1000000000,
		.ticks_den = 1,
	};

	if (!is_ours() && library->ActivityRegisterTimestampCallback &&
	    library->ActivityRegisterTimestampCallback(ky_monotonic_ns) ==
		    CUPTI_RC_SUCCESS)
		told_library = library->handle;
	desc.kind = is_ours() ? KYMO_CLOCK_MONOTONIC : KYMO_CLOCK_COUNTER;
	desc.name = is_ours() ? KYMO_STR("CUPTI by CLOCK_MONOTONIC") : KYMO_STR("CUPTI");
	return ky_source.host->clock(ky_source.self, &desc, &ky_source.clock);
}

void ky_clock_forget(void)
{
	told_library = NULL;
}

uint64_t ky_clock_now(void)
{
	uint64_t now = 0;

	if (is_ours())
		return ky_monotonic_ns();
	ky_source.library.GetTimestamp(&now);
	return now;
}

int32_t ky_clock_sample(uint32_t clock, struct kymo_clock_pair *out)
{
	if (clock != ky_source.clock || is_ours() || !ky_source.library.handle)
		return KYMO_ERROR_UNSUPPORTED;
	out->host_lo = ky_source.host->now();
	if (ky_source.library.GetTimestamp(&out->device) != CUPTI_RC_SUCCESS)
		return KYMO_ERROR_UNSUPPORTED;
	out->host_hi = ky_source.host->now();
	return KYMO_OK;
}

void ky_clock_anchor(void)
{
	struct kymo_clock_pair pair;

	if (ky_clock_sample(ky_source.clock, &pair) == KYMO_OK)
		ky_source.host->anchor(ky_source.self, ky_source.clock, &pair);
}
