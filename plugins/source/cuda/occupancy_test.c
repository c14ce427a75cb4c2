/* SPDX-License-Identifier: BSD-3-Clause */
#include "occupancy.h"

#include "support/test.h"

static const struct ky_limits hopper = {
	.major = 9,
	.sm_count = 132,
	.warp_size = 32,
	.warps_per_sm = 64,
	.blocks_per_sm = 32,
	.registers_per_sm = 65536,
	.registers_per_block = 65536,
	.shared_per_sm = 233472,
	.threads_per_block = 1024,
};

/* Of NVIDIA's cuda_occupancy.h 13.0, for the same launches. */
static void blocks_are_limited_by_what_runs_out_first(void **state)
{
	static const struct {
		struct ky_launch launch;
		uint32_t blocks, factors;
	} cases[] = {
		{{256, 32, 0}, 8, KY_LIMIT_WARPS | KY_LIMIT_REGISTERS},
		{{1024, 255, 0}, 0, KY_LIMIT_REGISTERS},
		{{32, 16, 0}, 32, KY_LIMIT_BLOCKS},
		{{128, 64, 100000}, 2, KY_LIMIT_SHARED},
		{{2048, 16, 0}, 0, KY_LIMIT_WARPS},
	};
	struct ky_occupancy occupancy;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(ky_occupancy_of(&hopper, &cases[i].launch, &occupancy));
		assert_int_equal(occupancy.blocks, cases[i].blocks);
		assert_int_equal(occupancy.factors, cases[i].factors);
	}
}

static void a_device_that_is_not_known_has_none(void **state)
{
	const struct ky_launch launch = {256, 32, 0};
	struct ky_limits strange = hopper;
	struct ky_occupancy occupancy;

	(void)state;
	strange.major = 99;
	assert_false(ky_occupancy_of(&strange, &launch, &occupancy));
	strange = (struct ky_limits){0};
	assert_false(ky_occupancy_of(&strange, &launch, &occupancy));
}

static void a_small_grid_does_not_fill_what_would_fit(void **state)
{
	(void)state;
	assert_int_equal(ky_occupancy_percent(&hopper, 8, 100, 256), 100);
	assert_int_equal(ky_occupancy_percent(&hopper, 8, 1, 256), 13);
	assert_int_equal(ky_occupancy_percent(&hopper, 0, 1, 256), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_limited_by_what_runs_out_first),
		cmocka_unit_test(a_device_that_is_not_known_has_none),
		cmocka_unit_test(a_small_grid_does_not_fill_what_would_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
