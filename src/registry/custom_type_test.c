/* SPDX-License-Identifier: BSD-3-Clause */
#include "registry/custom_type.h"

#include <string.h>

#include "support/test.h"

static struct kymo_str str(const char *text)
{
	return (struct kymo_str){text, strlen(text)};
}

static void a_custom_number_is_the_hash_of_the_full_name(void **state)
{
	uint32_t hash = 2166136261u;

	(void)state;
	for (const char *c = "npu.dma"; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 16777619u;
	assert_int_equal(ky_type_custom_first(str("npu"), str("dma")),
			 65536u + hash % (2147483648u - 65536u));
	assert_int_not_equal(ky_type_custom_first(str("npu"), str("dma")),
			     ky_type_custom_first(str("np"), str("udma")));
}

static void a_name_keeps_its_number_and_shares_it_with_nobody(void **state)
{
	uint32_t a, b, again;

	(void)state;
	assert_int_equal(ky_type_custom_claim(100000, 11, &a), KYMO_OK);
	assert_int_equal(ky_type_custom_claim(100000, 12, &b), KYMO_OK);
	assert_int_equal(a, 100000);
	assert_int_equal(b, 100001);
	assert_int_equal(ky_type_custom_claim(100000, 12, &again), KYMO_OK);
	assert_int_equal(again, b);
	assert_int_equal(ky_type_custom_claim(100000, 11, &again), KYMO_OK);
	assert_int_equal(again, a);
}

static void numbers_wrap_to_the_first_custom_one(void **state)
{
	uint32_t number;

	(void)state;
	assert_int_equal(ky_type_custom_claim(INT32_MAX, 21, &number), KYMO_OK);
	assert_int_equal(number, INT32_MAX);
	assert_int_equal(ky_type_custom_claim(INT32_MAX, 22, &number), KYMO_OK);
	assert_int_equal(number, KY_TYPE_CUSTOM_BEGIN);
}

static void too_many_types_are_refused(void **state)
{
	uint32_t number, i;

	(void)state;
	for (i = 0; i < 100000; i++)
		if (ky_type_custom_claim(200000 + i, 1000 + i, &number) != KYMO_OK)
			break;
	assert_in_range(i, 1000, 8192);
	assert_int_equal(ky_type_custom_claim(100000, 11, &number), KYMO_OK);
	assert_int_equal(number, 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_custom_number_is_the_hash_of_the_full_name),
		cmocka_unit_test(a_name_keeps_its_number_and_shares_it_with_nobody),
		cmocka_unit_test(numbers_wrap_to_the_first_custom_one),
		cmocka_unit_test(too_many_types_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
