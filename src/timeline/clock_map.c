/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Readings are counted from the first anchor's, as signed 64-bit distances modulo 2^64
 * (or unwrapped from fewer bits), so that nothing special happens where a counter wraps.
 *
 * A window ends where a drift of 100 ppm could have outgrown what the bounds leave open:
 * at 10,000 times their width. Shorter windows would let the error of each middle tilt
 * the lines between them, longer ones would not follow the drift.
 */
#include "timeline/clock_map.h"

#include <stdlib.h>

#define NS_PER_SECOND  1000000000u
#define WINDOW_WIDTHS  10000
#define WINDOW_MIN_NS  1000000     /* else exact anchors would each make a knot */
#define WINDOW_MAX_NS  10000000000 /* temperature changes drift within some seconds */
#define NOMINAL_PPM    100u        /* what a crystal may be off */
#define PLAUSIBLE_PART 1000 /* a measured rate is believed to 1/1000 of the nominal */
#define DISTANCE_MAX \
	((int64_t)1 << 61) /* of anchors: their differences cannot overflow */

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 signed_wide;

/* ns = d * multiplier / 2^shift, for d >= 0: a rate that needs no division. */
struct slope {
	uint64_t multiplier;
	uint32_t shift;
};

struct ky_clock_knot {
	int64_t x, ns;
	uint64_t half_ns;   /* half of the bound that it is the middle of */
	struct slope slope; /* to the next knot; of the last one: to what follows */
};

/* The same with the reading as a distance, while the map is made. */
struct bound {
	int64_t x, lo_ns, hi_ns;
};

static struct slope make_slope(uint64_t ns, uint64_t ticks)
{
	struct slope slope = {0, 64};

	if (ticks == 0)
		return slope;
	for (; slope.shift > 0; slope.shift--) {
		wide quotient = ((wide)ns << slope.shift) / ticks;

		if (quotient <= UINT64_MAX) {
			slope.multiplier = (uint64_t)quotient;
			return slope;
		}
	}
	slope.multiplier = ns / ticks;
	return slope;
}

/* The time that so many ticks take; cut where it could not be shown anyway. */
static signed_wide span(struct slope slope, uint64_t ticks)
{
	wide ns = (wide)ticks * slope.multiplier >> slope.shift;

	return ns > UINT64_MAX ? (signed_wide)UINT64_MAX : (signed_wide)ns;
}

static signed_wide along(struct slope slope, int64_t distance)
{
	return distance < 0 ? -span(slope, 0 - (uint64_t)distance)
			    : span(slope, (uint64_t)distance);
}

