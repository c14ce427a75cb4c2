/* SPDX-License-Identifier: BSD-3-Clause */
/* Drains at exit, in children that really exit; a pipe carries what happened. */
#include "session/host.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "session/source.h"

#include "support/test.h"

#include "session/test_recording.h"

static const struct kymo_source_desc desc = {
	.struct_size = sizeof(desc),
	.name = "npu",
};

static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.name = "npu",
	.version = "1.0",
};

static const struct kymo_host *table;
static struct kymo_source_host *host;
static int exit_pipe[2];
static uint64_t first_deadline_ns;

static void tell(char what)
{
	if (write(exit_pipe[1], &what, 1) != 1)
		_exit(1);
}

/* `source` is the letter to tell; '!' for a deadline that cannot be. */
static void drain(void *source, uint64_t deadline_ns)
{
	uint64_t now = ky_monotonic_ns();

	if (first_deadline_ns == 0)
		first_deadline_ns = deadline_ns;
	if (deadline_ns != first_deadline_ns || deadline_ns <= now ||
	    deadline_ns - now > 2000000000u)
		tell('!');
	tell(*(const char *)source);
}

/* Waits a little longer than all may together. */
static void drain_too_long(void *source, uint64_t deadline_ns)
{
	const struct timespec time = {2, 50000000};

	(void)deadline_ns;
	nanosleep(&time, NULL);
	tell(*(const char *)source);
}

/* A driver's own handler. */
static void end_driver(void)
{
	tell('D');
}

static void ask(char *letter)
{
	if (table->at_exit(host, drain, letter) != KYMO_OK)
		_exit(1);
}

/* What the child tells until it has exited with `status`. */
static const char *tell_child(void (*child)(void), int status)
{
	static char told[128];
	size_t size = 0;
	ssize_t got;
	int result;
	pid_t pid;

	assert_int_equal(pipe(exit_pipe), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		/* The child's own recording: it was wiped out of its parent's. */
		begin_recording();
		child();
		exit(7);
	}
	close(exit_pipe[1]);
	while ((got = read(exit_pipe[0], told + size, sizeof(told) - 1 - size)) > 0)
		size += (size_t)got;
	told[size] = '\0';
	close(exit_pipe[0]);
	assert_int_equal(waitpid(pid, &result, 0), pid);
	assert_true(WIFEXITED(result));
	assert_int_equal(WEXITSTATUS(result), status);
	return told;
}

static void ask_for_one(void)
{
	ask("a");
	if (table->at_exit(host, NULL, NULL) != KYMO_ERROR_INVALID)
		_exit(1);
}

static void a_drain_runs_once_at_exit_and_keeps_the_status(void **state)
{
	(void)state;
	assert_string_equal(tell_child(ask_for_one, 7), "a");
}

static void ask_around_a_driver(void)
{
	ask("a");
	ask("b");
	atexit(end_driver);
	ask("c");
}

static void each_drain_has_its_place_among_the_handlers_of_others(void **state)
{
	(void)state;
	assert_string_equal(tell_child(ask_around_a_driver, 7), "cDba");
}

static void ask_and_stop(void)
{
	ask("a");
	end_recording();
}

static void nothing_is_drained_when_nothing_is_recorded(void **state)
{
	(void)state;
	assert_string_equal(tell_child(ask_and_stop, 7), "");
}

static void ask_for_too_long(void)
{
	ask("a");
	if (table->at_exit(host, drain_too_long, "b") != KYMO_OK)
		_exit(1);
}

static void all_drains_have_one_deadline(void **state)
{
	(void)state;
	assert_string_equal(tell_child(ask_for_too_long, 7), "b");
}

static void ask_for_many(void)
{
	for (uint32_t i = 0; i < KY_DRAINS_MAX; i++)
		ask("m");
	if (table->at_exit(host, drain, "x") != KYMO_ERROR_NO_MEMORY)
		_exit(1);
}

static void there_is_room_for_so_many_drains_only(void **state)
{
	char expected[KY_DRAINS_MAX + 1];

	(void)state;
	memset(expected, 'm', KY_DRAINS_MAX);
	expected[KY_DRAINS_MAX] = '\0';
	assert_string_equal(tell_child(ask_for_many, 7), expected);
}

static void fork_and_leave(void)
{
	ask("p");
	ask("q");
	if (fork() == 0)
		exit(0); /* with its parent's handlers, but nothing to drain */
	_exit(wait(NULL) > 0 ? 7 : 1);
}

static void fork_and_ask(void)
{
	ask("p");
	ask("q");
	if (fork() == 0) {
		begin_recording();
		ask("c");
		exit(0);
	}
	_exit(wait(NULL) > 0 ? 7 : 1);
}

static void a_child_has_only_the_drains_that_it_asked_for(void **state)
{
	(void)state;
	assert_string_equal(tell_child(fork_and_leave, 7), "");
	assert_string_equal(tell_child(fork_and_ask, 7), "c");
}

static int set_up(void **state)
{
	(void)state;
	begin_recording();
	table = ky_host_table();
	host = ky_host_create(&plugin, &desc, 1);
	return host ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	end_recording();
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_drain_runs_once_at_exit_and_keeps_the_status),
		TEST(each_drain_has_its_place_among_the_handlers_of_others),
		TEST(nothing_is_drained_when_nothing_is_recorded),
		TEST(all_drains_have_one_deadline),
		TEST(there_is_room_for_so_many_drains_only),
		TEST(a_child_has_only_the_drains_that_it_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
