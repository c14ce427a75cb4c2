/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a clock map from anchors.
 *
 * Readings are counted from the first anchor's, as signed 64-bit distances modulo 2^64
 * (or unwrapped from fewer bits), so that nothing special happens where a counter wraps.
 *
 * A window ends where a drift of 100 ppm could have outgrown what the bounds leave open:
 * at 10,000 times their width. Shorter windows would let the error of each middle tilt
 * the lines between them, longer ones would not follow the drift.
 */
#include "timeline/clock_map.h"

#include <stdlib.h>

#include "timeline/clock_line.h"

#define NS_PER_SECOND    1000000000u
#define WINDOW_WIDTHS    10000
#define WINDOW_MIN_NS    1000000     /* else exact anchors would each make a knot */
#define WINDOW_MAX_NS    10000000000 /* temperature changes drift within some seconds */
#define NOMINAL_PPM      100u        /* what a crystal may be off */
#define KNOTS_TO_BELIEVE 3           /* rather than the rate that a clock claims */
#define PLAUSIBLE_PARTS  1000 /* a measured rate is believed to 1/1000 of the nominal */
#define WILD_PARTS       16   /* a line so far off says nothing of others */
#define DISTANCE_MAX \
	((int64_t)1 << 61) /* of anchors: their differences cannot overflow */

/* The same with the reading as a distance, while the map is made. */
struct bound {
	int64_t x, lo_ns, hi_ns;
};

/* The slope of the whole. */
struct whole {
	struct ky_slope slope;
	int is_measured;   /* or else the one that the clock claims */
	uint64_t doubt_ns; /* from end to end, measured and claimed differ by that */
};

static struct ky_slope make_slope(uint64_t ns, uint64_t ticks)
{
	struct ky_slope slope = {0, 64};

	if (ticks == 0)
		return slope;
	for (; slope.shift > 0; slope.shift--) {
		ky_wide quotient = ((ky_wide)ns << slope.shift) / ticks;

		if (quotient <= UINT64_MAX) {
			slope.multiplier = (uint64_t)quotient;
			return slope;
		}
	}
	slope.multiplier = ns / ticks;
	return slope;
}

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
			ky_signed_wide passed =
				(ky_signed_wide)(anchor->lo_ns - bounds[kept - 1].lo_ns);

			expected =
				ky_clamp(expected + passed * rate.ticks / rate.seconds /
							    NS_PER_SECOND);
		}
		x = ky_unwrap(anchor->x - map->origin, expected, map->bits);
		if (x > -DISTANCE_MAX && x < DISTANCE_MAX)
			bounds[kept++] = (struct bound){x, anchor->lo_ns, anchor->hi_ns};
	}
	qsort(bounds, kept, sizeof(*bounds), by_x);
	return kept;
}

/* `ns` over `ticks` differs from the nominal rate by more than a clock can drift. */
static int is_implausible(uint64_t ns, uint64_t ticks, struct ky_clock_rate rate)
{
	ky_wide measured, nominal, off;

	if (rate.ticks == 0)
		return 0;
	/* Both sides of ns / ticks = 1e9 * seconds / rate, multiplied out. */
	if (rate.ticks > UINT32_MAX || rate.seconds > UINT32_MAX / 1000)
		return 0;
	measured = (ky_wide)ns * rate.ticks;
	nominal = (ky_wide)ticks * NS_PER_SECOND * rate.seconds;
	off = measured > nominal ? measured - nominal : nominal - measured;
	return off > nominal / PLAUSIBLE_PARTS;
}

static void widen_to(struct ky_clock_map *map, uint64_t ns)
{
	if (ns > map->bound_ns)
		map->bound_ns = ns < INT64_MAX ? ns : INT64_MAX;
}

/* How far from a line with that slope the bounds lie, from each to the next, in all. */
static uint64_t misfit(const struct bound *bounds, size_t count, struct ky_slope slope)
{
	ky_wide sum = 0;

	for (size_t i = 1; i < count; i++) {
		const struct bound *last = &bounds[i - 1], *next = &bounds[i];
		ky_signed_wide off = middle(next->lo_ns, next->hi_ns) -
				     (ky_signed_wide)middle(last->lo_ns, last->hi_ns) -
				     ky_along(slope, next->x - last->x);

		sum += (ky_wide)(off < 0 ? -off : off);
	}
	return sum > INT64_MAX ? INT64_MAX : (uint64_t)sum;
}

