/* SPDX-License-Identifier: BSD-3-Clause */
/* The buffers that a source is lent. */
#include "session/host.h"

#include "support/test.h"

#include "session/test_host.h"

static void buffers_are_lent_and_come_back(void **state)
{
	uint8_t *a = table->buffer_take(host, 1000), *b = table->buffer_take(host, 1000);

	(void)state;
	assert_non_null(a);
	assert_non_null(b);
	assert_ptr_not_equal(a, b);
	memset(a, 1, 1000);
	assert_int_equal(table->buffer_give(host, a), KYMO_OK);
	assert_int_equal(table->buffer_give(host, a), KYMO_ERROR_INVALID);
	assert_int_equal(table->buffer_give(host, a + 8), KYMO_ERROR_INVALID);
	assert_ptr_equal(table->buffer_take(host, 900), a);
	assert_int_equal(table->buffer_give(host, a), KYMO_OK);
	assert_int_equal(table->buffer_give(host, b), KYMO_OK);
}

static void buffers_are_bounded_in_number_and_bytes(void **state)
{
	void *taken[KY_HOST_BUFFERS_MAX + 1];
	size_t count = 0;

	(void)state;
	assert_null(table->buffer_take(host, 0));
	assert_null(table->buffer_take(host, KY_HOST_MEMORY_MAX + 1));
	while (count <= KY_HOST_BUFFERS_MAX &&
	       (taken[count] = table->buffer_take(host, 4096)))
		count++;
	assert_int_equal(count, KY_HOST_BUFFERS_MAX);
	while (count > 0)
		assert_int_equal(table->buffer_give(host, taken[--count]), KYMO_OK);
	/* Free small ones make way for large ones. */
	for (count = 0; (taken[count] = table->buffer_take(host, 8u << 20)); count++)
		;
	assert_int_equal(count, KY_HOST_MEMORY_MAX / (8u << 20));
	while (count > 0)
		assert_int_equal(table->buffer_give(host, taken[--count]), KYMO_OK);
}

static void a_buffer_tells_the_session_that_it_was_taken_in(void **state)
{
	uint32_t epoch = 9;
	char *buffer;

	(void)state;
	host->epoch = 1;
	buffer = table->buffer_take(host, 100);
	host->epoch = 2;
	assert_int_equal(table->buffer_epoch(host, buffer, &epoch), KYMO_OK);
	assert_int_equal(epoch, 1);
	assert_int_equal(table->buffer_epoch(host, buffer + 64, &epoch),
			 KYMO_ERROR_INVALID);
	assert_int_equal(table->buffer_give(host, buffer), KYMO_OK);
	assert_int_equal(ky_gate()->counts[host->number].lost[KYMO_LOST_LATE],
			 0); /* the source counts */
	assert_int_equal(table->buffer_epoch(host, buffer, &epoch), KYMO_ERROR_INVALID);
	assert_int_equal(epoch, 0);
}

static void buffers_are_aligned_apart_and_mapped_for_ever(void **state)
{
	static const size_t sizes[] = {1, 63, 4097, 100000, 1, 8u << 20, 65};
	uint8_t *taken[sizeof(sizes) / sizeof(sizes[0])];
	const size_t count = sizeof(sizes) / sizeof(sizes[0]);

	(void)state;
	for (size_t i = 0; i < count; i++) {
		taken[i] = table->buffer_take(host, sizes[i]);
		assert_non_null(taken[i]);
		assert_int_equal((uintptr_t)taken[i] % 64, 0);
		memset(taken[i], (int)i + 1, sizes[i]);
	}
	/* A hole that is too small for what comes next, and is used by the one after. */
	assert_int_equal(table->buffer_give(host, taken[2]), KYMO_OK);
	assert_int_equal(table->buffer_give(host, taken[5]), KYMO_OK);
	assert_true((uint8_t *)table->buffer_take(host, 8193) > taken[2]);
	assert_ptr_equal(table->buffer_take(host, 8192), taken[2]);
	for (size_t i = 0; i < count; i++)
		if (i != 2 && i != 5)
			assert_true(taken[i][0] == i + 1 &&
				    taken[i][sizes[i] - 1] == i + 1);
	/* A vendor that is late writes where it may. */
	memset(taken[5] + 65536, 9, 65536);
}

static void a_forked_child_finds_all_buffers_free(void **state)
{
	uint8_t *buffer = table->buffer_take(host, 100);

	(void)state;
	assert_non_null(buffer);
	ky_host_forked(host);
	assert_int_equal(table->buffer_give(host, buffer), KYMO_ERROR_INVALID);
	assert_ptr_equal(table->buffer_take(host, 100), buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_OF_HOST(buffers_are_lent_and_come_back),
		TEST_OF_HOST(buffers_are_bounded_in_number_and_bytes),
		TEST_OF_HOST(a_buffer_tells_the_session_that_it_was_taken_in),
		TEST_OF_HOST(buffers_are_aligned_apart_and_mapped_for_ever),
		TEST_OF_HOST(a_forked_child_finds_all_buffers_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
