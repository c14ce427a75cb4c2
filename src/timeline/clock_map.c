/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/clock_map.h"

#include <stdlib.h>

#include "timeline/clock_line.h"

void ky_clock_map_init_fixed(struct ky_clock_map *map, int64_t offset_ns)
{
	*map = (struct ky_clock_map){.offset_ns = offset_ns,
				     .bits = 64,
				     .is_usable = 1,
				     .first_ns = INT64_MAX,
				     .last_ns = INT64_MIN};
}

void ky_clock_map_clear(struct ky_clock_map *map)
{
	free(map->knots);
	map->knots = NULL;
	map->knot_count = 0;
	map->is_usable = 0;
}

/* The last knot at or before `x`, or the first; times come in order mostly. */
static const struct ky_clock_knot *find_knot(struct ky_clock_map *map, int64_t x)
{
	size_t low = 0, high = map->knot_count;
	size_t hint = map->hint;

	if (map->knots[hint].x <= x && (hint + 1 == high || x < map->knots[hint + 1].x))
		return &map->knots[hint];
	while (high - low > 1) {
		size_t at = low + (high - low) / 2;

		if (map->knots[at].x <= x)
			low = at;
		else
			high = at;
	}
	map->hint = low;
	return &map->knots[low];
}

/* What the clock is expected to show at `ns`, as a distance. */
static int64_t expect(const struct ky_clock_map *map, int64_t ns)
{
	size_t low = 0, high = map->knot_count;
	const struct ky_clock_knot *knot;
	ky_signed_wide passed;

	while (high - low > 1) {
		size_t at = low + (high - low) / 2;

		if (map->knots[at].ns <= ns)
			low = at;
		else
			high = at;
	}
	knot = &map->knots[low];
	if (knot->slope.multiplier == 0)
		return knot->x;
	/* Shifted by 63 at most, since the product has to fit. */
	passed = (ky_signed_wide)ns - knot->ns;
	if (knot->slope.shift == 64)
		passed = (ky_signed_wide)ky_clamp(passed * ((ky_signed_wide)1 << 63) /
						  knot->slope.multiplier) *
			 2;
	else
		passed = passed * ((ky_signed_wide)1 << knot->slope.shift) /
			 knot->slope.multiplier;
	return ky_clamp(knot->x + passed);
}

int ky_clock_map_convert(struct ky_clock_map *map, uint64_t reading, int64_t near_ns,
			 int64_t *ns)
{
	const struct ky_clock_knot *knot;
	ky_signed_wide time;
	int64_t x;

	if (!map->is_usable)
		return -1;
	if (!map->knots) {
		time = (ky_signed_wide)reading - map->offset_ns;
	} else {
		x = ky_unwrap(reading - map->origin,
			      map->bits < 64 ? expect(map, near_ns) : 0, map->bits);
		knot = find_knot(map, x);
		if (x < knot->x) { /* before the first: the slope of the whole */
			const struct ky_clock_knot *last =
				&map->knots[map->knot_count - 1];

			time = knot->ns -
			       ky_span(last->slope, (uint64_t)knot->x - (uint64_t)x);
		} else {
			time = knot->ns +
			       ky_span(knot->slope, (uint64_t)x - (uint64_t)knot->x);
		}
	}
	if (time < 0 || time > INT64_MAX)
		return -1;
	*ns = (int64_t)time;
	return 0;
}

uint64_t ky_clock_map_error_ns(const struct ky_clock_map *map, int64_t ns)
{
	uint64_t before, after;

	if (map->knot_count == 0)
		return map->bound_ns;
	before = ky_clock_drift(map, ns, map->anchored_from_ns);
	after = ky_clock_drift(map, map->anchored_to_ns, ns);
	return (uint64_t)ky_clamp((ky_signed_wide)map->bound_ns + before + after);
}

uint64_t ky_clock_map_uncertainty_ns(const struct ky_clock_map *map)
{
	uint64_t first, last;

	if (map->first_ns > map->last_ns)
		return map->bound_ns;
	first = ky_clock_map_error_ns(map, map->first_ns);
	last = ky_clock_map_error_ns(map, map->last_ns);
	return first > last ? first : last;
}
