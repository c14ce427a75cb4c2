/* SPDX-License-Identifier: BSD-3-Clause */
/* Times come out within the error that the map admits, whatever the clock does. */
#include "timeline/clock_map.h"

#include <stdlib.h>

#include "support/test.h"

#define SECOND 1000000000ll
#define BEGIN  (1000 * SECOND)

__extension__ typedef unsigned __int128 wide;

/* What a clock shows `ns` after BEGIN. */
struct clock {
	const char *name;
	uint64_t ticks, seconds; /* its nominal rate */
	int32_t ppb;             /* how far it is off */
	uint32_t bits;
	uint64_t start;
	int64_t step_at, step; /* jumps by so many ticks then; 0: never */
	int64_t half_ns;       /* of the anchors' bounds */
};

static uint64_t reading(const struct clock *clock, int64_t ns)
{
	uint64_t passed = (uint64_t)ns + (uint64_t)(ns / SECOND * clock->ppb) +
			  (uint64_t)(ns % SECOND * clock->ppb / SECOND);
	uint64_t ticks =
		(uint64_t)((wide)passed * clock->ticks / clock->seconds / SECOND);

	if (clock->step_at && ns >= clock->step_at)
		ticks += (uint64_t)clock->step;
	ticks += clock->start;
	return clock->bits == 64 ? ticks : ticks & ((1ull << clock->bits) - 1);
}

/* Anchors all `period`, with bounds that lie unevenly around the truth. */
static void make(struct ky_clock_map *map, const struct clock *clock, int64_t period,
		 size_t count, int has_rate)
{
	struct ky_clock_anchor *anchors = calloc(count, sizeof(*anchors));
	struct ky_clock_rate rate = {clock->ticks, clock->seconds};

	if (!has_rate)
		rate = (struct ky_clock_rate){0, 0};
	for (size_t i = 0; i < count; i++) {
		int64_t ns = (int64_t)i * period;
		int64_t width = 2 * clock->half_ns * (int64_t)(1 + i % 5);
		int64_t before = width * (int64_t)(i % 7 + 1) / 8;

		anchors[i] =
			(struct ky_clock_anchor){reading(clock, ns), BEGIN + ns - before,
						 BEGIN + ns - before + width};
	}
	assert_int_equal(ky_clock_map_init(map, anchors, count, clock->bits, rate),
			 KYMO_OK);
	free(anchors);
}

static uint64_t error_at(struct ky_clock_map *map, const struct clock *clock, int64_t ns)
{
	int64_t found;

	assert_int_equal(
		ky_clock_map_convert(map, reading(clock, ns), BEGIN + ns, &found), 0);
	ky_clock_map_use(map, found);
	return (uint64_t)llabs(found - (BEGIN + ns));
}

static const struct clock clocks[] = {
	{"1 GHz", 1000000000, 1, 0, 64, 0, 0, 0, 50},
	{"0.9 GHz", 900000000, 1, 0, 64, 77777, 0, 0, 50},
	{"19.2 MHz", 19200000, 1, 0, 64, 5, 0, 0, 500},
	{"1000/3 MHz", 1000000000, 3, 0, 64, 5, 0, 0, 500},
	{"2.1 GHz, 50 ppm fast", 2096000000, 1, 50000, 64, 1ull << 60, 0, 0, 50},
	{"1 GHz, 50 ppm slow", 1000000000, 1, -50000, 64, 0, 0, 0, 2000},
	{"wraps at 2^64", 1000000000, 1, 10000, 64, UINT64_MAX - 5000000000, 0, 0, 50},
	{"32 bits", 1000000000, 1, 50000, 32, 1234567, 0, 0, 50},
	{"40 bits", 1000000000, 1, 0, 40, (1ull << 40) - 1000, 0, 0, 50},
	{"56 bits", 2000000000, 1, 0, 56, (1ull << 56) - 1000, 0, 0, 50},
	{"steps by a second", 1000000000, 1, 0, 64, 0, 30 * SECOND + 5, 1000000000, 50},
	{"one tick a microsecond", 1000000, 1, 0, 64, 9, 0, 0, 1000},
};

