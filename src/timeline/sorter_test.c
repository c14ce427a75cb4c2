/* SPDX-License-Identifier: BSD-3-Clause */
/* The sorter sorts whatever the order, the number and the memory. */
#include "timeline/sorter.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "support/test.h"

struct item {
	int64_t key;
	uint64_t number, pad[3];
};

static int compare(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	return a->key < b->key ? -1 : a->key > b->key;
}

static uint64_t random_state = 88172645463325252ull;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint64_t ascending(uint64_t i, uint64_t count)
{
	(void)count;
	return i;
}

static uint64_t descending(uint64_t i, uint64_t count)
{
	return count - i;
}

static uint64_t same(uint64_t i, uint64_t count)
{
	(void)i;
	(void)count;
	return 5;
}

static uint64_t interleaved(uint64_t i, uint64_t count)
{
	return i % 7 * count + i;
}

static uint64_t nearly(uint64_t i, uint64_t count)
{
	(void)count;
	return i + next_random() % 20;
}

static uint64_t few(uint64_t i, uint64_t count)
{
	(void)i;
	(void)count;
	return next_random() % 10;
}

static uint64_t random_keys(uint64_t i, uint64_t count)
{
	(void)i;
	(void)count;
	return next_random();
}

static const struct {
	const char *name;
	uint64_t (*key)(uint64_t i, uint64_t count);
} orders[] = {{"ascending", ascending},     {"descending", descending}, {"same", same},
	      {"interleaved", interleaved}, {"nearly", nearly},         {"few", few},
	      {"random", random_keys}};

static void check_sorted(struct ky_sorter *sorter, uint64_t count, const char *name)
{
	struct item last = {0};
	uint8_t *seen = calloc(count + 1, 1);
	const void *next;

	for (uint64_t i = 0; i < count; i++) {
		const struct item *item;

		assert_int_equal(ky_sorter_next(sorter, &next, NULL), KYMO_OK);
		item = next;
		if (i > 0 && (item->key < last.key ||
			      (item->key == last.key && item->number < last.number)))
			fail_msg("%s: item %llu is out of order or not stable", name,
				 (unsigned long long)i);
		assert_int_equal(item->pad[2], item->number ^ item->key);
		assert_false(seen[item->number]);
		seen[item->number] = 1;
		last = *item;
	}
	assert_int_equal(ky_sorter_next(sorter, &next, NULL), KYMO_END);
	assert_int_equal(ky_sorter_next(sorter, &next, NULL), KYMO_END);
	free(seen);
}

static void sort_once(uint64_t count, size_t memory, size_t order)
{
	struct ky_sorter *sorter;

	assert_int_equal(
		ky_sorter_create(&sorter, sizeof(struct item), compare, memory, NULL),
		KYMO_OK);
	for (uint64_t i = 0; i < count; i++) {
		struct item item = {.key = (int64_t)orders[order].key(i, count),
				    .number = i};

		item.pad[2] = item.number ^ (uint64_t)item.key;
		assert_int_equal(ky_sorter_push(sorter, &item, NULL), KYMO_OK);
	}
	assert_int_equal(ky_sorter_count(sorter), count);
	/* Read to the end, from the beginning again, and once more from the middle. */
	for (int round = 0; round < 3; round++) {
		const void *item;

		assert_int_equal(ky_sorter_finish(sorter, NULL), KYMO_OK);
		if (round < 2)
			check_sorted(sorter, count, orders[order].name);
		for (uint64_t i = 0; round == 2 && i < count / 2; i++)
			assert_int_equal(ky_sorter_next(sorter, &item, NULL), KYMO_OK);
	}
	assert_int_equal(ky_sorter_finish(sorter, NULL), KYMO_OK);
	check_sorted(sorter, count, orders[order].name);
	ky_sorter_destroy(sorter);
}

static void any_order_is_sorted_and_stable(void **state)
{
	static const uint64_t counts[] = {0, 1, 2, 3, 63, 64, 65, 255, 256, 257, 5000};

	(void)state;
	for (size_t order = 0; order < sizeof(orders) / sizeof(orders[0]); order++) {
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
			sort_once(counts[i], 1u << 20, order); /* in memory */
			sort_once(counts[i], 1, order);        /* spilled every 256 */
		}
		sort_once(50000, 1u << 18, order);
	}
}

static void pushing_after_the_end_is_refused(void **state)
{
	struct ky_sorter *sorter;
	struct item item = {0};

	(void)state;
	assert_int_equal(ky_sorter_create(&sorter, sizeof(item), compare, 1, NULL),
			 KYMO_OK);
	assert_int_equal(ky_sorter_push(sorter, &item, NULL), KYMO_OK);
	assert_int_equal(ky_sorter_finish(sorter, NULL), KYMO_OK);
	assert_int_equal(ky_sorter_push(sorter, &item, NULL), KYMO_ERROR_STATE);
	ky_sorter_destroy(sorter);
	ky_sorter_destroy(NULL);
}

static void a_folder_that_cannot_be_written_is_told(void **state)
{
	struct kymo_error error = {0};
	struct ky_sorter *sorter;
	struct item item = {0};
	int32_t status = KYMO_OK;

	(void)state;
	assert_int_equal(setenv("TMPDIR", "/nonexistent/folder", 1), 0);
	assert_int_equal(ky_sorter_create(&sorter, sizeof(item), compare, 1, &error),
			 KYMO_OK);
	for (int i = 0; i < 300 && status == KYMO_OK; i++)
		status = ky_sorter_push(sorter, &item, &error);
	assert_int_equal(status, KYMO_ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "/nonexistent/folder, which TMPDIR"));
	ky_sorter_destroy(sorter);
	unsetenv("TMPDIR");
}

static void a_full_disk_is_told(void **state)
{
	struct rlimit limit, small;
	struct kymo_error error = {0};
	struct ky_sorter *sorter;
	struct item item = {0};
	int32_t status = KYMO_OK;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = 20000;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(ky_sorter_create(&sorter, sizeof(item), compare, 1, &error),
			 KYMO_OK);
	for (int i = 0; i < 2000 && status == KYMO_OK; i++)
		status = ky_sorter_push(sorter, &item, &error);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_true(status < 0);
	assert_non_null(strstr(error.message, "temporary file"));
	ky_sorter_destroy(sorter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_is_sorted_and_stable),
		cmocka_unit_test(pushing_after_the_end_is_refused),
		cmocka_unit_test(a_folder_that_cannot_be_written_is_told),
		cmocka_unit_test(a_full_disk_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
