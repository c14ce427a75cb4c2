/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stub clocks against the time that the test knows to be true: whatever the clock does,
 * no converted time is farther from it than the map says.
 */
#include "timeline/clock_map.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"

#define SECOND      1000000000ll
#define MILLISECOND 1000000ll
#define BEGIN       (1000 * SECOND) /* of the timeline */
#define PARTS_MAX   6

__extension__ typedef __int128 wide;

/* From `from_ns` on it makes `ppb` more than its real rate, after a jump by `step`. */
struct part {
	int64_t from_ns, ppb, step;
};

struct stub {
	const char *name;
	uint64_t claimed, real; /* ticks a second; `claimed` 0: it does not say */
	uint32_t bits;
	uint64_t start;
	int64_t period_ns, half_ns; /* of the anchors, and half the width of each */
	int64_t first_ns, last_ns;  /* anchors are taken between these */
	int64_t records_ns;         /* records until then */
	uint64_t limit_ns;          /* of the error stated; 0: any */
	struct part parts[PARTS_MAX];
};

#define FROZEN (-SECOND)

static uint64_t reading(const struct stub *stub, int64_t ns)
{
	wide ticks = (wide)stub->start * SECOND * SECOND;

	for (int i = 0; i < PARTS_MAX; i++) {
		const struct part *part = &stub->parts[i];
		int64_t until = ns;

		if (i > 0 && part->from_ns == 0)
			break;
		if (ns < part->from_ns)
			break;
		if (i + 1 < PARTS_MAX && stub->parts[i + 1].from_ns > 0 &&
		    stub->parts[i + 1].from_ns < ns)
			until = stub->parts[i + 1].from_ns;
		ticks += (wide)(until - part->from_ns) * (int64_t)stub->real *
			 (SECOND + part->ppb);
		ticks += (wide)part->step * SECOND * SECOND;
	}
	ticks /= (wide)SECOND * SECOND;
	return stub->bits == 64 ? (uint64_t)ticks
				: (uint64_t)ticks & ((1ull << stub->bits) - 1);
}

static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static int64_t below(int64_t limit)
{
	return (int64_t)(next_random() % (uint64_t)limit);
}

/* Bounds lie anywhere around the truth, at uneven times, and come in any order. */
static size_t take_anchors(const struct stub *stub, struct ky_clock_anchor *anchors)
{
	size_t count = 0;

	for (int64_t ns = stub->first_ns; ns <= stub->last_ns; ns += stub->period_ns) {
		int is_end = ns == stub->first_ns || ns == stub->last_ns;
		int64_t at = ns + (is_end ? 0 : below(stub->period_ns / 4 + 1));
		int64_t width = stub->half_ns * 2 * (1 + below(5));
		int64_t before = below(width + 1);

		anchors[count++] =
			(struct ky_clock_anchor){reading(stub, at), BEGIN + at - before,
						 BEGIN + at - before + width};
	}
	for (size_t i = count; i > 1; i--) {
		size_t other = (size_t)below((int64_t)i);
		struct ky_clock_anchor moved = anchors[i - 1];

		anchors[i - 1] = anchors[other];
		anchors[other] = moved;
	}
	return count;
}

/* The worst error of so many records all over the run; -1: times are refused. */
static int64_t worst_error(const struct stub *stub, struct ky_clock_map *map,
			   int64_t count)
{
	int64_t worst = 0, step = stub->records_ns / count + 1;

	for (int64_t ns = 0; ns <= stub->records_ns; ns += step) {
		int64_t at = ns + below(step), found = 0, error;

		if (ky_clock_map_convert(map, reading(stub, at), BEGIN + at, &found) != 0)
			return -1;
		ky_clock_map_use(map, found);
		error = llabs(found - (BEGIN + at));
		worst = error > worst ? error : worst;
	}
	return worst;
}

static struct ky_clock_map make_map(const struct stub *stub)
{
	size_t room = (size_t)((stub->last_ns - stub->first_ns) / stub->period_ns) + 2;
	struct ky_clock_anchor *anchors = calloc(room, sizeof(*anchors));
	struct ky_clock_rate rate = {stub->claimed, stub->claimed ? 1 : 0};
	struct ky_clock_map map;
	size_t count;

	assert_non_null(anchors);
	count = take_anchors(stub, anchors);
	assert_int_equal(ky_clock_map_init(&map, anchors, count, stub->bits, rate),
			 KYMO_OK);
	free(anchors);
	return map;
}

