/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers and drains at exit, in children too. Not for the thread sanitizer, which does
 * not let a child of a process with threads start one of its own.
 */
#include "session/host.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"
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

struct ticker {
	uint32_t count;
	pthread_t thread;
	sigset_t mask;
};

static void tick(void *source, uint64_t now)
{
	struct ticker *ticker = source;

	assert_true(now != 0);
	ticker->thread = pthread_self();
	pthread_sigmask(SIG_BLOCK, NULL, &ticker->mask);
	__atomic_add_fetch(&ticker->count, 1, __ATOMIC_RELEASE);
}

static uint32_t ticks_of(struct ticker *ticker)
{
	return __atomic_load_n(&ticker->count, __ATOMIC_ACQUIRE);
}

static void sleep_ms(long milliseconds)
{
	const struct timespec time = {0, milliseconds * 1000000};

	nanosleep(&time, NULL);
}

static void wait_for_ticks(struct ticker *ticker, uint32_t count)
{
	for (int i = 0; i < 1000 && ticks_of(ticker) < count; i++)
		sleep_ms(5);
	assert_true(ticks_of(ticker) >= count);
}

static void wait_for_timer_thread_to_end(void)
{
	struct ky_session_page *page = ky_session_page();
	uint32_t runs = 1;

	for (int i = 0; i < 1000 && runs; i++) {
		sleep_ms(5);
		ky_lock(&page->timer_lock);
		runs = page->timer_runs;
		ky_unlock(&page->timer_lock);
	}
	assert_int_equal(runs, 0);
}

static void a_timer_ticks_in_its_own_thread_until_it_is_stopped(void **state)
{
	static struct ticker ticker;

	(void)state;
	assert_int_equal(table->timer(host, 1000000, tick, &ticker), KYMO_OK);
	wait_for_ticks(&ticker, 3);
	assert_false(pthread_equal(ticker.thread, pthread_self()));
	assert_int_equal(sigismember(&ticker.mask, SIGTERM), 1);
	assert_int_equal(sigismember(&ticker.mask, SIGPROF), 1);
	assert_int_equal(table->timer(host, 0, NULL, NULL), KYMO_OK);
	wait_for_timer_thread_to_end();
	/* And again, with a new thread. */
	ticker.count = 0;
	assert_int_equal(table->timer(host, 1000000, tick, &ticker), KYMO_OK);
	wait_for_ticks(&ticker, 1);
	assert_int_equal(table->timer(host, 0, NULL, NULL), KYMO_OK);
	wait_for_timer_thread_to_end();
}

static void a_timer_needs_a_tick_and_a_sane_period(void **state)
{
	(void)state;
	assert_int_equal(table->timer(host, 1000000, NULL, NULL), KYMO_ERROR_INVALID);
	assert_int_equal(table->timer(host, 1, tick, NULL), KYMO_ERROR_INVALID);
}

static int run_child(void (*child)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		child();
		exit(7);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static struct ticker parent_ticker;

static void find_no_timer(void)
{
	static struct ticker ticker;
	uint32_t before = ticks_of(&parent_ticker);

	if (ky_session_page()->timer_runs || ky_session_page()->timers[0].host)
		_exit(1);
	if (table->timer(host, 1000000, tick, &ticker) != KYMO_OK)
		_exit(2);
	for (int i = 0; i < 1000 && ticks_of(&ticker) < 2; i++)
		sleep_ms(5);
	_exit(ticks_of(&ticker) >= 2 && ticks_of(&parent_ticker) == before ? 0 : 3);
}

static void a_forked_child_has_no_timer_until_it_asks(void **state)
{
	(void)state;
	assert_int_equal(table->timer(host, 1000000, tick, &parent_ticker), KYMO_OK);
	wait_for_ticks(&parent_ticker, 1);
	assert_int_equal(run_child(find_no_timer), 0);
	assert_int_equal(table->timer(host, 0, NULL, NULL), KYMO_OK);
	wait_for_timer_thread_to_end();
}

static int exit_pipe[2];

static void drain(void *source, uint64_t deadline_ns)
{
	uint64_t now = ky_monotonic_ns();
	char ok = deadline_ns > now && deadline_ns - now <= 2000000000u ? 'y' : 'n';

	(void)source;
	if (write(exit_pipe[1], &ok, 1) != 1)
		_exit(1);
}

static char read_drained(void)
{
	char result = '-';

	close(exit_pipe[1]);
	if (read(exit_pipe[0], &result, 1) != 1)
		result = '-';
	close(exit_pipe[0]);
	return result;
}

static void record_and_ask(void)
{
	/* The child's own recording: it was wiped out of its parent's. */
	begin_recording();
	for (int i = 0; i < 2; i++)
		if (table->at_exit(host, drain, NULL) != KYMO_OK)
			_exit(1);
	if (table->at_exit(host, NULL, NULL) != KYMO_ERROR_INVALID)
		_exit(1);
}

static void a_drain_runs_once_at_exit_and_keeps_the_status(void **state)
{
	(void)state;
	assert_int_equal(pipe(exit_pipe), 0);
	assert_int_equal(run_child(record_and_ask), 7);
	assert_int_equal(read_drained(), 'y');
}

static void fork_and_leave(void)
{
	record_and_ask();
	if (fork() == 0)
		exit(0); /* with its parent's handler, but nothing to drain */
	_exit(wait(NULL) > 0 ? 7 : 1);
}

static void a_child_drains_nothing_that_it_did_not_ask_for(void **state)
{
	(void)state;
	assert_int_equal(pipe(exit_pipe), 0);
	assert_int_equal(run_child(fork_and_leave), 7);
	assert_int_equal(read_drained(), '-');
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
		TEST(a_timer_ticks_in_its_own_thread_until_it_is_stopped),
		TEST(a_timer_needs_a_tick_and_a_sane_period),
		TEST(a_forked_child_has_no_timer_until_it_asks),
		TEST(a_drain_runs_once_at_exit_and_keeps_the_status),
		TEST(a_child_drains_nothing_that_it_did_not_ask_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
