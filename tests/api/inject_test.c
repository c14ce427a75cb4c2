/* SPDX-License-Identifier: BSD-3-Clause */
/* What a plug-in is told in a program where there is no agent. */
#include <kymo/inject.h>

#include "support/test.h"

static const struct kymo_plugin plugin = {.struct_size = sizeof(plugin), .name = "npu"};

static void what_is_wrong_with_the_agents_path_is_said(void **state)
{
	static const struct {
		const char *path, *said;
	} rows[] = {
		{NULL, "KYMO_AGENT is not set"},
		{"", "KYMO_AGENT is not an absolute path"},
		{"libkymo.so", "KYMO_AGENT is not an absolute path"},
		{"/nowhere/libkymo.so", "/nowhere/libkymo.so"},
	};
	const struct kymo_host *host = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct kymo_error error = {0};

		if (rows[i].path)
			setenv("KYMO_AGENT", rows[i].path, 1);
		else
			unsetenv("KYMO_AGENT");
		assert_int_equal(kymo_inject(&plugin, &host, &error),
				 KYMO_ERROR_NOT_FOUND);
		assert_non_null(strstr(error.message, rows[i].said));
		assert_null(host);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_wrong_with_the_agents_path_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