#define RUN(seconds) .last_ns = (seconds)*SECOND, .records_ns = (seconds)*SECOND
#define TIGHT        .limit_ns = 2500 /* some widths of the anchors */
#define GHZ          .claimed = 1000000000, .real = 1000000000
#define EACH_SECOND  .period_ns = SECOND, .half_ns = 100

static const struct stub stubs[] = {
	{"right", GHZ, 64, 5, EACH_SECOND, RUN(60), TIGHT},
	{"50 ppm fast", GHZ, 64, 5, EACH_SECOND, RUN(60), TIGHT,
	 .parts = {{0, 50000, 0}}},
	{"50 ppm slow", GHZ, 64, 5, EACH_SECOND, RUN(60), TIGHT,
	 .parts = {{0, -50000, 0}}},
	{"50 ppm fast for ten hours", GHZ, 64, 5, EACH_SECOND, RUN(36000), TIGHT,
	 .parts = {{0, 50000, 0}}},
	{"drift that changes", GHZ, 64, 5, EACH_SECOND, RUN(3600),
	 .parts = {{0, 20000, 0}, {600 * SECOND, -30000, 0}, {1800 * SECOND, 50000, 0}}},
	{"0.9 GHz, and says so", 900000000, 900000000, 64, 7, EACH_SECOND, RUN(60),
	 TIGHT},
	{"0.9 GHz, but says 1 GHz", 1000000000, 900000000, 64, 7, EACH_SECOND, RUN(60),
	 TIGHT},
	{"1 GHz, but says 0.9", 900000000, 1000000000, 64, 7, EACH_SECOND, RUN(60),
	 TIGHT},
	{"0.9 GHz, says nothing", 0, 900000000, 64, 7, EACH_SECOND, RUN(60), TIGHT},
	{"steps forward", GHZ, 64, 5, EACH_SECOND, RUN(60),
	 .parts = {{0, 0, 0}, {30 * SECOND + 5, 0, SECOND}}},
	{"steps back", GHZ, 64, 5 * SECOND, EACH_SECOND, RUN(60),
	 .parts = {{0, 0, 0}, {30 * SECOND + 5, 0, -SECOND}}},
	{"steps by a little", GHZ, 64, 5, EACH_SECOND, RUN(60),
	 .parts = {{0, 30000, 0}, {30 * SECOND + 5, 30000, 300000}}},
	{"steps back by a little", GHZ, 64, 5, EACH_SECOND, RUN(60),
	 .parts = {{0, 30000, 0}, {30 * SECOND + 5, 30000, -300000}}},
	{"steps between three anchors", GHZ, 64, 5, .period_ns = 10 * SECOND,
	 .half_ns = 100, RUN(20), .parts = {{0, 0, 0}, {14 * SECOND, 0, 400000}}},
	{"32 bits", GHZ, 32, 5, EACH_SECOND, RUN(60), TIGHT},
	{"32 bits, 50 ppm fast", GHZ, 32, (1ull << 32) - 10, EACH_SECOND, RUN(60), TIGHT,
	 .parts = {{0, 50000, 0}}},
	{"40 bits", GHZ, 40, (1ull << 40) - 10 * SECOND, EACH_SECOND, RUN(2000), TIGHT},
	{"56 bits", GHZ, 56, (1ull << 56) - 10 * SECOND, EACH_SECOND, RUN(60), TIGHT},
	{"32 bits, frozen", GHZ, 32, 5, EACH_SECOND, RUN(60),
	 .parts = {{0, 0, 0}, {20 * SECOND, FROZEN, 0}, {22 * SECOND, 0, 0}}},
	{"from 2^64 - 1", GHZ, 64, UINT64_MAX, EACH_SECOND, RUN(60), TIGHT},
	{"over 2^64", GHZ, 64, UINT64_MAX - 30 * SECOND, EACH_SECOND, RUN(60), TIGHT},
	{"over 2^63", GHZ, 64, INT64_MAX - 30ull * SECOND, EACH_SECOND, RUN(60), TIGHT},
	{"frozen in the middle", GHZ, 64, 5, EACH_SECOND, RUN(60),
	 .parts = {{0, 0, 0}, {20 * SECOND, FROZEN, 0}, {40 * SECOND, 0, 0}}},
	{"frozen between two anchors", GHZ, 64, 5, EACH_SECOND, RUN(60),
	 .parts = {{0, 0, 0},
		   {20 * SECOND + 300 * MILLISECOND, FROZEN, 0},
		   {20 * SECOND + 600 * MILLISECOND, 0, 0}}},
	{"frozen at the end", GHZ, 64, 5, EACH_SECOND, RUN(60),
	 .parts = {{0, 0, 0}, {50 * SECOND, FROZEN, 0}}},
	{"few anchors", GHZ, 64, 5, .period_ns = 600 * SECOND, .half_ns = 100, RUN(3600),
	 .parts = {{0, 50000, 0}}},
	{"two anchors", GHZ, 64, 5, .period_ns = 60 * SECOND, .half_ns = 100, RUN(60),
	 .parts = {{0, 50000, 0}}},
	{"one anchor", GHZ, 64, 5, .period_ns = SECOND, .half_ns = 100,
	 .first_ns = 30 * SECOND, .last_ns = 30 * SECOND, .records_ns = 60 * SECOND,
	 .parts = {{0, 50000, 0}}},
	{"wide anchors", GHZ, 64, 5, .period_ns = SECOND, .half_ns = 50 * MILLISECOND,
	 RUN(60), .parts = {{0, 50000, 0}}},
	{"two wide anchors", GHZ, 64, 5, .period_ns = SECOND, .half_ns = 50 * MILLISECOND,
	 RUN(1), .parts = {{0, 50000, 0}}},
	{"100,000 anchors", GHZ, 64, 5, .period_ns = MILLISECOND, .half_ns = 300,
	 RUN(100), .parts = {{0, 50000, 0}}},
	{"a tick a microsecond", 1000000, 1000000, 64, 5, EACH_SECOND, RUN(60)},
	{"a tick each 30.5 us", 32768, 32768, 64, 5, EACH_SECOND, RUN(60)},
	{"exact anchors of a slow tick", .claimed = 32768, .real = 32768, .bits = 64,
	 .start = 5, .period_ns = SECOND, .half_ns = 0, RUN(60)},
	{"two exact anchors of a slow tick", .claimed = 32768, .real = 32768, .bits = 64,
	 .start = 5, .period_ns = SECOND, .half_ns = 0, RUN(1)},
	{"32 bits, says nothing", 0, 1000000000, 32, 5, EACH_SECOND, RUN(60), TIGHT},
	{"a large step between three anchors, says nothing", 0, 1000000000, 64, 5,
	 EACH_SECOND, RUN(2), .parts = {{0, 0, 0}, {300 * MILLISECOND, 0, 300000000}}},
	{"a large step between three anchors", GHZ, 64, 5, EACH_SECOND, RUN(2),
	 .parts = {{0, 0, 0}, {300 * MILLISECOND, 0, 300000000}}},
	{"dead after a step, says nothing", 0, 1000000000, 64, 5, .period_ns = SECOND,
	 .half_ns = 100, .last_ns = 30 * SECOND, .records_ns = 60 * SECOND,
	 .parts = {{0, 0, 0}, {15 * SECOND, 0, SECOND}}},
	{"a step between two anchors", GHZ, 64, 5, .period_ns = SECOND, .half_ns = 100,
	 RUN(1), .parts = {{0, 0, 0}, {300 * MILLISECOND, 0, 20000000}}},
	{"dead after half", GHZ, 64, 5, .period_ns = SECOND, .half_ns = 100,
	 .last_ns = 30 * SECOND, .records_ns = 60 * SECOND, .parts = {{0, 50000, 0}}},
	{"dead after half, and another drift", GHZ, 64, 5, .period_ns = SECOND,
	 .half_ns = 100, .last_ns = 30 * SECOND, .records_ns = 60 * SECOND,
	 .parts = {{0, 50000, 0}, {31 * SECOND, -40000, 0}}},
	{"dead, at 0.9 GHz that says 1", 1000000000, 900000000, 64, 5,
	 .period_ns = SECOND, .half_ns = 100, .last_ns = 30 * SECOND,
	 .records_ns = 60 * SECOND},
	{"dead after a step", GHZ, 64, 5, .period_ns = SECOND, .half_ns = 100,
	 .last_ns = 30 * SECOND, .records_ns = 60 * SECOND,
	 .parts = {{0, 0, 0}, {15 * SECOND, 0, SECOND}}},
	{"anchors from half on", GHZ, 64, 5, .period_ns = SECOND, .half_ns = 100,
	 .first_ns = 30 * SECOND, .last_ns = 60 * SECOND, .records_ns = 60 * SECOND,
	 .parts = {{0, 50000, 0}}},
};