static void times_between_anchors_are_within_the_bound(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		const struct clock *clock = &clocks[i];

		for (int has_rate = 1; has_rate >= (clock->bits == 64 ? 0 : 1);
		     has_rate--) {
			uint64_t worst = 0, bound, ticks_ns;
			struct ky_clock_map map;

			make(&map, clock, SECOND / 2, 121, has_rate);
			assert_true(map.is_usable);
			for (int64_t ns = 0; ns <= 60 * SECOND; ns += 7654321) {
				uint64_t error = error_at(&map, clock, ns);

				worst = error > worst ? error : worst;
			}
			bound = ky_clock_map_uncertainty_ns(&map);
			/* What lies between two ticks cannot be told. */
			ticks_ns = clock->seconds * SECOND / clock->ticks + 1;
			if (worst > bound + ticks_ns)
				fail_msg("%s: error %llu, bound %llu", clock->name,
					 (unsigned long long)worst,
					 (unsigned long long)bound);
			if (!clock->step &&
			    bound > (uint64_t)clock->half_ns * 16 + ticks_ns)
				fail_msg("%s: bound %llu", clock->name,
					 (unsigned long long)bound);
			ky_clock_map_clear(&map);
		}
	}
}

static void many_close_anchors_are_better_than_each(void **state)
{
	const struct clock clock = {"", 1000000000, 1, 20000, 64, 0, 0, 0, 5000};
	struct ky_clock_map map;

	(void)state;
	make(&map, &clock, 1000000, 2000, 1);
	for (int64_t ns = 0; ns < 2 * SECOND; ns += 1234567)
		assert_in_range(error_at(&map, &clock, ns), 0, 2500);
	/* A change of drift might hide in what they leave open. */
	assert_true(ky_clock_map_uncertainty_ns(&map) < 10000);
	ky_clock_map_clear(&map);
}

static void outside_of_the_anchors_the_error_grows(void **state)
{
	const struct clock clock = {"", 1000000000, 1, 50000, 64, 0, 0, 0, 100};
	uint64_t near, far;
	struct ky_clock_map map;

	(void)state;
	make(&map, &clock, SECOND, 10, 1);
	assert_in_range(error_at(&map, &clock, 12 * SECOND), 0, 2000);
	near = ky_clock_map_uncertainty_ns(&map);
	assert_in_range(error_at(&map, &clock, 3600 * SECOND), 0, 1000000);
	far = ky_clock_map_uncertainty_ns(&map);
	assert_true(far > near);
	assert_true(error_at(&map, &clock, 3600 * SECOND) <= far);
	ky_clock_map_clear(&map);
}

static void one_anchor_needs_a_rate(void **state)
{
	const struct clock clock = {"", 1000000000, 1, 0, 64, 500, 0, 0, 100};
	struct ky_clock_map map;
	int64_t ns;

	(void)state;
	make(&map, &clock, SECOND, 1, 0);
	assert_false(map.is_usable);
	assert_int_equal(ky_clock_map_convert(&map, 1000, 0, &ns), -1);
	ky_clock_map_clear(&map);
	make(&map, &clock, SECOND, 1, 1);
	assert_in_range(error_at(&map, &clock, 10 * SECOND), 0, 200);
	/* A clock of unknown quality: 100 ppm of ten seconds. */
	assert_in_range(ky_clock_map_uncertainty_ns(&map), 1000000, 1100000);
	ky_clock_map_clear(&map);
	make(&map, &clock, SECOND, 0, 1);
	assert_false(map.is_usable);
	ky_clock_map_clear(&map);
}

