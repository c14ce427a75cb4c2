/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log.h"

#include <errno.h>
#include <stdio.h>

#include "support/test.h"

static struct {
	uint32_t severity, count;
	char message[512];
} heard;

static void hear(void *context, uint32_t severity, const char *message)
{
	assert_ptr_equal(context, &heard);
	heard.severity = severity;
	heard.count++;
	snprintf(heard.message, sizeof(heard.message), "%s", message);
	errno = EIO;
	ky_log(KYMO_SEVERITY_DEBUG + 9, "%s", ""); /* it may log itself, once removed */
}

static void hear_once(void *context, uint32_t severity, const char *message)
{
	kymo_log_to(NULL, NULL);
	hear(context, severity, message);
}

static void the_callback_hears_what_is_said_and_errno_is_kept(void **state)
{
	(void)state;
	ky_log(KYMO_SEVERITY_ERROR, "nobody hears %d", 1);
	kymo_log_to(hear_once, &heard);
	errno = ENOENT;
	ky_log(KYMO_SEVERITY_WARNING, "type \"%s\"", "x");
	assert_int_equal(errno, ENOENT);
	assert_int_equal(heard.count, 1);
	assert_int_equal(heard.severity, KYMO_SEVERITY_WARNING);
	assert_string_equal(heard.message, "type \"x\"");
	ky_log(KYMO_SEVERITY_WARNING, "again");
	assert_int_equal(heard.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_callback_hears_what_is_said_and_errno_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
