/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/environment.h"

#include <string.h>

#include "support/test.h"

#define PATH "/opt/kymo/x.so"

static char *const original[] = {"A=1", "EMPTY=", "LIST=a:b", "A=2", "ODD", NULL};

static int setup_copy(void **state)
{
	static struct ky_environment environment;

	*state = &environment;
	return ky_environment_create(&environment, original, NULL);
}

static int teardown_copy(void **state)
{
	ky_environment_destroy(*state);
	return 0;
}

static void a_copy_has_everything_as_it_was(void **state)
{
	const struct ky_environment *environment = *state;

	for (size_t i = 0; original[i]; i++)
		assert_string_equal(environment->variables[i], original[i]);
	assert_null(environment->variables[environment->count]);
	assert_string_equal(ky_environment_get(environment, "A"), "1");
	assert_string_equal(ky_environment_get(environment, "EMPTY"), "");
	assert_null(ky_environment_get(environment, "ODD"));
	assert_null(ky_environment_get(environment, "LIS"));
	assert_null(ky_environment_get(environment, "NONE"));
}

static void setting_replaces_all_of_the_name_and_nothing_else(void **state)
{
	struct ky_environment *environment = *state;

	assert_int_equal(ky_environment_set(environment, "A", "x=y", NULL), KYMO_OK);
	assert_string_equal(ky_environment_get(environment, "A"), "x=y");
	assert_int_equal(environment->count, 4);
	assert_string_equal(environment->variables[0], "EMPTY=");
	assert_string_equal(environment->variables[2], "ODD");
	assert_null(environment->variables[4]);
}

struct injection_case {
	uint32_t how;
	const char *variable, *separator, *value, *expected;
};

static void injections_do_what_they_say(void **state)
{
	static const struct injection_case cases[] = {
		{KYMO_INJECT_SET, "NEW", NULL, "{plugin}", PATH},
		{KYMO_INJECT_SET, "LIST", NULL, "1", "1"},
		{KYMO_INJECT_SET, "NEW", NULL, "a={plugin}, b={plugin}",
		 "a=" PATH ", b=" PATH},
		{KYMO_INJECT_SET, "NEW", NULL, "{plug}{", "{plug}{"},
		{KYMO_INJECT_PREPEND, "LIST", ":", "{plugin}", PATH ":a:b"},
		{KYMO_INJECT_PREPEND, "LIST", NULL, "{plugin}", PATH ":a:b"},
		{KYMO_INJECT_APPEND, "LIST", "", "{plugin}", "a:b:" PATH},
		{KYMO_INJECT_APPEND, "LIST", ", ", "{plugin}", "a:b, " PATH},
		{KYMO_INJECT_PREPEND, "EMPTY", ":", "{plugin}", PATH},
		{KYMO_INJECT_APPEND, "NEW", ":", "{plugin}", PATH},
		{KYMO_INJECT_APPEND, "LIST", ":", "a", "a:b"},
		{KYMO_INJECT_PREPEND, "LIST", ":", "b", "a:b"},
		{KYMO_INJECT_APPEND, "LIST", ":", "", "a:b:"},
		{KYMO_INJECT_KEEP, "LIST", NULL, "{plugin}", "a:b"},
		{KYMO_INJECT_KEEP, "EMPTY", NULL, "{plugin}", ""},
		{KYMO_INJECT_KEEP, "NEW", NULL, "{plugin}", PATH},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct kymo_injection_desc injection = {
			.struct_size = sizeof(injection),
			.how = cases[i].how,
			.variable = cases[i].variable,
			.separator = cases[i].separator,
			.value = cases[i].value,
		};
		struct ky_environment environment;

		assert_int_equal(ky_environment_create(&environment, original, NULL),
				 KYMO_OK);
		assert_int_equal(
			ky_environment_inject(&environment, &injection, PATH, NULL, NULL),
			KYMO_OK);
		assert_string_equal(ky_environment_get(&environment, cases[i].variable),
				    cases[i].expected);
		ky_environment_destroy(&environment);
	}
}

static void a_path_with_the_separator_cannot_stand_in_a_list(void **state)
{
	const struct kymo_injection_desc injection = {
		.struct_size = sizeof(injection),
		.how = KYMO_INJECT_PREPEND,
		.variable = "LIST",
		.separator = ":",
		.value = "{plugin}",
	};
	struct kymo_error error;

	assert_int_equal(
		ky_environment_inject(*state, &injection, "/a:b/x.so", NULL, &error),
		KYMO_ERROR_INVALID);
	assert_non_null(strstr(error.message, "LIST"));
	assert_string_equal(ky_environment_get(*state, "LIST"), "a:b");
}

