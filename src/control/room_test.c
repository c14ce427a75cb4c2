/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/room.h"

#include "support/test.h"

#define MIB ((uint64_t)1 << 20)

static void little_memory_is_a_small_buffer(void **state)
{
	(void)state;
	assert_true(ky_room_budget(UINT64_MAX) == 64 * MIB);
	assert_true(ky_room_budget(256 * MIB) == 64 * MIB);
	assert_true(ky_room_budget(80 * MIB) == 20 * MIB);
	assert_true(ky_room_budget(32 * MIB) == 10 * MIB);
	assert_true(ky_room_budget(0) == 10 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(little_memory_is_a_small_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
