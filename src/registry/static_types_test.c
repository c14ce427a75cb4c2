/* SPDX-License-Identifier: BSD-3-Clause */
#include "registry/static_types.h"

#include <string.h>

#include "support/test.h"

static struct kymo_str str(const char *text)
{
	return (struct kymo_str){text, strlen(text)};
}

static void every_static_name_gives_its_number_and_back(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < KY_TYPE_STATIC_COUNT; i++) {
		const char *name = ky_type_static_name(i);
		uint32_t number = 99;

		assert_non_null(name);
		assert_int_equal(ky_type_static_number(str(name), &number), KYMO_OK);
		assert_int_equal(number, i);
	}
}

static void the_numbers_that_traces_know_have_not_moved(void **state)
{
	static const struct {
		const char *name;
		uint32_t number;
	} known[] = {
		{"cpu_op", 0},
		{"user_annotation", 1},
		{"gpu_memcpy", 3},
		{"gpu_memset", 4},
		{"kernel", 5},
		{"runtime", 7},
		{"cuda_runtime", 7},
		{"driver", 8},
		{"cuda_driver", 8},
		{"overhead", 11},
		{"mtia_runtime", 12},
		{"cuda_sync", 15},
		{"glow_runtime", 18},
		{"collective_comm", 23},
		{"xpu_sync", 27},
		{"gpu_pm_counter", 28},
		{"hardware_counters", 28},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		uint32_t number = 99;

		assert_int_equal(ky_type_static_number(str(known[i].name), &number),
				 KYMO_OK);
		assert_int_equal(number, known[i].number);
	}
}

static void other_names_and_numbers_are_not_static(void **state)
{
	static const char *const names[] = {"", "KERNEL", "kerne", "kernels", "npu.dma"};
	uint32_t number;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(ky_type_static_number(str(names[i]), &number),
				 KYMO_ERROR_NOT_FOUND);
	assert_null(ky_type_static_name(KY_TYPE_STATIC_COUNT));
	assert_null(ky_type_static_name(UINT32_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_static_name_gives_its_number_and_back),
		cmocka_unit_test(the_numbers_that_traces_know_have_not_moved),
		cmocka_unit_test(other_names_and_numbers_are_not_static),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