static int64_t clamp(signed_wide ns)
{
	if (ns > INT64_MAX)
		return INT64_MAX;
	return ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

/* The distance that ends in the given bits and lies nearest to `expected`. */
static int64_t unwrap(uint64_t distance, int64_t expected, uint32_t bits)
{
	uint64_t off;

	if (bits >= 64)
		return (int64_t)distance;
	off = (distance - (uint64_t)expected) << (64 - bits);
	return (int64_t)((uint64_t)expected + (uint64_t)((int64_t)off >> (64 - bits)));
}

/* ---- Making a map ---- */

static int by_time(const void *left, const void *right)
{
	const struct ky_clock_anchor *a = left, *b = right;

	if (a->lo_ns != b->lo_ns)
		return a->lo_ns < b->lo_ns ? -1 : 1;
	return a->hi_ns < b->hi_ns ? -1 : a->hi_ns > b->hi_ns;
}

static int by_x(const void *left, const void *right)
{
	const struct bound *a = left, *b = right;

	return a->x < b->x ? -1 : a->x > b->x;
}

static int64_t middle(int64_t lo, int64_t hi)
{
	return lo + (hi - lo) / 2;
}

/* Sorted by reading; the count, without those whose bounds are reversed. */
static size_t make_bounds(struct ky_clock_map *map, struct ky_clock_anchor *anchors,
			  size_t count, struct ky_clock_rate rate, struct bound *bounds)
{
	size_t kept = 0;

	qsort(anchors, count, sizeof(*anchors), by_time);
	for (size_t i = 0; i < count; i++) {
		const struct ky_clock_anchor *anchor = &anchors[i];
		int64_t expected = 0, x;

		/* A bound of more than an hour says nothing, and may overflow. */
		if (anchor->lo_ns < 0 || anchor->hi_ns < anchor->lo_ns ||
		    anchor->hi_ns - anchor->lo_ns > 3600ll * NS_PER_SECOND)
			continue;
		if (kept == 0)
			map->origin = anchor->x;
		else
			expected = bounds[kept - 1].x;
		if (kept > 0 && rate.ticks > 0) {
			signed_wide passed =
				(signed_wide)(anchor->lo_ns - bounds[kept - 1].lo_ns);

			expected = clamp(expected + passed * rate.ticks / rate.seconds /
							    NS_PER_SECOND);
		}
		x = unwrap(anchor->x - map->origin, expected, map->bits);
		if (x > -DISTANCE_MAX && x < DISTANCE_MAX)
			bounds[kept++] = (struct bound){x, anchor->lo_ns, anchor->hi_ns};
	}
	qsort(bounds, kept, sizeof(*bounds), by_x);
	return kept;
}

/* `ns` over `ticks` differs from the nominal rate by more than a clock can drift. */
static int is_implausible(uint64_t ns, uint64_t ticks, struct ky_clock_rate rate)
{
	wide measured, nominal, off;

	if (rate.ticks == 0)
		return 0;
	/* Both sides of ns / ticks = 1e9 * seconds / rate, multiplied out. */
	if (rate.ticks > UINT32_MAX || rate.seconds > UINT32_MAX / 1000)
		return 0;
	measured = (wide)ns * rate.ticks;
	nominal = (wide)ticks * NS_PER_SECOND * rate.seconds;
	off = measured > nominal ? measured - nominal : nominal - measured;
	return off > nominal / PLAUSIBLE_PART;
}

/*
 * The slope of the whole, measured from end to end where that makes sense, else nominal.
 * Also says by how much lines that leave the knots may be off. 0 if it cannot be known.
 */
static int whole_slope(struct ky_clock_map *map, const struct bound *bounds, size_t count,
		       struct ky_clock_rate rate, struct slope *slope)
{
	const struct bound *first = &bounds[0], *last = &bounds[count - 1];
	int64_t begin = middle(first->lo_ns, first->hi_ns);
	int64_t end = middle(last->lo_ns, last->hi_ns);
	uint64_t ticks = (uint64_t)last->x - (uint64_t)first->x;
	uint64_t ns = (uint64_t)(end - begin);
	uint64_t open = (uint64_t)(first->hi_ns - first->lo_ns) +
			(uint64_t)(last->hi_ns - last->lo_ns);
	uint64_t worst;

	/*
	 * Where the bounds are wide for the time between them the nominal is better; and
	 * without one, a rate that may be off by a tenth is worse than no times.
	 */
	worst = rate.ticks ? ns / (1000000 / NOMINAL_PPM) : ns / 10;
	if (end > begin && ticks > 0 && ticks <= INT64_MAX && open / 2 <= worst &&
	    !is_implausible(ns, ticks, rate)) {
		*slope = make_slope(ns, ticks);
		map->drift_error = open / 2 + 1;
		map->drift_range = ns;
		return 1;
	}
	if (rate.ticks == 0 || rate.seconds > UINT64_MAX / NS_PER_SECOND)
		return 0;
	*slope = make_slope(rate.seconds * NS_PER_SECOND, rate.ticks);
	map->drift_error = NOMINAL_PPM;
	map->drift_range = 1000000;
	return 1;
}

/*
 * The knot of the window that begins with the first of the bounds, and how many belong to
 * it. Bounds that contradict each other leave the narrowest to speak for all.
 */
static size_t take_window(const struct bound *bounds, size_t count, struct slope slope,
			  struct ky_clock_knot *knot)
{
	int64_t origin = bounds[0].x, lo = bounds[0].lo_ns, hi = bounds[0].hi_ns;
	const struct bound *narrowest = &bounds[0];
	size_t used = 1;
	int64_t at;

	for (; used < count; used++) {
		const struct bound *bound = &bounds[used];
		signed_wide passed = along(slope, bound->x - origin);
		signed_wide reach = (signed_wide)(narrowest->hi_ns - narrowest->lo_ns) *
				    WINDOW_WIDTHS;

		if (reach < WINDOW_MIN_NS)
			reach = WINDOW_MIN_NS;
		if (passed > (reach < WINDOW_MAX_NS ? reach : WINDOW_MAX_NS))
			break;
		if (bound->hi_ns - bound->lo_ns < narrowest->hi_ns - narrowest->lo_ns)
			narrowest = bound;
		if (clamp(bound->lo_ns - passed) > lo)
			lo = clamp(bound->lo_ns - passed);
		if (clamp(bound->hi_ns - passed) < hi)
			hi = clamp(bound->hi_ns - passed);
	}
	at = middle(origin, bounds[used - 1].x);
	if (lo > hi) {
		at = narrowest->x;
		lo = narrowest->lo_ns;
		hi = narrowest->hi_ns;
		origin = at;
	}
	*knot = (struct ky_clock_knot){
		.x = at,
		.ns = clamp(middle(lo, hi) + along(slope, at - origin)),
		.half_ns = (uint64_t)(hi - lo + 1) / 2};
	return used;
}

/* Time must not run backwards along the knots: of two the narrower one stays. */
static void add_knot(struct ky_clock_map *map, const struct ky_clock_knot *knot)
{
	while (map->knot_count > 0) {
		const struct ky_clock_knot *last = &map->knots[map->knot_count - 1];

		if (last->x < knot->x && last->ns <= knot->ns)
			break;
		if (last->half_ns <= knot->half_ns)
			return;
		map->knot_count--;
	}
	map->knots[map->knot_count++] = *knot;
}

/* The error at an anchor that the line passes by outside of its bound. */
static void widen(struct ky_clock_map *map, const struct bound *bound)
{
	const struct ky_clock_knot *knot = &map->knots[map->hint];
	int64_t ns;

	while (map->hint + 1 < map->knot_count && map->knots[map->hint + 1].x <= bound->x)
		knot = &map->knots[++map->hint];
	ns = clamp(knot->ns + along(knot->slope, bound->x - knot->x));
	if (ns < bound->lo_ns && (uint64_t)(bound->hi_ns - ns) > map->bound_ns)
		map->bound_ns = (uint64_t)(bound->hi_ns - ns);
	if (ns > bound->hi_ns && (uint64_t)ns - (uint64_t)bound->lo_ns > map->bound_ns)
		map->bound_ns = (uint64_t)ns - (uint64_t)bound->lo_ns;
}

/*
 * A line that no clock can follow hides a step somewhere between its ends: then the error
 * there is as large as the step.
 */
static void widen_by_step(struct ky_clock_map *map, const struct ky_clock_knot *knot,
			  struct slope whole)
{
	signed_wide passed = knot[1].ns - knot->ns;
	signed_wide off = passed - along(whole, knot[1].x - knot->x);
	uint64_t open = knot->half_ns + knot[1].half_ns;

	if (off < 0)
		off = -off;
	if (off > (signed_wide)open + passed / PLAUSIBLE_PART &&
	    off + open > map->bound_ns)
		map->bound_ns = (uint64_t)clamp(off + open);
}

static int make_knots(struct ky_clock_map *map, const struct bound *bounds, size_t count,
		      struct ky_clock_rate rate)
{
	struct slope whole;
	size_t used;

	if (count == 0 || !whole_slope(map, bounds, count, rate, &whole))
		return 0;
	for (size_t i = 0; i < count; i += used) {
		struct ky_clock_knot knot;

		used = take_window(bounds + i, count - i, whole, &knot);
		add_knot(map, &knot);
	}
	for (size_t i = 0; i < map->knot_count; i++) {
		struct ky_clock_knot *knot = &map->knots[i];

		knot->slope = whole;
		if (i + 1 < map->knot_count) {
			knot->slope = make_slope((uint64_t)(knot[1].ns - knot->ns),
						 (uint64_t)knot[1].x - (uint64_t)knot->x);
			widen_by_step(map, knot, whole);
		}
		if (knot->half_ns > map->bound_ns)
			map->bound_ns = knot->half_ns;
	}
	map->hint = 0;
	for (size_t i = 0; i < count; i++)
		widen(map, &bounds[i]);
	map->hint = 0;
	return 1;
}

void ky_clock_map_init_fixed(struct ky_clock_map *map, int64_t offset_ns)
{
	*map = (struct ky_clock_map){.offset_ns = offset_ns,
				     .bits = 64,
				     .is_usable = 1,
				     .first_ns = INT64_MAX,
				     .last_ns = INT64_MIN};
}

int32_t ky_clock_map_init(struct ky_clock_map *map, struct ky_clock_anchor *anchors,
			  size_t count, uint32_t bits, struct ky_clock_rate rate)
{
	struct bound *bounds;

	ky_clock_map_init_fixed(map, 0);
	map->is_usable = 0;
	map->bits = bits == 0 || bits > 64 ? 64 : bits;
	map->anchor_count = count;
	if (rate.ticks == 0 || rate.seconds == 0)
		rate = (struct ky_clock_rate){0, 0};
	if (count == 0)
		return KYMO_OK;
	bounds = malloc(count * sizeof(*bounds));
	map->knots = calloc(count, sizeof(*map->knots));
	if (!bounds || !map->knots) {
		free(bounds);
		ky_clock_map_clear(map);
		return KYMO_ERROR_NO_MEMORY;
	}
	count = make_bounds(map, anchors, count, rate, bounds);
	map->is_usable = (uint32_t)make_knots(map, bounds, count, rate);
	free(bounds);
	return KYMO_OK;
}

void ky_clock_map_clear(struct ky_clock_map *map)
{
	free(map->knots);
	map->knots = NULL;
	map->knot_count = 0;
	map->is_usable = 0;
}

/* ---- Converting ---- */

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
	signed_wide passed;

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
	passed = (signed_wide)ns - knot->ns;
	if (knot->slope.shift == 64)
		passed = (signed_wide)clamp(passed * ((signed_wide)1 << 63) /
					    knot->slope.multiplier) *
			 2;
	else
		passed = passed * ((signed_wide)1 << knot->slope.shift) /
			 knot->slope.multiplier;
	return clamp(knot->x + passed);
}