static void what_the_loader_would_take_for_two_is_not_preloaded(void **state)
{
	const struct kymo_injection_desc plugin = {
		.struct_size = sizeof(plugin),
		.how = KYMO_INJECT_PREPEND,
		.variable = "LD_PRELOAD",
		.separator = ":",
		.value = "{plugin}",
	};
	const struct kymo_injection_desc option = {
		.struct_size = sizeof(option),
		.how = KYMO_INJECT_PREPEND,
		.variable = "LD_PRELOAD",
		.value = "{option}",
		.option = "preload",
	};
	struct kymo_error error;

	assert_int_equal(
		ky_environment_inject(*state, &plugin, "/a b/x.so", NULL, &error),
		KYMO_ERROR_INVALID);
	assert_non_null(strstr(error.message, "/a b/x.so"));
	for (const char *const *text = (const char *const[]){"a:b.so", "a b.so", NULL};
	     *text; text++) {
		assert_int_equal(
			ky_environment_inject(*state, &option, PATH, *text, &error),
			KYMO_ERROR_INVALID);
		assert_non_null(strstr(error.message, *text));
	}
	assert_null(ky_environment_get(*state, "LD_PRELOAD"));
	assert_int_equal(
		ky_environment_inject(*state, &option, "/a b/x.so", "b.so", &error),
		KYMO_OK);
	assert_string_equal(ky_environment_get(*state, "LD_PRELOAD"), "b.so");
}

static void an_option_is_injected_where_it_is_set(void **state)
{
	const struct kymo_injection_desc injection = {
		.struct_size = sizeof(injection),
		.how = KYMO_INJECT_PREPEND,
		.variable = "LIST",
		.value = "{option}",
		.option = "preload",
	};

	assert_int_equal(ky_environment_inject(*state, &injection, PATH, NULL, NULL),
			 KYMO_OK);
	assert_int_equal(ky_environment_inject(*state, &injection, PATH, "", NULL),
			 KYMO_OK);
	assert_string_equal(ky_environment_get(*state, "LIST"), "a:b");
	assert_int_equal(
		ky_environment_inject(*state, &injection, "/a:b/x.so", "{plugin}", NULL),
		KYMO_OK);
	assert_string_equal(ky_environment_get(*state, "LIST"), "{plugin}:a:b");
}

static void an_option_that_is_a_path_must_be_there(void **state)
{
	const struct kymo_injection_desc injection = {
		.struct_size = sizeof(injection),
		.how = KYMO_INJECT_SET,
		.variable = "NEW",
		.value = "{option}",
		.option = "preload",
	};
	struct kymo_error error;

	assert_int_equal(
		ky_environment_inject(*state, &injection, PATH, "/nowhere/x.so", &error),
		KYMO_ERROR_CONFIG);
	assert_non_null(strstr(error.message, "preload"));
	assert_non_null(strstr(error.message, "/nowhere/x.so"));
	assert_null(ky_environment_get(*state, "NEW"));
}

static void an_older_injection_has_no_option(void **state)
{
	const struct kymo_injection_desc injection = {
		.struct_size = offsetof(struct kymo_injection_desc, option),
		.how = KYMO_INJECT_SET,
		.variable = "NEW",
		.value = "{option}",
		.option = "not there",
	};

	assert_int_equal(ky_environment_inject(*state, &injection, PATH, NULL, NULL),
			 KYMO_OK);
	assert_string_equal(ky_environment_get(*state, "NEW"), "{option}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_copy_has_everything_as_it_was,
						setup_copy, teardown_copy),
		cmocka_unit_test_setup_teardown(
			setting_replaces_all_of_the_name_and_nothing_else, setup_copy,
			teardown_copy),
		cmocka_unit_test(injections_do_what_they_say),
		cmocka_unit_test_setup_teardown(
			a_path_with_the_separator_cannot_stand_in_a_list, setup_copy,
			teardown_copy),
		cmocka_unit_test_setup_teardown(
			what_the_loader_would_take_for_two_is_not_preloaded, setup_copy,
			teardown_copy),
		cmocka_unit_test_setup_teardown(an_option_is_injected_where_it_is_set,
						setup_copy, teardown_copy),
		cmocka_unit_test_setup_teardown(an_option_that_is_a_path_must_be_there,
						setup_copy, teardown_copy),
		cmocka_unit_test_setup_teardown(an_older_injection_has_no_option,
						setup_copy, teardown_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