static void a_rate_that_is_hardly_known_is_not_used(void **state)
{
	static const struct {
		int64_t apart;
		uint32_t is_usable;
	} rows[] = {{100, 0}, {1000, 0}, {5000, 1}, {SECOND, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ky_clock_anchor anchors[] = {{1000, BEGIN, BEGIN + 200},
						    {1000 + (uint64_t)rows[i].apart,
						     BEGIN + rows[i].apart,
						     BEGIN + rows[i].apart + 200}};
		struct ky_clock_map map;

		assert_int_equal(ky_clock_map_init(&map, anchors, 2, 64,
						   (struct ky_clock_rate){0, 0}),
				 KYMO_OK);
		assert_int_equal(map.is_usable, rows[i].is_usable);
		ky_clock_map_clear(&map);
	}
}

static void a_lying_anchor_widens_the_bound(void **state)
{
	struct ky_clock_anchor anchors[] = {
		{0, BEGIN, BEGIN + 10},
		{1000000, BEGIN + 1000000, BEGIN + 1000010},
		{2000000, BEGIN + 2500000, BEGIN + 2500900}, /* half a millisecond off */
		{3000000, BEGIN + 3000000, BEGIN + 3000010},
		{4000000, BEGIN + 4000000, BEGIN + 4000010}};
	struct ky_clock_map map;
	int64_t ns, last = 0;

	(void)state;
	assert_int_equal(ky_clock_map_init(&map, anchors, 5, 64,
					   (struct ky_clock_rate){1000000000, 1}),
			 KYMO_OK);
	for (uint64_t x = 0; x < 5000000; x += 1000) {
		assert_int_equal(ky_clock_map_convert(&map, x, 0, &ns), 0);
		assert_true(ns >= last);
		last = ns;
	}
	assert_true(ky_clock_map_uncertainty_ns(&map) >= 5);
	ky_clock_map_clear(&map);
}

static void time_never_runs_backwards(void **state)
{
	(void)state;
	srand(1);
	for (int round = 0; round < 500; round++) {
		struct ky_clock_anchor anchors[20];
		struct ky_clock_map map;
		int64_t ns, last = 0;

		for (int i = 0; i < 20; i++) {
			anchors[i].x = (uint64_t)rand() % 100000;
			anchors[i].lo_ns = BEGIN + rand() % 100000;
			anchors[i].hi_ns = anchors[i].lo_ns + rand() % 1000 - 10;
		}
		assert_int_equal(ky_clock_map_init(&map, anchors, 20, 64,
						   (struct ky_clock_rate){0, 0}),
				 KYMO_OK);
		for (uint64_t x = 0; map.is_usable && x < 120000; x += 100) {
			assert_int_equal(ky_clock_map_convert(&map, x, 0, &ns), 0);
			assert_true(ns >= last);
			last = ns;
		}
		ky_clock_map_clear(&map);
	}
}

static void times_that_cannot_be_represented_are_refused(void **state)
{
	static const uint64_t readings[] = {1ull << 62, 1ull << 63, (1ull << 63) + 5};
	const struct clock slow = {"", 1000, 1, 0, 64, 500, 0, 0, 1000000};
	struct ky_clock_map map;
	int64_t ns;

	(void)state;
	make(&map, &slow, SECOND, 10, 1);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(ky_clock_map_convert(&map, readings[i], 0, &ns), -1);
	ky_clock_map_clear(&map);
	ky_clock_map_init_fixed(&map, 1000);
	assert_int_equal(ky_clock_map_convert(&map, 999, 0, &ns), -1);
	assert_int_equal(ky_clock_map_convert(&map, UINT64_MAX, 0, &ns), -1);
	assert_int_equal(ky_clock_map_convert(&map, 1500, 0, &ns), 0);
	assert_int_equal(ns, 500);
	ky_clock_map_clear(&map);
}

static void a_reading_of_a_wrapping_clock_is_the_one_nearest(void **state)
{
	const struct clock clock = {"", 1000000000, 1, 0, 32, 0, 0, 0, 50};
	struct ky_clock_map map;
	int64_t ns;

	(void)state;
	make(&map, &clock, 20 * SECOND, 4, 1); /* anchors many wraps apart */
	for (int64_t at = 0; at < 100 * SECOND; at += SECOND) {
		for (int64_t off = -2 * SECOND; off <= 2 * SECOND; off += SECOND / 2) {
			assert_int_equal(ky_clock_map_convert(&map, reading(&clock, at),
							      BEGIN + at + off, &ns),
					 0);
			assert_in_range(llabs(ns - BEGIN - at), 0, 200);
		}
	}
	ky_clock_map_clear(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_between_anchors_are_within_the_bound),
		cmocka_unit_test(many_close_anchors_are_better_than_each),
		cmocka_unit_test(outside_of_the_anchors_the_error_grows),
		cmocka_unit_test(one_anchor_needs_a_rate),
		cmocka_unit_test(a_rate_that_is_hardly_known_is_not_used),
		cmocka_unit_test(a_lying_anchor_widens_the_bound),
		cmocka_unit_test(time_never_runs_backwards),
		cmocka_unit_test(times_that_cannot_be_represented_are_refused),
		cmocka_unit_test(a_reading_of_a_wrapping_clock_is_the_one_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