static void check(const struct stub *stub, int64_t records)
{
	struct ky_clock_map map = make_map(stub);
	int64_t worst = worst_error(stub, &map, records);
	uint64_t bound = ky_clock_map_uncertainty_ns(&map);

	if (worst < 0 || (uint64_t)worst > bound)
		fail_msg("%s: error %lld, bound %llu", stub->name, (long long)worst,
			 (unsigned long long)bound);
	/* It must not be worth nothing either. */
	if (stub->limit_ns > 0 && bound > stub->limit_ns)
		fail_msg("%s: bound %llu", stub->name, (unsigned long long)bound);
	ky_clock_map_clear(&map);
}

static void no_time_is_farther_off_than_stated(void **state)
{
	(void)state;
	random_state = 88172645463325252ull;
	for (size_t i = 0; i < sizeof(stubs) / sizeof(stubs[0]); i++)
		check(&stubs[i], 20011);
}

static void no_time_of_a_random_clock_is_either(void **state)
{
	static const uint32_t bits[] = {64, 64, 56, 40, 32};

	(void)state;
	random_state = 1234567;
	for (int round = 0; round < 6000; round++) {
		struct stub stub = {.name = "random", .bits = bits[below(5)]};

		stub.real = (uint64_t)(1000 + below(2000000)) * 1000;
		stub.claimed = below(4) && stub.bits == 64 ? 0 : stub.real;
		stub.start = next_random();
		stub.period_ns = 50 * MILLISECOND + below(200 * MILLISECOND);
		stub.half_ns = 20 + below(20000);
		stub.last_ns = stub.period_ns * (8 + below(below(2) ? 8 : 200));
		stub.records_ns = stub.last_ns + below(2) * below(SECOND / 2);
		stub.parts[0].ppb = below(100001) - 50000;
		stub.parts[1].ppb = stub.parts[0].ppb;
		stub.parts[1].from_ns = 1 + below(stub.last_ns);
		if (below(2))
			stub.parts[1].ppb = below(100001) - 50000;
		/* What hides in the bounds of the anchors cannot be known. */
		else if (stub.bits == 64 && below(2))
			stub.parts[1].step = (below(2) ? 1 : -1) *
					     (stub.half_ns * 60 + below(MILLISECOND)) *
					     (int64_t)(stub.real / 1000000) / 1000;
		check(&stub, 1009);
	}
}

