/* SPDX-License-Identifier: BSD-3-Clause */
/* What kymo_record_run and kymo_plugin_visit refuse; what they do, tests/cli shows. */
#include <kymo/control.h>

#include <string.h>
#include <unistd.h>

#include "support/test.h"

static char *const program[] = {"true", NULL};

static const struct kymo_record_options usable = {
	.struct_size = sizeof(usable),
	.output = "/tmp/kymo-record-test-%p.kymo",
	.arguments = program,
};

static int32_t run(const struct kymo_record_options *options)
{
	struct kymo_record_result result = {.struct_size = sizeof(result)};
	struct kymo_error error = {0};
	int32_t status = kymo_record_run(options, &result, &error);

	if (status) {
		assert_int_equal(error.status, status);
		assert_string_not_equal(error.message, "");
	}
	assert_int_equal(result.was_started, status == KYMO_OK);
	unlink(result.output);
	return status;
}

static void nothing_to_run_is_refused(void **state)
{
	struct kymo_record_options options = usable;
	struct kymo_record_result result = {.struct_size = sizeof(result)};
	char *const nothing[] = {NULL};

	(void)state;
	assert_int_equal(kymo_record_run(NULL, &result, NULL), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_record_run(&usable, NULL, NULL), KYMO_ERROR_INVALID);
	result.struct_size = 8;
	assert_int_equal(kymo_record_run(&usable, &result, NULL), KYMO_ERROR_INVALID);
	options.arguments = NULL;
	assert_int_equal(run(&options), KYMO_ERROR_INVALID);
	options.arguments = nothing;
	assert_int_equal(run(&options), KYMO_ERROR_INVALID);
	options = usable;
	options.struct_size = 8;
	assert_int_equal(run(&options), KYMO_ERROR_INVALID);
}

static void an_option_of_a_later_version_must_be_zero(void **state)
{
	struct {
		struct kymo_record_options options;
		uint64_t later;
	} longer = {.options = usable};

	(void)state;
	longer.options.struct_size = sizeof(longer);
	assert_int_equal(run(&longer.options), KYMO_OK);
	longer.later = 1;
	assert_int_equal(run(&longer.options), KYMO_ERROR_UNSUPPORTED);
}

static void an_unknown_way_of_waiting_is_refused(void **state)
{
	struct kymo_record_options options = usable;

	(void)state;
	options.wait = 7;
	assert_int_equal(run(&options), KYMO_ERROR_UNSUPPORTED);
}

static void a_program_that_is_not_there_gives_127(void **state)
{
	struct kymo_record_options options = usable;
	struct kymo_record_result result = {.struct_size = sizeof(result)};
	char *const missing[] = {"/no/such/program", NULL};

	(void)state;
	options.arguments = missing;
	assert_int_equal(kymo_record_run(&options, &result, NULL), KYMO_ERROR_NOT_FOUND);
	assert_int_equal(result.exit_status, 127);
	assert_int_equal(access(result.output, F_OK), -1);
}

static int32_t count_visit(void *context, const char *path,
			   const struct kymo_plugin *plugin)
{
	size_t *count = context;

	assert_non_null(path);
	(void)plugin;
	++*count;
	return KYMO_OK;
}

static void a_plugin_that_is_not_there_cannot_be_visited(void **state)
{
	static const char *const paths[] = {"/no/such.so", NULL};
	static const char *const names[] = {"no-such-source", NULL};
	static const char *const nobody[] = {NULL};
	struct kymo_error error = {0};
	size_t count = 0;

	(void)state;
	assert_int_equal(kymo_plugin_visit(paths, count_visit, &count, &error),
			 KYMO_ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "/no/such.so"));
	assert_int_equal(kymo_plugin_visit(names, count_visit, &count, &error),
			 KYMO_ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "no-such-source"));
	assert_int_equal(kymo_plugin_visit(names, count_visit, &count, NULL),
			 KYMO_ERROR_NOT_FOUND);
	assert_int_equal(kymo_plugin_visit(nobody, count_visit, &count, &error), KYMO_OK);
	assert_int_equal(kymo_plugin_visit(NULL, NULL, &count, &error),
			 KYMO_ERROR_INVALID);
	assert_int_equal(count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_to_run_is_refused),
		cmocka_unit_test(an_option_of_a_later_version_must_be_zero),
		cmocka_unit_test(an_unknown_way_of_waiting_is_refused),
		cmocka_unit_test(a_program_that_is_not_there_gives_127),
		cmocka_unit_test(a_plugin_that_is_not_there_cannot_be_visited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
