/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fork_guard.h"

static int is_tested, is_inside, may_leave, has_forked;
static void (*inside)(void);

int __cxa_atexit(void (*handler)(void *), void *data, void *object);

static int load(const int *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void store(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static void call(void *handler)
{
	((void (*)(void))(uintptr_t)handler)();
}

/* In the place of libc's: a thread can be in there for as long as the test likes. */
int atexit(void (*handler)(void))
{
	/* Of a sanitizer's own, before and after. */
	if (!load(&is_tested))
		return __cxa_atexit(call, (void *)(uintptr_t)handler, NULL);
	store(&is_inside, 1);
	if (inside)
		inside();
	while (!load(&may_leave))
		usleep(1000);
	return 0;
}

static void nothing(void)
{
}

/* The child can register, whatever threads of its parent did; true if it has. */
static int fork_a_child_that_registers(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		alarm(20);
		inside = NULL;
		store(&may_leave, 1);
		_exit(ky_at_exit(nothing));
	}
	store(&has_forked, 1);
	return waitpid(pid, &status, 0) == pid && status == 0;
}

static void *run_register(void *data)
{
	(void)data;
	return ky_at_exit(nothing) == 0 ? &is_inside : NULL;
}

static void *run_fork(void *data)
{
	(void)data;
	return fork_a_child_that_registers() ? &has_forked : NULL;
}

static void a_fork_waits_while_a_thread_registers(void **state)
{
	pthread_t registers, forks;
	void *done = NULL;

	(void)state;
	assert_int_equal(pthread_create(&registers, NULL, run_register, NULL), 0);
	while (!load(&is_inside))
		usleep(1000);
	assert_int_equal(pthread_create(&forks, NULL, run_fork, NULL), 0);
	usleep(50000);
	assert_int_equal(load(&has_forked), 0);
	store(&may_leave, 1);
	pthread_join(registers, &done);
	assert_non_null(done);
	pthread_join(forks, &done);
	assert_non_null(done);
	assert_int_equal(load(&has_forked), 1);
}

static void fork_inside(void)
{
	inside = NULL;
	assert_true(fork_a_child_that_registers());
}

/* As from a signal handler. */
static void a_thread_that_forks_while_it_registers_does_not_wait_for_itself(void **state)
{
	(void)state;
	inside = fork_inside;
	assert_int_equal(ky_at_exit(nothing), 0);
	inside = NULL;
	assert_int_equal(ky_at_exit(nothing), 0);
	assert_true(fork_a_child_that_registers());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fork_waits_while_a_thread_registers),
		cmocka_unit_test(
			a_thread_that_forks_while_it_registers_does_not_wait_for_itself),
	};

	int failed;

	store(&is_tested, 1);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	store(&is_tested, 0);
	return failed;
}
