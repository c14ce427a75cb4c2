/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers, in children too. Not for the thread sanitizer, which does
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

#include "support/test.h"

#include "session/test_host.h"

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
	for (int i = 0; i < 12000 && ticks_of(ticker) < count; i++)
		sleep_ms(5);
	assert_true(ticks_of(ticker) >= count);
}

static void wait_for_timer_thread_to_end(void)
{
	struct ky_session_page *page = ky_session_page();
	uint32_t runs = 1;

	for (int i = 0; i < 12000 && runs; i++) {
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
	assert_int_equal(sigismember(&ticker.mask, SIGSEGV), 0);
	assert_int_equal(sigismember(&ticker.mask, SIGSYS), 0);
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
	assert_int_equal(table->timer(host, INT64_MAX, tick, NULL), KYMO_ERROR_INVALID);
}

static void wait_for_no_ticks(struct ticker *ticker)
{
	uint32_t seen = ticks_of(ticker);

	sleep_ms(20);
	assert_int_equal(ticks_of(ticker), seen);
}

static void a_timer_ticks_only_while_it_is_open(void **state)
{
	static struct ticker ticker;

	(void)state;
	assert_true(ky_host_close_timer(host, ky_monotonic_ns() + 60000000000u));
	assert_int_equal(table->timer(host, 1000000, tick, &ticker), KYMO_OK);
	wait_for_no_ticks(&ticker);
	assert_int_equal(ticks_of(&ticker), 0);
	assert_int_equal(ky_host_open_timer(host), KYMO_OK);
	wait_for_ticks(&ticker, 2);
	assert_true(ky_host_close_timer(host, ky_monotonic_ns() + 60000000000u));
	wait_for_no_ticks(&ticker);
	wait_for_timer_thread_to_end();
	assert_int_equal(ky_host_open_timer(host), KYMO_OK);
	wait_for_ticks(&ticker, ticks_of(&ticker) + 2);
}

static void tick_once(void *source, uint64_t now)
{
	tick(source, now);
	assert_int_equal(table->timer(host, 0, NULL, NULL), KYMO_OK);
}

static void a_tick_may_end_its_own_timer(void **state)
{
	static struct ticker ticker;

	(void)state;
	assert_int_equal(table->timer(host, 1000000, tick_once, &ticker), KYMO_OK);
	wait_for_ticks(&ticker, 1);
	wait_for_timer_thread_to_end();
	assert_int_equal(ticks_of(&ticker), 1);
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
	if (table->timer(host, 1000000, tick, &ticker) != KYMO_OK ||
	    ky_host_open_timer(host) != KYMO_OK)
		_exit(2);
	for (int i = 0; i < 12000 && ticks_of(&ticker) < 2; i++)
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

static int set_up(void **state)
{
	return make_host(state) == 0 && ky_host_open_timer(host) == KYMO_OK ? 0 : -1;
}

static int tear_down(void **state)
{
	assert_true(ky_host_close_timer(host, ky_monotonic_ns() + 60000000000u));
	wait_for_timer_thread_to_end();
	return end_host(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_timer_ticks_in_its_own_thread_until_it_is_stopped),
		TEST(a_timer_ticks_only_while_it_is_open),
		TEST(a_tick_may_end_its_own_timer),
		TEST(a_timer_needs_a_tick_and_a_sane_period),
		TEST(a_forked_child_has_no_timer_until_it_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
