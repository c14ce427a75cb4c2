/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <string.h>

#include "base/hash.h"

static void every_byte_the_size_and_the_seed_matter(void **state)
{
	uint8_t bytes[24] = {0};
	uint64_t base = ky_hash(bytes, sizeof(bytes), 1);

	(void)state;
	assert_true(base == ky_hash(bytes, sizeof(bytes), 1));
	assert_true(base != ky_hash(bytes, sizeof(bytes), 2));
	assert_true(base != ky_hash(bytes, sizeof(bytes) - 1, 1));
	for (size_t i = 0; i < sizeof(bytes); i++) {
		bytes[i] = 1;
		assert_true(base != ky_hash(bytes, sizeof(bytes), 1));
		bytes[i] = 0;
	}
}

static void small_numbers_spread_over_the_low_bits(void **state)
{
	uint8_t seen[4096] = {0};
	size_t used = 0;

	(void)state;
	for (uint64_t i = 0; i < 4096; i++)
		seen[ky_hash(&i, sizeof(i), 0) & 4095] = 1;
	for (size_t i = 0; i < sizeof(seen); i++)
		used += seen[i];
	/* A random function fills 63 %. */
	assert_in_range(used, 2400, 2800);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_the_size_and_the_seed_matter),
		cmocka_unit_test(small_numbers_spread_over_the_low_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
