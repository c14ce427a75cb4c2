/* SPDX-License-Identifier: BSD-3-Clause */
/* Plug-ins in a program that nobody records, and sessions, where memory is limited. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kymo/session.h>

#include "link_source.h"
#include "support/test.h"

#define STEP ((rlim_t)8 << 20)
#define MOST ((rlim_t)4 << 30)

static int32_t attach(const struct kymo_plugin *plugin, struct kymo_error *error)
{
	const struct kymo_host *host = NULL;

	return kymo_agent_attach_v1(plugin, &host, error);
}

/* What is left to the program is `left` bytes of private memory. */
static void leave(rlim_t left)
{
	struct rlimit limit;
	uint64_t pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*s %*s %*s %*s %*s %" SCNu64, &pages), 1);
	fclose(file);
	assert_int_equal(getrlimit(RLIMIT_DATA, &limit), 0);
	limit.rlim_cur = pages * (rlim_t)sysconf(_SC_PAGESIZE) + left;
	assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
}

static void what_is_reserved_for_one_plugin_serves_all(void **state)
{
	static struct kymo_plugin second;
	struct kymo_error error = {0};
	rlim_t left = STEP;

	(void)state;
	leave(left);
	assert_int_equal(attach(&link_plugin, &error), KYMO_ERROR_NO_MEMORY);
	assert_non_null(strstr(error.message, "private memory is limited to"));
	while (left < MOST && attach(&link_plugin, NULL) != KYMO_OK)
		leave(left += STEP);
	assert_true(left < MOST);
	second = link_plugin;
	assert_int_equal(attach(&second, NULL), KYMO_OK);
	assert_int_equal(attach(&link_plugin, NULL), KYMO_OK);
}

/* Of all that a session needs one thing after the other has room. */
static int every_refusal_is_of_memory(void)
{
	struct kymo_session *session = NULL;
	struct kymo_error error = {0};
	rlim_t left = STEP;

	if (kymo_session_create(&session, NULL, NULL) != KYMO_OK)
		return 1;
	for (leave(left); kymo_session_prepare(session, &error) != KYMO_OK;
	     leave(left += STEP))
		if (left >= MOST || strstr(error.message, "a larger buffer_size"))
			return 2;
	kymo_session_destroy(session);
	return 0;
}

static void a_session_without_memory_is_refused_for_that(void **state)
{
	const pid_t child = fork();
	int result;

	(void)state;
	if (child == 0)
		_exit(every_refusal_is_of_memory());
	assert_int_equal(waitpid(child, &result, 0), child);
	assert_int_equal(result, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_without_memory_is_refused_for_that),
		cmocka_unit_test(what_is_reserved_for_one_plugin_serves_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
