/* SPDX-License-Identifier: BSD-3-Clause */
/* What the making of clock maps and converting with them share. */
#ifndef KYMO_TIMELINE_CLOCK_LINE_H
#define KYMO_TIMELINE_CLOCK_LINE_H

#include "timeline/clock_map.h"

__extension__ typedef unsigned __int128 ky_wide;
__extension__ typedef __int128 ky_signed_wide;

/* ns = d * multiplier / 2^shift, for d >= 0: a rate that needs no division. */
struct ky_slope {
	uint64_t multiplier;
	uint32_t shift;
};

struct ky_clock_knot {
	int64_t x, ns;
	uint64_t half_ns;      /* half of the bound that it is the middle of */
	struct ky_slope slope; /* to the next knot; of the last one: to what follows */
};

/* The time that so many ticks take; cut where it could not be shown anyway. */
static inline ky_signed_wide ky_span(struct ky_slope slope, uint64_t ticks)
{
	ky_wide ns = (ky_wide)ticks * slope.multiplier >> slope.shift;

	return ns > UINT64_MAX ? (ky_signed_wide)UINT64_MAX : (ky_signed_wide)ns;
}

static inline ky_signed_wide ky_along(struct ky_slope slope, int64_t distance)
{
	return distance < 0 ? -ky_span(slope, 0 - (uint64_t)distance)
			    : ky_span(slope, (uint64_t)distance);
}

static inline int64_t ky_clamp(ky_signed_wide ns)
{
	if (ns > INT64_MAX)
		return INT64_MAX;
	return ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

/* The distance that ends in the given bits and lies nearest to `expected`. */
static inline int64_t ky_unwrap(uint64_t distance, int64_t expected, uint32_t bits)
{
	uint64_t off;

	if (bits >= 64)
		return (int64_t)distance;
	off = (distance - (uint64_t)expected) << (64 - bits);
	return (int64_t)((uint64_t)expected + (uint64_t)((int64_t)off >> (64 - bits)));
}

/* By how much a line that is as long may be off outside of the anchors. */
static inline uint64_t ky_clock_drift(const struct ky_clock_map *map, int64_t from_ns,
				      int64_t to_ns)
{
	ky_wide length = to_ns > from_ns ? (uint64_t)(to_ns - from_ns) : 0;
	ky_wide error = length * map->drift_error / map->drift_range;

	return error > INT64_MAX ? INT64_MAX : (uint64_t)error;
}

#endif