/*
 * The slope of the whole, measured from end to end where that makes sense, else nominal.
 * Where the two contradict each other the clock has stepped, or it does not run at the
 * rate that it claims: the slope that explains more of the anchors is taken. Also says by
 * how much that may be off. 0 if it cannot be known.
 */
static int find_slope(struct ky_clock_map *map, const struct bound *bounds, size_t count,
		      struct ky_clock_rate rate, struct whole *whole)
{
	const struct bound *first = &bounds[0], *last = &bounds[count - 1];
	int64_t begin = middle(first->lo_ns, first->hi_ns);
	int64_t end = middle(last->lo_ns, last->hi_ns);
	uint64_t ticks = (uint64_t)last->x - (uint64_t)first->x;
	uint64_t ns = (uint64_t)(end - begin);
	uint64_t open = (uint64_t)(first->hi_ns - first->lo_ns) +
			(uint64_t)(last->hi_ns - last->lo_ns);
	struct ky_slope nominal = {0, 64};

	if (rate.ticks != 0 && rate.seconds <= UINT64_MAX / NS_PER_SECOND)
		nominal = make_slope(rate.seconds * NS_PER_SECOND, rate.ticks);
	map->drift_error = NOMINAL_PPM;
	map->drift_range = 1000000;
	*whole = (struct whole){.slope = nominal};
	/*
	 * Where the bounds are wide for the time between them the nominal is better; and
	 * without one, a rate that may be off by a tenth is worse than no times.
	 */
	if (end <= begin || ticks == 0 || ticks > INT64_MAX ||
	    open / 2 > (rate.ticks ? ns / (1000000 / NOMINAL_PPM) : ns / 10))
		return nominal.multiplier != 0;
	whole->slope = make_slope(ns, ticks);
	if (is_implausible(ns, ticks, rate)) {
		const struct bound ends[] = {*first, *last};

		if (misfit(bounds, count, nominal) <=
		    misfit(bounds, count, whole->slope)) {
			whole->slope = nominal;
			return 1;
		}
		whole->doubt_ns = misfit(ends, 2, nominal) + open;
	}
	whole->is_measured = 1;
	map->drift_error = open / 2 + 1;
	map->drift_range = ns;
	return 1;
}

/* How many bounds, from the first on, are taken as one window. */
static size_t window_count(const struct bound *bounds, size_t count,
			   struct ky_slope slope)
{
	int64_t narrowest = bounds[0].hi_ns - bounds[0].lo_ns;
	size_t used = 1;

	for (; used < count; used++) {
		int64_t width = bounds[used].hi_ns - bounds[used].lo_ns;
		ky_signed_wide reach = (ky_signed_wide)narrowest * WINDOW_WIDTHS;

		if (reach < WINDOW_MIN_NS)
			reach = WINDOW_MIN_NS;
		if (ky_along(slope, bounds[used].x - bounds[0].x) >
		    (reach < WINDOW_MAX_NS ? reach : WINDOW_MAX_NS))
			break;
		if (width < narrowest)
			narrowest = width;
	}
	return used;
}

/*
 * The knot of a window: what its bounds have in common in its middle, each widened by the
 * drift that may lie between. -1: they contradict each other.
 */
static int make_knot(const struct bound *bounds, size_t count, struct ky_slope slope,
		     struct ky_clock_knot *knot)
{
	int64_t at = middle(bounds[0].x, bounds[count - 1].x);
	int64_t lo = INT64_MIN, hi = INT64_MAX;

	for (size_t i = 0; i < count; i++) {
		ky_signed_wide passed = ky_along(slope, at - bounds[i].x);
		ky_signed_wide drift =
			(passed < 0 ? -passed : passed) * NOMINAL_PPM / 1000000;

		if (ky_clamp(bounds[i].lo_ns + passed - drift) > lo)
			lo = ky_clamp(bounds[i].lo_ns + passed - drift);
		if (ky_clamp(bounds[i].hi_ns + passed + drift) < hi)
			hi = ky_clamp(bounds[i].hi_ns + passed + drift);
	}
	if (lo > hi)
		return -1;
	*knot = (struct ky_clock_knot){
		.x = at, .ns = middle(lo, hi), .half_ns = (uint64_t)(hi - lo + 1) / 2};
	return 0;
}

