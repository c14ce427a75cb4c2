/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/stream.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/test.h"

static char path[64];
static struct ky_spool *spool;

static int set_up(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "/tmp/kymo-stream-test-%d", (int)getpid());
	return ky_spool_create(&spool, path, &(struct ky_spool_session){0}, NULL);
}

static int tear_down(void **state)
{
	(void)state;
	ky_spool_close(spool);
	unlink(path);
	return 0;
}

static void it_ends_at_its_limit_and_says_when(void **state)
{
	struct ky_stream stream;
	struct ky_capture_header header = {0};
	struct ky_capture capture = {.header = &header};

	(void)state;
	ky_stream_open(&stream, spool, ky_spool_size(spool) + 1);
	assert_true(ky_stream_goes_on(&stream));
	ky_stream_mark(&stream, &capture);
	assert_int_equal(header.stream_stopped, KY_STREAM_GOES_ON);

	ky_stream_open(&stream, spool, ky_spool_size(spool));
	assert_false(ky_stream_goes_on(&stream));
	ky_stream_mark(&stream, &capture);
	assert_int_equal(header.stream_stopped, KY_STREAM_LIMIT);
	assert_true(header.stream_stopped_ns > 0);
}

static void half_of_the_free_space_is_the_limit_unless_one_is_given(void **state)
{
	struct ky_stream stream;
	uint64_t total, available;

	(void)state;
	assert_int_equal(ky_spool_disk(spool, &total, &available), 0);
	ky_stream_open(&stream, spool, 0);
	assert_true(stream.limit > available / 4);
	assert_true(stream.limit < available);
}

static void it_ends_where_the_disk_has_less_than_the_reserve(void **state)
{
	struct ky_stream stream;

	(void)state;
	ky_stream_open(&stream, spool, 0);
	assert_true(stream.reserve > 0);
	stream.reserve = UINT64_MAX;
	assert_false(ky_stream_goes_on(&stream));
	assert_int_equal(stream.stopped, KY_STREAM_SPACE);

	ky_stream_open(&stream, spool, 0);
	stream.held = UINT64_MAX / 2;
	assert_false(ky_stream_goes_on(&stream));
}

static void a_buffer_that_the_disk_has_no_room_for_is_refused(void **state)
{
	uint64_t total, available;
	struct kymo_error error = {0};
	struct ky_stream stream;

	(void)state;
	assert_int_equal(ky_spool_disk(spool, &total, &available), 0);
	ky_stream_open(&stream, spool, 0);
	assert_int_equal(ky_stream_check_room(&stream, total + KY_BUDGET_DEFAULT, &error),
			 KYMO_ERROR_INVALID);
	assert_non_null(strstr(error.message, "smaller"));
	stream.reserve = UINT64_MAX;
	assert_int_equal(ky_stream_check_room(&stream, KY_BUDGET_DEFAULT + 1, NULL),
			 KYMO_ERROR_INVALID);
	assert_int_equal(ky_stream_check_room(&stream, KY_BUDGET_DEFAULT, NULL), KYMO_OK);
	stream.reserve = 0; /* nobody can tell */
	assert_int_equal(ky_stream_check_room(&stream, UINT64_MAX, NULL), KYMO_OK);
}

static void the_first_reason_holds(void **state)
{
	struct ky_stream stream;

	(void)state;
	ky_stream_open(&stream, spool, 0);
	ky_stream_stop(&stream, KY_STREAM_FAILED);
	ky_stream_stop(&stream, KY_STREAM_SPACE);
	assert_int_equal(stream.stopped, KY_STREAM_FAILED);
	assert_false(ky_stream_goes_on(&stream));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(it_ends_at_its_limit_and_says_when,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			half_of_the_free_space_is_the_limit_unless_one_is_given, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			it_ends_where_the_disk_has_less_than_the_reserve, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			a_buffer_that_the_disk_has_no_room_for_is_refused, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(the_first_reason_holds, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
