/* SPDX-License-Identifier: BSD-3-Clause */
#include "check_sort.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define MEMORY (64u * sizeof(struct record))

struct record {
	uint64_t key, number; /* number: in which order they came */
};

static int compare(const void *a, const void *b)
{
	const struct record *left = a, *right = b;

	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

/* Keys that come again, in an order of their own. */
static uint64_t key_of(uint64_t number)
{
	return number * UINT64_C(2654435761) % 1009;
}

static void sort_so_many(uint64_t count)
{
	struct ky_sorter *sorter =
		ky_sorter_create(sizeof(struct record), MEMORY, compare);
	struct record last = {0};
	const struct record *record;
	uint64_t number, found = 0, sum = 0;

	for (number = 1; number <= count; number++) {
		const struct record added = {key_of(number), number};

		ky_sorter_add(sorter, &added);
	}
	while ((record = ky_sorter_next(sorter))) {
		assert_int_equal(record->key, key_of(record->number));
		assert_true(found == 0 || compare(&last, record) < 0);
		last = *record;
		sum += record->number;
		found++;
	}
	assert_null(ky_sorter_next(sorter)); /* the end stays the end */
	assert_int_equal(found, count);
	assert_int_equal(sum, count * (count + 1) / 2);
	ky_sorter_destroy(sorter);
}

static void records_that_fit_into_memory_come_in_order(void **state)
{
	(void)state;
	sort_so_many(0);
	sort_so_many(1);
	sort_so_many(63);
	sort_so_many(64);
}

/* 64 records fit, and as many runs: each then has one record of the buffer. */
static void records_beyond_memory_come_in_order(void **state)
{
	(void)state;
	sort_so_many(65);
	sort_so_many(128);
	sort_so_many(1000);
	sort_so_many(62 * 64);
}

static void nothing_is_left_of_a_sorter_that_was_not_read(void **state)
{
	struct ky_sorter *sorter =
		ky_sorter_create(sizeof(struct record), MEMORY, compare);
	struct record record = {0};
	int i;

	(void)state;
	for (i = 0; i < 200; i++)
		ky_sorter_add(sorter, &record);
	ky_sorter_destroy(sorter);
	ky_sorter_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_that_fit_into_memory_come_in_order),
		cmocka_unit_test(records_beyond_memory_come_in_order),
		cmocka_unit_test(nothing_is_left_of_a_sorter_that_was_not_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