/* The next window's knot; how many bounds that is. Where they contradict each other the
 * clock has stepped, and smaller windows say where. */
static size_t take_window(const struct bound *bounds, size_t count, struct ky_slope slope,
			  struct ky_clock_knot *knot)
{
	size_t used = window_count(bounds, count, slope);

	while (make_knot(bounds, used, slope, knot) != 0)
		used = (used + 1) / 2;
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

/* By how much the line from a knot to the next is longer than one of that slope. */
static uint64_t differ(const struct ky_clock_knot *knot, struct ky_slope slope)
{
	ky_signed_wide off =
		(ky_signed_wide)knot[1].ns - knot->ns -
		ky_along(slope, ky_clamp((ky_signed_wide)knot[1].x - knot->x));

	return (uint64_t)ky_clamp(off < 0 ? -off : off);
}

/* What a clock may drift from one end of a line to the other. */
static uint64_t nominal_drift(const struct ky_clock_knot *knot)
{
	const uint64_t passed = (uint64_t)knot[1].ns - (uint64_t)knot->ns;

	return (uint64_t)((ky_wide)passed * NOMINAL_PPM / 1000000);
}

/*
 * The error at an anchor that the line passes by outside of its bound, and, since the
 * clock may drift on from there, along that line.
 */
static void widen(struct ky_clock_map *map, const struct bound *bound)
{
	const struct ky_clock_knot *knot = &map->knots[map->hint];
	uint64_t drift = 0;
	int64_t ns;

	while (map->hint + 1 < map->knot_count && map->knots[map->hint + 1].x <= bound->x)
		knot = &map->knots[++map->hint];
	ns = ky_clamp(knot->ns + ky_along(knot->slope, bound->x - knot->x));
	if (map->hint + 1 < map->knot_count)
		drift = nominal_drift(knot);
	if (ns < bound->lo_ns)
		widen_to(map, (uint64_t)bound->hi_ns - (uint64_t)ns + drift);
	if (ns > bound->hi_ns)
		widen_to(map, (uint64_t)ns - (uint64_t)bound->lo_ns + drift);
}

/*
 * What a change of drift between the ends of a line may add: a line that joins two others
 * of slopes that differ by d is off by d/4 of its length at most, and one of its own two
 * differences from them is d/2 of it or more. No clock drifts by more than the nominal.
 */
static uint64_t hidden_drift(const struct ky_clock_knot *knot, ky_wide differs)
{
	const uint64_t most = nominal_drift(knot) / 2;

	return differs / 2 < most ? (uint64_t)(differs / 2) : most;
}

/*
 * A line that differs from the one beside it hides a step, or the moment when the clock
 * began to drift otherwise, somewhere between its ends: a step by as much as the
 * difference, a change of drift also where the difference is within what the bounds leave
 * open. `beside` is the first knot of the other line.
 */
static void widen_by_neighbour(struct ky_clock_map *map, const struct ky_clock_knot *knot,
			       const struct ky_clock_knot *beside)
{
	uint64_t length = (uint64_t)knot[1].x - (uint64_t)knot->x;
	uint64_t other = (uint64_t)beside[1].x - (uint64_t)beside->x;
	uint64_t off = differ(knot, beside->slope);
	ky_wide open = (ky_wide)knot->half_ns + knot[1].half_ns + 1;

	/* What the other line's slope is not known to counts over the length of this. */
	if (other > 0)
		open += ((ky_wide)beside->half_ns + beside[1].half_ns) * length / other;
	if (off > open)
		widen_to(map, off + (uint64_t)open + nominal_drift(knot));
	else
		widen_to(map, (knot->half_ns > knot[1].half_ns ? knot->half_ns
							       : knot[1].half_ns) +
				      hidden_drift(knot, off + open / 2));
}

/* The line differs by more than so many parts of it from what it should be. */
static int is_off(const struct ky_clock_knot *knot, struct ky_slope whole, uint64_t parts)
{
	uint64_t passed = (uint64_t)knot[1].ns - (uint64_t)knot->ns;

	return differ(knot, whole) > knot->half_ns + knot[1].half_ns + passed / parts;
}

static void widen_lines(struct ky_clock_map *map, struct ky_slope whole)
{
	for (size_t i = 0; i + 1 < map->knot_count; i++) {
		const struct ky_clock_knot *knot = &map->knots[i];
		uint64_t open = knot->half_ns + knot[1].half_ns;
		int is_wild = is_off(knot, whole, WILD_PARTS);

		if (is_off(knot, whole, PLAUSIBLE_PARTS)) /* no clock can follow that */
			widen_to(map, differ(knot, whole) + open + nominal_drift(knot));
		if (i > 0 && (is_wild || !is_off(knot - 1, whole, WILD_PARTS)))
			widen_by_neighbour(map, knot, knot - 1);
		if (i + 2 < map->knot_count &&
		    (is_wild || !is_off(knot + 1, whole, WILD_PARTS)))
			widen_by_neighbour(map, knot, knot + 1);
	}
}

/* By how much the slope of the whole may be off, over all that was measured. */
static void doubt_slope(struct ky_clock_map *map, const struct whole *whole)
{
	uint64_t unfit = map->knot_count < KNOTS_TO_BELIEVE ? whole->doubt_ns : 0;

	widen_to(map, unfit);
	for (size_t i = 0; i + 1 < map->knot_count; i++) {
		const struct ky_clock_knot *knot = &map->knots[i];
		uint64_t off = differ(knot, whole->slope);
		uint64_t open = knot->half_ns + knot[1].half_ns;

		if (off > open)
			unfit = (uint64_t)ky_clamp((ky_signed_wide)unfit + off - open);
	}
	map->drift_error += unfit;
}

/* From the first and the last anchor to the knots that lie in the middle of windows. */
static void widen_ends(struct ky_clock_map *map, const struct bound *first,
		       const struct bound *last)
{
	const struct ky_clock_knot *begin = &map->knots[0];
	const struct ky_clock_knot *end = &map->knots[map->knot_count - 1];

	map->anchored_from_ns = first->lo_ns;
	map->anchored_to_ns = last->hi_ns;
	widen_to(map,
		 begin->half_ns + ky_clock_drift(map, map->anchored_from_ns, begin->ns));
	widen_to(map, end->half_ns + ky_clock_drift(map, end->ns, map->anchored_to_ns));
}

static void make_knots(struct ky_clock_map *map, const struct bound *bounds, size_t count,
		       struct ky_slope whole)
{
	size_t used;

