/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

static void a_message_is_set_and_wrapped_from_the_inside_out(void **state)
{
	struct kymo_error error;

	(void)state;
	assert_int_equal(
		ky_error_set(&error, KYMO_ERROR_VERSION, "major %d, host has %d", 2, 1),
		KYMO_ERROR_VERSION);
	assert_int_equal(ky_error_wrap(&error, "cannot load \"%s\"", "x.so"),
			 KYMO_ERROR_VERSION);
	assert_string_equal(error.message, "cannot load \"x.so\": major 2, host has 1");
	assert_int_equal(error.status, KYMO_ERROR_VERSION);
}

static void an_errno_becomes_a_status_and_a_text(void **state)
{
	struct kymo_error error;

	(void)state;
	assert_int_equal(ky_error_set_errno(&error, EACCES, "cannot open \"%s\"", "/x"),
			 KYMO_ERROR_PERMISSION);
	assert_string_equal(error.message, "cannot open \"/x\": Permission denied");
	assert_int_equal(ky_status_from_errno(ENOSPC), KYMO_ERROR_IO);
	assert_int_equal(ky_status_from_errno(0), KYMO_OK);
	assert_int_equal(ky_error_no_memory(&error), KYMO_ERROR_NO_MEMORY);
	assert_string_equal(error.message, "no memory left");
}

static void a_long_message_is_cut_and_terminated(void **state)
{
	struct kymo_error error;
	char text[2000];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	ky_error_set(&error, KYMO_ERROR_IO, "%s", text);
	assert_int_equal(strlen(error.message), sizeof(error.message) - 1);
	ky_error_wrap(&error, "context");
	assert_int_equal(strlen(error.message), sizeof(error.message) - 1);
	assert_memory_equal(error.message, "context: xxx", 12);
}

static void nobody_has_to_take_the_message(void **state)
{
	(void)state;
	assert_int_equal(ky_error_set(NULL, KYMO_ERROR_IO, "x"), KYMO_ERROR_IO);
	assert_int_equal(ky_error_set_errno(NULL, ENOENT, "x"), KYMO_ERROR_NOT_FOUND);
	assert_int_equal(ky_error_no_memory(NULL), KYMO_ERROR_NO_MEMORY);
	ky_error_wrap(NULL, "x");
}

static void every_status_has_a_text_of_its_own(void **state)
{
	(void)state;
	for (int32_t a = KYMO_ERROR_CANCELLED; a <= KYMO_AGAIN; a++) {
		assert_string_not_equal(kymo_status_text(a), kymo_status_text(99));
		for (int32_t b = a + 1; b <= KYMO_AGAIN; b++)
			assert_string_not_equal(kymo_status_text(a), kymo_status_text(b));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_is_set_and_wrapped_from_the_inside_out),
		cmocka_unit_test(an_errno_becomes_a_status_and_a_text),
		cmocka_unit_test(a_long_message_is_cut_and_terminated),
		cmocka_unit_test(nobody_has_to_take_the_message),
		cmocka_unit_test(every_status_has_a_text_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
