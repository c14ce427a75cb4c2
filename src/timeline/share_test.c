/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/share.h"

#include "support/test.h"

#define MIB ((uint64_t)1 << 20)

static void where_there_is_enough_everybody_gets_what_is_wanted(void **state)
{
	(void)state;
	assert_int_equal(ky_memory_share_of(32 * MIB, UINT64_MAX), 32 * MIB);
	assert_int_equal(ky_memory_share_of(32 * MIB, 354 * MIB), 32 * MIB);
	assert_true(ky_memory_share_of(32 * MIB, 353 * MIB) < 32 * MIB);
}

static void where_there_is_little_all_together_take_half(void **state)
{
	(void)state;
	assert_int_equal(ky_memory_share_of(177 * MIB, 20 * MIB), 10 * MIB);
	assert_int_equal(ky_memory_share_of(177 * MIB / 2, 20 * MIB), 5 * MIB);
}

static void where_there_is_nothing_some_is_taken_all_the_same(void **state)
{
	(void)state;
	assert_int_equal(ky_memory_share_of(32 * MIB, 0), MIB / 2);
	assert_int_equal(ky_memory_share_of(32 * MIB, 5 * MIB), MIB / 2);
	assert_true(ky_memory_share_of(32 * MIB, 6 * MIB) > MIB / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_there_is_enough_everybody_gets_what_is_wanted),
		cmocka_unit_test(where_there_is_little_all_together_take_half),
		cmocka_unit_test(where_there_is_nothing_some_is_taken_all_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