	for (size_t i = 0; i < count; i += used) {
		struct ky_clock_knot knot;

		used = take_window(bounds + i, count - i, whole, &knot);
		add_knot(map, &knot);
	}
	for (size_t i = 0; i < map->knot_count; i++) {
		struct ky_clock_knot *knot = &map->knots[i];

		knot->slope = whole;
		if (i + 1 < map->knot_count)
			knot->slope =
				make_slope((uint64_t)knot[1].ns - (uint64_t)knot->ns,
					   (uint64_t)knot[1].x - (uint64_t)knot->x);
		widen_to(map, knot->half_ns);
	}
}

static int fit(struct ky_clock_map *map, const struct bound *bounds, size_t count,
	       struct ky_clock_rate rate)
{
	struct whole whole;

	if (count == 0 || !find_slope(map, bounds, count, rate, &whole))
		return 0;
	make_knots(map, bounds, count, whole.slope);
	widen_lines(map, whole.slope);
	map->hint = 0;
	for (size_t i = 0; i < count; i++)
		widen(map, &bounds[i]);
	map->hint = 0;
	if (whole.is_measured)
		doubt_slope(map, &whole);
	widen_ends(map, &bounds[0], &bounds[count - 1]);
	/* Of what follows nothing was measured. */
	if (whole.is_measured)
		map->drift_error += map->drift_range / (1000000 / NOMINAL_PPM);
	/* What happens between two ticks has the time of the first, rounded down. */
	widen_to(map, map->bound_ns + (uint64_t)ky_span(whole.slope, 1) + 2);
	return 1;
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
	map->is_usable = (uint32_t)fit(map, bounds, count, rate);
	free(bounds);
	return KYMO_OK;
}
