/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/type_number.h"

#include "support/test.h"

static void a_number_is_the_hash_of_the_full_name(void **state)
{
	uint32_t hash = 2166136261u;

	(void)state;
	for (const char *c = "npu.dma"; *c; c++)
		hash = (hash ^ (uint8_t)*c) * 16777619u;
	assert_int_equal(ky_type_number_first(KYMO_STR("npu"), KYMO_STR("dma")),
			 65536u + hash % (2147483648u - 65536u));
	assert_int_not_equal(ky_type_number_first(KYMO_STR("npu"), KYMO_STR("dma")),
			     ky_type_number_first(KYMO_STR("np"), KYMO_STR("udma")));
	assert_int_equal(ky_type_number_first(KYMO_STR("npu"), KYMO_STR("")), 0);
	assert_int_equal(ky_type_number_first(KYMO_STR("n.u"), KYMO_STR("dma")), 0);
}

static void the_last_number_is_followed_by_the_first(void **state)
{
	(void)state;
	assert_int_equal(ky_type_number_next(100000), 100001);
	assert_int_equal(ky_type_number_next(INT32_MAX), KY_TYPE_CUSTOM_BEGIN);
}

static void names_that_end_in_the_same_32_bytes_share_their_8_bit_number(void **state)
{
	const struct kymo_str tail = KYMO_STR("0123456789abcdef0123456789abcdef");
	uint32_t number = ky_type_number_kineto(KYMO_STR("npu"), tail);

	(void)state;
	assert_in_range(number, 50, 254);
	assert_int_equal(ky_type_number_kineto(KYMO_STR("quite-another"), tail), number);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_the_hash_of_the_full_name),
		cmocka_unit_test(the_last_number_is_followed_by_the_first),
		cmocka_unit_test(
			names_that_end_in_the_same_32_bytes_share_their_8_bit_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