/* Nothing is true of these; they must only be survived. */
static void no_anchor_and_no_reading_is_too_wild(void **state)
{
	static const uint64_t ends[] = {0,          1,          INT64_MAX,
					1ull << 63, UINT64_MAX, 1ull << 32};

	(void)state;
	random_state = 7654321;
	for (int round = 0; round < 20000; round++) {
		struct ky_clock_anchor anchors[6];
		struct ky_clock_rate rate = {ends[below(6)], ends[below(6)]};
		struct ky_clock_map map;

		for (int i = 0; i < 6; i++) {
			anchors[i].x = below(2) ? ends[below(6)] : next_random();
			anchors[i].lo_ns =
				below(2) ? (int64_t)ends[below(6)] : below(100 * SECOND);
			anchors[i].hi_ns =
				below(2) ? (int64_t)ends[below(6)]
					 : ky_ns_add(anchors[i].lo_ns, below(SECOND));
		}
		assert_int_equal(ky_clock_map_init(&map, anchors, (size_t)below(7),
						   (uint32_t)below(66), rate),
				 KYMO_OK);
		for (int i = 0; i < 6; i++) {
			int64_t ns = 0, near = (int64_t)ends[below(6)];

			if (ky_clock_map_convert(&map, ends[i], near, &ns) == 0) {
				assert_true(ns >= 0);
				ky_clock_map_use(&map, ns);
			}
		}
		assert_true(ky_clock_map_uncertainty_ns(&map) <= INT64_MAX);
		ky_clock_map_clear(&map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_time_is_farther_off_than_stated),
		cmocka_unit_test(no_time_of_a_random_clock_is_either),
		cmocka_unit_test(no_anchor_and_no_reading_is_too_wild),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
