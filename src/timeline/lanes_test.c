/* SPDX-License-Identifier: BSD-3-Clause */
/* On a lane spans nest or follow one another. */
#include "timeline/lanes.h"

#include "support/test.h"

static struct ky_lanes *create(size_t track_count)
{
	struct ky_lanes *lanes;

	assert_int_equal(ky_lanes_create(&lanes, track_count, NULL), KYMO_OK);
	return lanes;
}

static uint32_t place(struct ky_lanes *lanes, uint32_t track, int64_t begin, int64_t end)
{
	uint32_t lane;

	assert_int_equal(ky_lanes_place(lanes, track, begin, end, &lane), KYMO_OK);
	return lane;
}

static void a_span_goes_to_the_first_lane_where_it_fits(void **state)
{
	static const struct {
		int64_t begin, end;
		uint32_t lane;
	} rows[] = {{0, 100, 0},  {0, 100, 0},   {10, 50, 0},   {20, 60, 1},
		    {30, 120, 2}, {40, 50, 0},   {50, 100, 0},  {55, 60, 0},
		    {60, 61, 0},  {100, 130, 0}, {110, 140, 1}, {120, 150, 2}};
	struct ky_lanes *lanes = create(1);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (place(lanes, 0, rows[i].begin, rows[i].end) != rows[i].lane)
			fail_msg("row %zu", i);
	}
	ky_lanes_destroy(lanes);
	ky_lanes_destroy(NULL);
}

static void tracks_do_not_disturb_each_other(void **state)
{
	struct ky_lanes *lanes = create(3);

	(void)state;
	assert_int_equal(place(lanes, 0, 0, 10), 0);
	assert_int_equal(place(lanes, 2, 5, 15), 0);
	assert_int_equal(place(lanes, 0, 5, 15), 1);
	assert_int_equal(place(lanes, 1, 5, 15), 0);
	ky_lanes_destroy(lanes);
}

static void what_is_nested_too_deep_goes_to_a_further_lane(void **state)
{
	struct ky_lanes *lanes = create(1);

	(void)state;
	for (int64_t i = 0; i < (int64_t)KY_LANE_DEPTH_MAX; i++)
		assert_int_equal(place(lanes, 0, i, 10000 - i), 0);
	assert_int_equal(place(lanes, 0, 600, 601), 1);
	assert_int_equal(place(lanes, 0, 10000, 10001), 0);
	ky_lanes_destroy(lanes);
}

static void what_finds_no_lane_is_told(void **state)
{
	struct ky_lanes *lanes = create(1);
	uint32_t lane;

	(void)state;
	for (int64_t i = 0; i < (int64_t)KY_LANE_COUNT_MAX; i++)
		assert_int_equal(place(lanes, 0, i, 100000 + i), i);
	assert_int_equal(ky_lanes_place(lanes, 0, 5000, 300000, &lane), KYMO_AGAIN);
	assert_int_equal(place(lanes, 0, 5000, 5001), 0);
	ky_lanes_destroy(lanes);
}

static void a_reset_gives_the_same_lanes_again(void **state)
{
	struct ky_lanes *lanes = create(1);

	(void)state;
	for (int round = 0; round < 3; round++) {
		ky_lanes_reset(lanes);
		assert_int_equal(place(lanes, 0, 0, 10), 0);
		assert_int_equal(place(lanes, 0, 5, 15), 1);
		assert_int_equal(place(lanes, 0, 6, 16), 2);
	}
	ky_lanes_destroy(lanes);
}

static void the_end_of_what_is_open_is_known(void **state)
{
	struct ky_lanes *lanes = create(2);

	(void)state;
	assert_int_equal(ky_lanes_open_end(lanes, 0, 5), INT64_MAX);
	place(lanes, 0, 0, 100);
	place(lanes, 0, 10, 20);
	assert_int_equal(ky_lanes_open_end(lanes, 0, 15), 20);
	assert_int_equal(ky_lanes_open_end(lanes, 0, 20), 100);
	assert_int_equal(ky_lanes_open_end(lanes, 0, 100), INT64_MAX);
	assert_int_equal(ky_lanes_open_end(lanes, 1, 15), INT64_MAX);
	ky_lanes_destroy(lanes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_span_goes_to_the_first_lane_where_it_fits),
		cmocka_unit_test(tracks_do_not_disturb_each_other),
		cmocka_unit_test(what_is_nested_too_deep_goes_to_a_further_lane),
		cmocka_unit_test(what_finds_no_lane_is_told),
		cmocka_unit_test(a_reset_gives_the_same_lanes_again),
		cmocka_unit_test(the_end_of_what_is_open_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