int ky_clock_map_convert(struct ky_clock_map *map, uint64_t reading, int64_t near_ns,
			 int64_t *ns)
{
	const struct ky_clock_knot *knot;
	signed_wide time;
	int64_t x;

	if (!map->is_usable)
		return -1;
	if (!map->knots) {
		time = (signed_wide)reading - map->offset_ns;
	} else {
		x = unwrap(reading - map->origin,
			   map->bits < 64 ? expect(map, near_ns) : 0, map->bits);
		knot = find_knot(map, x);
		if (x < knot->x) { /* before the first: the slope of the whole */
			const struct ky_clock_knot *last =
				&map->knots[map->knot_count - 1];

			time = knot->ns -
			       span(last->slope, (uint64_t)knot->x - (uint64_t)x);
		} else {
			time = knot->ns +
			       span(knot->slope, (uint64_t)x - (uint64_t)knot->x);
		}
	}
	if (time < 0 || time > INT64_MAX)
		return -1;
	*ns = (int64_t)time;
	return 0;
}

uint64_t ky_clock_map_uncertainty_ns(const struct ky_clock_map *map)
{
	uint64_t outside = 0;
	wide grown;

	if (map->knot_count == 0 || map->first_ns > map->last_ns)
		return map->bound_ns;
	if (map->first_ns < map->knots[0].ns)
		outside = (uint64_t)(map->knots[0].ns - map->first_ns);
	if (map->last_ns > map->knots[map->knot_count - 1].ns) {
		uint64_t after =
			(uint64_t)(map->last_ns - map->knots[map->knot_count - 1].ns);

		outside = after > outside ? after : outside;
	}
	grown = map->bound_ns + (wide)outside * map->drift_error / map->drift_range;
	return grown > INT64_MAX ? INT64_MAX : (uint64_t)grown;
}
