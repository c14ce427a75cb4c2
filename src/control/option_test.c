/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/option.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"

static const struct kymo_option_desc level_desc = {
	.struct_size = sizeof(level_desc),
	.value_type = KYMO_VALUE_STRING,
	.name = "level",
};

static const struct kymo_option_desc *const options[] = {&level_desc, NULL};

static int check_count;

static int32_t check(const struct kymo_host *host, struct kymo_source_host *self,
		     struct kymo_error *error)
{
	struct kymo_str text;

	check_count++;
	if (host->option(self, "level", &text) != KYMO_OK || !text.data)
		return KYMO_ERROR_INVALID;
	if (strcmp(text.data, "crash") == 0)
		raise(SIGSEGV);
	if (strcmp(text.data, "mute") == 0)
		return KYMO_ERROR_INVALID;
	if (strcmp(text.data, "low") == 0)
		return KYMO_OK;
	snprintf(error->message, sizeof(error->message), "level=%s: it has to be low",
		 text.data);
	return KYMO_ERROR_INVALID;
}

static const struct kymo_source_ops checking = {
	.struct_size = sizeof(checking),
	.check = check,
};

static const struct kymo_source_ops unchecking = {.struct_size = sizeof(unchecking)};

/* As it was before there was a check. */
static const struct kymo_source_ops old = {
	.struct_size = offsetof(struct kymo_source_ops, check),
	.check = check,
};

static const char *text_of(void *context, const char *name)
{
	return strcmp(name, "level") == 0 ? context : NULL;
}

static int32_t try_level(const struct kymo_source_ops *ops, const char *level,
			 struct kymo_error *error)
{
	const struct kymo_source_desc source = {
		.struct_size = sizeof(source),
		.name = "npu",
		.options = options,
		.ops = ops,
	};
	char text[16];

	snprintf(text, sizeof(text), "%s", level);
	return ky_option_try(&source, text_of, text, error);
}

static void a_source_that_takes_its_options_is_content(void **state)
{
	(void)state;
	assert_int_equal(try_level(&checking, "low", NULL), KYMO_OK);
}

static void what_a_source_refuses_is_said_with_its_name_and_reason(void **state)
{
	struct kymo_error error = {0};

	(void)state;
	assert_int_equal(try_level(&checking, "high", &error), KYMO_ERROR_CONFIG);
	assert_string_equal(error.message,
			    "source \"npu\": level=high: it has to be low");
	assert_int_equal(try_level(&checking, "mute", &error), KYMO_ERROR_CONFIG);
	assert_string_equal(error.message, "source \"npu\": invalid argument");
}

static void a_check_that_crashes_harms_nobody_else(void **state)
{
	struct kymo_error error = {0};

	(void)state;
	assert_int_equal(try_level(&checking, "crash", &error), KYMO_ERROR_PLUGIN);
	assert_string_equal(error.message, "source \"npu\": it crashed (SIGSEGV) when it "
					   "looked at its options");
	assert_int_equal(check_count, 0); /* not here */
}

static void a_source_without_a_check_takes_what_there_is(void **state)
{
	(void)state;
	assert_int_equal(try_level(&unchecking, "high", NULL), KYMO_OK);
	assert_int_equal(try_level(&old, "high", NULL), KYMO_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_source_that_takes_its_options_is_content),
		cmocka_unit_test(what_a_source_refuses_is_said_with_its_name_and_reason),
		cmocka_unit_test(a_check_that_crashes_harms_nobody_else),
		cmocka_unit_test(a_source_without_a_check_takes_what_there_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
