/* SPDX-License-Identifier: BSD-3-Clause */
/* A batch takes what fits, and sorts it whether it was in some order or in none. */
#include "timeline/batch.h"

#include <stdlib.h>

#include "support/test.h"

struct item {
	int64_t key;
	uint64_t number;
};

static int compare(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	return a->key < b->key ? -1 : a->key > b->key;
}

static void fill_and_check(struct ky_batch *batch, uint64_t (*key)(uint64_t),
			   uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		struct item item = {(int64_t)key(i), i};

		assert_int_equal(ky_batch_push(batch, &item), KYMO_OK);
	}
	assert_int_equal(ky_batch_sort(batch), KYMO_OK);
	for (uint64_t i = 1; i < count; i++) {
		const struct item *sorted = (const void *)batch->sorted;

		assert_true(sorted[i - 1].key < sorted[i].key ||
			    (sorted[i - 1].key == sorted[i].key &&
			     sorted[i - 1].number < sorted[i].number));
	}
	ky_batch_empty(batch);
}

static uint64_t four_queues(uint64_t i)
{
	return i / 4 * 10 + i % 4 * 1000;
}

static uint64_t downwards(uint64_t i)
{
	return 100000 - i / 2;
}

static uint64_t disorder(uint64_t i)
{
	return i * 2654435761u % 1000;
}

static void every_order_is_sorted_stably(void **state)
{
	struct ky_batch batch;

	(void)state;
	ky_batch_init(&batch, sizeof(struct item), compare, 100000);
	fill_and_check(&batch, four_queues, 2000);
	fill_and_check(&batch, downwards, 2000);
	fill_and_check(&batch, disorder, 2000);
	fill_and_check(&batch, four_queues, 0);
	fill_and_check(&batch, downwards, 1);
	ky_batch_clear(&batch);
	ky_batch_clear(&batch);
}

static void ascending_sequences_are_kept_apart_cheaply(void **state)
{
	struct ky_batch batch;

	(void)state;
	ky_batch_init(&batch, sizeof(struct item), compare, 100000);
	for (uint64_t i = 0; i < 1000; i++) {
		struct item item = {(int64_t)four_queues(i), i};

		assert_int_equal(ky_batch_push(&batch, &item), KYMO_OK);
	}
	assert_in_range(batch.strand_count, 1, 4);
	ky_batch_empty(&batch);
	for (uint64_t i = 0; i < 1000; i++) {
		struct item item = {(int64_t)downwards(i), i};

		assert_int_equal(ky_batch_push(&batch, &item), KYMO_OK);
	}
	assert_int_equal(batch.strand_count, KY_BATCH_STRANDS + 1);
	ky_batch_clear(&batch);
}

static void a_full_batch_says_so(void **state)
{
	struct ky_batch batch;
	struct item item = {0, 0};

	(void)state;
	ky_batch_init(&batch, sizeof(item), compare, 1);
	for (size_t i = 0; i < batch.capacity_max; i++)
		assert_int_equal(ky_batch_push(&batch, &item), KYMO_OK);
	assert_int_equal(ky_batch_push(&batch, &item), KYMO_AGAIN);
	ky_batch_empty(&batch);
	assert_int_equal(ky_batch_push(&batch, &item), KYMO_OK);
	ky_batch_clear(&batch);
}

static size_t count_that_fit(struct ky_batch *batch)
{
	struct item item = {0, 0};
	size_t count = 0;

	while (ky_batch_push(batch, &item) == KYMO_OK)
		count++;
	return count;
}

static void one_that_may_take_less_later_keeps_what_it_has(void **state)
{
	struct ky_batch batch;
	struct item item = {0, 0};

	(void)state;
	ky_batch_init(&batch, sizeof(item), compare, 3600000);
	for (int i = 0; i < 300; i++)
		assert_int_equal(ky_batch_push(&batch, &item), KYMO_OK);
	ky_batch_limit(&batch, 7200000);
	assert_int_equal(batch.capacity_max, 100000);
	ky_batch_limit(&batch, 72000);
	assert_int_equal(count_that_fit(&batch), 2000 - 300);
	ky_batch_limit(&batch, 0);
	ky_batch_empty(&batch);
	assert_int_equal(count_that_fit(&batch), 2000);
	ky_batch_clear(&batch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_order_is_sorted_stably),
		cmocka_unit_test(ascending_sequences_are_kept_apart_cheaply),
		cmocka_unit_test(a_full_batch_says_so),
		cmocka_unit_test(one_that_may_take_less_later_keeps_what_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
