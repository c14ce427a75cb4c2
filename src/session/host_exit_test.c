/* SPDX-License-Identifier: BSD-3-Clause */
/* Drains at exit, in children that really exit; a pipe carries what happened. */
#include "session/host.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "session/source.h"

#include "support/test.h"

#include "session/test_recording.h"

static const struct kymo_host *table;
static struct kymo_source_host *host;
static int exit_pipe[2];
static uint64_t first_deadline_ns;
static int holds_pause; /* its operation does not return */
static int is_in_pause;

static void tell(char what)
{
	if (write(exit_pipe[1], &what, 1) != 1)
		_exit(1);
}

/* ---- The source ---- */

static int32_t create(const struct kymo_host *its_table,
		      struct kymo_source_host *its_host,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	(void)numbers, (void)source, (void)error;
	table = its_table;
	host = its_host;
	return KYMO_OK;
}

static int32_t start(void *source, struct kymo_error *error)
{
	(void)source, (void)error;
	return KYMO_OK;
}

static void set_paused(void *source, uint32_t paused)
{
	(void)source, (void)paused;
	__atomic_store_n(&is_in_pause, 1, __ATOMIC_SEQ_CST);
	usleep(20000);
	while (__atomic_load_n(&holds_pause, __ATOMIC_SEQ_CST))
		usleep(1000);
	__atomic_store_n(&is_in_pause, 0, __ATOMIC_SEQ_CST);
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	return KYMO_OK;
}

static const struct kymo_source_ops ops = {
	.struct_size = sizeof(ops),
	.create = create,
	.start = start,
	.set_paused = set_paused,
	.stop = stop,
};

static const struct kymo_source_desc desc = {
	.struct_size = sizeof(desc),
	.name = "npu",
	.ops = &ops,
};

static const struct kymo_source_desc *const sources[] = {&desc, NULL};

static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.name = "npu",
	.version = "1.0",
	.license = "MIT",
	.sources = sources,
};

static void begin(void)
{
	begin_recording();
	ky_sources_begin("", ky_gate_epoch(), 0);
}

/* ---- Drains ---- */

/*
 * `source` is the letter to tell; '!' before it for a deadline that cannot be, or when
 * the source is in another operation.
 */
static void drain(void *source, uint64_t deadline_ns)
{
	uint64_t now = ky_monotonic_ns();

	if (first_deadline_ns == 0)
		first_deadline_ns = deadline_ns;
	if (__atomic_load_n(&is_in_pause, __ATOMIC_SEQ_CST) ||
	    deadline_ns != first_deadline_ns || deadline_ns <= now ||
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

/* What the child tells until it has exited. */
static const char *tell_child(void (*child)(void))
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
		begin();
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
	assert_int_equal(WEXITSTATUS(result), 7);
	return told;
}

/* All drains have 2 s: less, where the machine stands still in them. */
static void assert_told(void (*child)(void), const char *wanted)
{
	const char *told = tell_child(child);

	for (int i = 0; i < 4 && strcmp(told, wanted) != 0; i++)
		told = tell_child(child);
	assert_string_equal(told, wanted);
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
	assert_told(ask_for_one, "a");
}

static void ask_again(void)
{
	static char letters[] = "ab";

	ask(&letters[0]);
	ask(&letters[1]);
	ask(&letters[0]);
}

static void the_same_drain_again_changes_nothing(void **state)
{
	(void)state;
	assert_told(ask_again, "ba");
}

static void *pause_sources(void *context)
{
	(void)context;
	ky_sources_pause(1, 0);
	return NULL;
}

static void pause_meanwhile(void)
{
	pthread_t thread;

	ask("a");
	pthread_create(&thread, NULL, pause_sources, NULL);
	pthread_detach(thread);
	while (!__atomic_load_n(&is_in_pause, __ATOMIC_SEQ_CST))
		usleep(100);
}

static void hang_meanwhile(void)
{
	holds_pause = 1;
	pause_meanwhile();
}

static void a_drain_waits_until_nobody_is_in_the_source(void **state)
{
	(void)state;
	assert_told(pause_meanwhile, "a");
	assert_told(hang_meanwhile, "");
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
	assert_told(ask_around_a_driver, "cDba");
}

static void ask_and_stop(void)
{
	ask("a");
	ky_gate_close();
}

static void nothing_is_drained_when_nothing_is_recorded(void **state)
{
	(void)state;
	assert_told(ask_and_stop, "");
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
	assert_told(ask_for_too_long, "b");
}

static void ask_for_many(void)
{
	static char letters[KY_DRAINS_MAX];

	memset(letters, 'm', sizeof(letters));
	for (uint32_t i = 0; i < KY_DRAINS_MAX; i++)
		ask(&letters[i]);
	ask(&letters[1]); /* there already */
	if (table->at_exit(host, drain, "x") != KYMO_ERROR_NO_MEMORY)
		_exit(1);
}

static void there_is_room_for_so_many_drains_only(void **state)
{
	char expected[KY_DRAINS_MAX + 1];

	(void)state;
	memset(expected, 'm', KY_DRAINS_MAX);
	expected[KY_DRAINS_MAX] = '\0';
	assert_told(ask_for_many, expected);
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
		begin();
		ask("c");
		exit(0);
	}
	_exit(wait(NULL) > 0 ? 7 : 1);
}

static void a_child_has_only_the_drains_that_it_asked_for(void **state)
{
	(void)state;
	assert_told(fork_and_leave, "");
	assert_told(fork_and_ask, "c");
}

static int set_up(void **state)
{
	(void)state;
	if (ky_sources_add(&plugin, NULL) != KYMO_OK)
		return -1;
	begin();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	ky_sources_end(ky_monotonic_ns() + 60000000000u);
	end_recording();
	wait_for_threads();
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_drain_runs_once_at_exit_and_keeps_the_status),
		TEST(the_same_drain_again_changes_nothing),
		TEST(a_drain_waits_until_nobody_is_in_the_source),
		TEST(each_drain_has_its_place_among_the_handlers_of_others),
		TEST(nothing_is_drained_when_nothing_is_recorded),
		TEST(all_drains_have_one_deadline),
		TEST(there_is_room_for_so_many_drains_only),
		TEST(a_child_has_only_the_drains_that_it_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
