/* SPDX-License-Identifier: BSD-3-Clause */
/* What a plug-in is told in a program where there is no agent. */
#include <kymo/inject.h>

#include <sys/auxv.h>
#include <sys/stat.h>

#include "support/set_uid.h"
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

/* Whatever whoever has started it has set: an agent would run with its privilege. */
static void a_set_uid_process_takes_no_agent_from_its_environment(void **state)
{
	char folder[] = "/tmp/kymo-inject-XXXXXX", said[1024] = "";
	int is_run;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(setenv("KYMO_AGENT", "/nowhere/libkymo.so", 1), 0);
	is_run = run_set_uid(folder, "--inject", said, sizeof(said));
	rmdir(folder);
	if (!is_run || !strstr(said, "privileged 1"))
		skip_because("not root, or no set-uid in /tmp");
	if (!strstr(said, "KYMO_AGENT is not set"))
		fail_msg("%s", said);
}

/* The set-uid copy of this program. */
static int inject(void)
{
	struct kymo_error error = {0};
	const struct kymo_host *host;

	kymo_inject(&plugin, &host, &error);
	printf("privileged %lu: %s\n", getauxval(AT_SECURE), error.message);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_wrong_with_the_agents_path_is_said),
		cmocka_unit_test(a_set_uid_process_takes_no_agent_from_its_environment),
	};

	if (argc > 1 && strcmp(argv[1], "--inject") == 0)
		return inject();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
