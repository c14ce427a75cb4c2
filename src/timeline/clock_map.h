/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From readings of one clock to nanoseconds of CLOCK_MONOTONIC. An anchor is a bound: the
 * clock showed `x` somewhere between lo_ns and hi_ns. Anchors that lie close together are
 * taken as one window, in which their bounds are intersected; the middles of the windows
 * are joined by straight lines. Outside, a line with the slope of the whole goes on.
 *
 * No converted time is farther from the truth than the map's uncertainty says, for a
 * clock that is within 100 ppm of its rate, however its drift changes there, and any step
 * that shows in the anchors: one that the width of their bounds hides is not known to
 * anybody. Beyond the anchors, where a program died, the uncertainty grows by these
 * 100 ppm, since nobody looked any more.
 *
 * All in integers: a double has 53 bits, a tick count 64.
 */
#ifndef KYMO_TIMELINE_CLOCK_MAP_H
#define KYMO_TIMELINE_CLOCK_MAP_H

#include <kymo/base.h>

/* a + b, held at the end of the range. */
static inline int64_t ky_ns_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

struct ky_clock_anchor {
	uint64_t x;
	int64_t lo_ns, hi_ns;
};

struct ky_clock_rate {
	uint64_t ticks, seconds; /* nominally ticks / seconds a second; 0: not known */
};

struct ky_clock_knot;

struct ky_clock_map {
	struct ky_clock_knot *knots;
	size_t knot_count, hint;
	uint64_t origin; /* the reading from which knots count */
	uint64_t anchor_count;
	int64_t offset_ns; /* without knots: ns = reading - offset_ns */
	uint32_t bits;
	uint32_t is_usable;
	uint64_t bound_ns; /* the largest error between the anchors */
	int64_t anchored_from_ns, anchored_to_ns;
	uint64_t drift_error, drift_range; /* their quotient: of the lines outside */
	int64_t first_ns, last_ns;         /* of all times used; first > last: none */
};

/* A clock that counts CLOCK_MONOTONIC ns, or others a fixed offset away. */
void ky_clock_map_init_fixed(struct ky_clock_map *map, int64_t offset_ns);

/*
 * A clock known by anchors, in the order in which they were taken; they are changed.
 * Without any, or with one and no rate, the map is not usable. Zeroed maps are not
 * usable.
 */
int32_t ky_clock_map_init(struct ky_clock_map *map, struct ky_clock_anchor *anchors,
			  size_t count, uint32_t bits, struct ky_clock_rate rate);
void ky_clock_map_clear(struct ky_clock_map *map);

/*
 * Converts a reading. A clock that wraps has shown it many times: the one nearest to
 * `near_ns` is meant. 0; -1 if the map is not usable or the time cannot be represented or
 * is before the timeline's zero.
 */
int ky_clock_map_convert(struct ky_clock_map *map, uint64_t reading, int64_t near_ns,
			 int64_t *ns);

/* Tells that a converted time is shown, so that its error counts. */
static inline void ky_clock_map_use(struct ky_clock_map *map, int64_t ns)
{
	if (ns < map->first_ns)
		map->first_ns = ns;
	if (ns > map->last_ns)
		map->last_ns = ns;
}

/* What a converted time may be off by; it grows with the distance from the anchors. */
uint64_t ky_clock_map_error_ns(const struct ky_clock_map *map, int64_t ns);
/* The largest error of any time used. */
uint64_t ky_clock_map_uncertainty_ns(const struct ky_clock_map *map);

#endif
