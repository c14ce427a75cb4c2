/* SPDX-License-Identifier: BSD-3-Clause */
/* Bad plug-ins, each refused with the reason; KYMO_TEST_PLUGINS is where they lie. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kymo/kymo.h>

#include "support/test.h"

static const struct {
	const char *file;
	int32_t status;
	const char *says;
} cases[] = {
	{"no_entry", KYMO_ERROR_UNSUPPORTED, "does not export kymo_plugin_entry_v1"},
	{"newer_entry", KYMO_ERROR_VERSION, "plug-in ABI 2, this Kymo has 1.0"},
	{"other_major", KYMO_ERROR_VERSION, "plug-in ABI 7.3, this Kymo has 1.0"},
	{"no_table", KYMO_ERROR_PLUGIN, "the entry gave no table"},
	{"no_stop", KYMO_ERROR_PLUGIN,
	 "source 1: \"bad\": the operation \"stop\" is missing"},
	{"bad_name", KYMO_ERROR_PLUGIN, "source 1: the name \"bad name\""},
	{"missing_symbol", KYMO_ERROR_PLUGIN, "undefined symbol: bad_symbol_of_nobody"},
	{"short_plugin", KYMO_ERROR_PLUGIN,
	 "struct_size is 16, but kymo_plugin has at least 48 bytes"},
	{"short_source", KYMO_ERROR_PLUGIN,
	 "source 1: struct_size is 24, but kymo_source_desc has at least 80 bytes"},
	{"short_type", KYMO_ERROR_PLUGIN,
	 "type 1: struct_size is 8, but kymo_type_desc has at least 40 bytes"},
};

static const char *path_of(const char *file)
{
	static char path[PATH_MAX];
	const char *folder = getenv("KYMO_TEST_PLUGINS");

	assert_non_null(folder);
	snprintf(path, sizeof(path), "%s/bad_%s.so", folder, file);
	return path;
}

/* Starts a session with the plug-in; the session is stopped again if that succeeds. */
static int32_t try(const char *path, struct kymo_error *error)
{
	const char *const sources[] = {path, NULL};
	struct kymo_session *session;
	int32_t status;

	assert_int_equal(kymo_session_create(&session,
					     KYMO_SESSION_OPTIONS(.sources = sources),
					     error),
			 KYMO_OK);
	status = kymo_session_start(session, error);
	kymo_session_destroy(session);
	return status;
}

static void every_bad_plugin_is_refused_with_its_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *path = path_of(cases[i].file);
		struct kymo_error error = {0};

		assert_int_equal(try(path, &error), cases[i].status);
		if (!strstr(error.message, cases[i].says) || !strstr(error.message, path))
			fail_msg("\"%s\" does not say \"%s\" of %s", error.message,
				 cases[i].says, path);
		/* It is no better the second time. */
		assert_int_equal(try(path, &error), cases[i].status);
	}
}

static void a_good_plugin_is_taken_every_time(void **state)
{
	struct kymo_error error = {0};

	(void)state;
	for (int i = 0; i < 3; i++)
		if (try(path_of("nothing"), &error) != KYMO_OK)
			fail_msg("%s", error.message);
}

static void a_source_that_fails_does_not_stop_the_session(void **state)
{
	struct kymo_error error = {0};

	(void)state;
	assert_int_equal(try(path_of("fails_to_create"), &error), KYMO_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_bad_plugin_is_refused_with_its_reason),
		cmocka_unit_test(a_good_plugin_is_taken_every_time),
		cmocka_unit_test(a_source_that_fails_does_not_stop_the_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
