/* SPDX-License-Identifier: BSD-3-Clause */
/* The index finds by bytes; the arena's memory stays where it is. */
#include "timeline/index.h"

#include <stdio.h>
#include <string.h>

#include "support/test.h"

static void equal_keys_have_one_slot(void **state)
{
	struct ky_index index = {.table = NULL};
	void **slots[5000];

	(void)state;
	for (size_t round = 0; round < 2; round++) {
		for (size_t i = 0; i < 5000; i++) {
			char key[32];
			int size = snprintf(key, sizeof(key), "key %zu", i);
			void **slot = ky_index_slot(&index, key, (size_t)size);

			if (round == 0) {
				assert_null(*slot);
				*slot = &slots[i];
				slots[i] = slot;
			}
			assert_ptr_equal(slot, slots[i]);
			assert_ptr_equal(*slot, &slots[i]);
		}
	}
	assert_int_equal(index.count, 5000);
	ky_index_clear(&index);
	ky_index_clear(&index);
}

static void size_is_part_of_a_key(void **state)
{
	struct ky_index index = {.table = NULL};

	(void)state;
	assert_ptr_not_equal(ky_index_slot(&index, "\0\0", 1),
			     ky_index_slot(&index, "\0\0", 2));
	assert_ptr_equal(ky_index_slot(&index, NULL, 0), ky_index_slot(&index, "x", 0));
	ky_index_clear(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_keys_have_one_slot),
		cmocka_unit_test(size_is_part_of_a_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
