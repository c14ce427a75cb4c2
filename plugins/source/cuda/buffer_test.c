/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer.h"

#include "support/test.h"
#include "test_host.h"

static uint64_t dropped;
static int32_t walk_result;

/* Three records of 8 bytes, then what the test says. */
static int32_t next_record(uint8_t *buffer, size_t size, struct cupti_record **record)
{
	uint8_t *at = *record ? (uint8_t *)*record + 8 : buffer;

	if (at >= buffer + 24 || at >= buffer + size)
		return walk_result;
	*record = (struct cupti_record *)(void *)at;
	return CUPTI_RC_SUCCESS;
}

static int32_t count_dropped(void *context, uint32_t stream, size_t *count)
{
	(void)context, (void)stream;
	*count = dropped;
	dropped = 0;
	return CUPTI_RC_SUCCESS;
}

static int32_t get_timestamp(uint64_t *time)
{
	*time = 5000000000u;
	return CUPTI_RC_SUCCESS;
}

static uint8_t *take(void)
{
	uint8_t *buffer;
	size_t size, limit;

	ky_buffer_requested(&buffer, &size, &limit);
	assert_int_equal(limit, 0);
	assert_true((buffer != NULL) == (size > 0));
	if (buffer)
		memset(buffer, 0x3c, 24); /* of a kind that is not known */
	return buffer;
}

static void give(uint8_t *buffer, size_t valid)
{
	ky_buffer_completed(NULL, 0, buffer, 1 << 20, valid);
}

static void vendors_are_told_when_all_buffers_are_out(void **state)
{
	uint8_t *first = take(), *second = take();

	(void)state;
	assert_non_null(first);
	assert_non_null(second);
	assert_null(take());
	assert_non_null(strstr(test_host.logged, "dropped"));
	give(first, 0);
	first = take();
	assert_non_null(first);
	give(first, 0);
	give(second, 0);
}

static void nothing_is_given_while_nothing_is_recorded(void **state)
{
	(void)state;
	atomic_store(&ky_source.is_attached, 0);
	assert_null(take());
}

static void a_buffer_of_another_session_is_counted_as_late(void **state)
{
	uint8_t *buffer = take();

	(void)state;
	test_host.buffer_epoch = 6;
	give(buffer, 24);
	assert_int_equal(test_host.lost[KYMO_LOST_LATE], 3);
	assert_int_equal(test_host.line_count, 0);
}

static void what_is_no_buffer_of_ours_is_left_alone(void **state)
{
	uint8_t strange[64] = {0};

	(void)state;
	give(strange, 24);
	give(NULL, 24);
	assert_int_equal(test_host.lost[KYMO_LOST_LATE], 0);
}

static void what_cupti_dropped_is_counted_as_the_vendors_loss(void **state)
{
	(void)state;
	dropped = 41;
	give(take(), 0);
	give(take(), 0);
	assert_int_equal(test_host.lost[KYMO_LOST_VENDOR], 41);
}

static void a_buffer_that_ends_in_rubbish_is_a_loss_of_at_least_one(void **state)
{
	(void)state;
	walk_result = CUPTI_RC_INVALID_KIND;
	give(take(), 24);
	assert_int_equal(test_host.lost[KYMO_LOST_VENDOR_AT_LEAST], 1);
	assert_non_null(strstr(test_host.logged, "no record"));
}

static void a_kind_that_is_not_known_is_told_once(void **state)
{
	(void)state;
	give(take(), 24);
	assert_non_null(strstr(test_host.logged, "kind 1010580540"));
	test_host.logged[0] = '\0';
	give(take(), 24);
	assert_string_equal(test_host.logged, "");
}

static int set_up(void **state)
{
	(void)state;
	test_host_begin();
	test_host.buffer_epoch = 7;
	walk_result = CUPTI_RC_MAX_LIMIT_REACHED;
	dropped = 0;
	ky_source.library.version = 130001;
	ky_source.library.ActivityGetNextRecord = next_record;
	ky_source.library.ActivityGetNumDroppedRecords = count_dropped;
	ky_source.library.GetTimestamp = get_timestamp;
	atomic_store(&ky_source.epoch, 7);
	atomic_store(&ky_source.is_attached, 1);
	ky_buffer_begin(2 << 20, 1, 5000000000u);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(vendors_are_told_when_all_buffers_are_out, set_up),
		cmocka_unit_test_setup(nothing_is_given_while_nothing_is_recorded,
				       set_up),
		cmocka_unit_test_setup(a_buffer_of_another_session_is_counted_as_late,
				       set_up),
		cmocka_unit_test_setup(what_is_no_buffer_of_ours_is_left_alone, set_up),
		cmocka_unit_test_setup(what_cupti_dropped_is_counted_as_the_vendors_loss,
				       set_up),
		cmocka_unit_test_setup(
			a_buffer_that_ends_in_rubbish_is_a_loss_of_at_least_one, set_up),
		cmocka_unit_test_setup(a_kind_that_is_not_known_is_told_once, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
