/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/program.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

static struct ky_inheritance inheritance;

static int setup(void **state)
{
	sigset_t signals;

	(void)state;
	ky_inheritance_take(&inheritance, &signals);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ky_inheritance_give_back(&inheritance);
	return 0;
}

static int wait_status_of(struct ky_program *program)
{
	int status = -1;

	waitpid(program->pid, &status, 0);
	return status;
}

static void run_shell(const char *command, int *wait_status)
{
	char *const arguments[] = {"sh", "-c", (char *)(uintptr_t)command, NULL};
	char *const variables[] = {"GIVEN=7", NULL};
	struct ky_program program;

	assert_int_equal(
		ky_program_prepare(&program, arguments, variables, &inheritance, NULL),
		KYMO_OK);
	assert_int_equal(ky_program_start(&program), 0);
	*wait_status = wait_status_of(&program);
	ky_program_abandon(&program);
}

static void a_program_runs_with_the_environment_it_is_given(void **state)
{
	int status;

	(void)state;
	run_shell("exit $GIVEN", &status);
	assert_int_equal(ky_exit_status(status), 7);
}

static void a_signal_is_told_as_a_shell_tells_it(void **state)
{
	int status;

	(void)state;
	run_shell("kill -KILL $$", &status);
	assert_int_equal(ky_exit_status(status), 128 + SIGKILL);
	/* What the front blocks, the program does not. */
	run_shell("kill -TERM $$", &status);
	assert_int_equal(ky_exit_status(status), 128 + SIGTERM);
}

static void a_failed_exec_comes_back_as_its_errno(void **state)
{
	char *const arguments[] = {"/no/such/program", NULL};
	struct ky_program program;

	(void)state;
	assert_int_equal(
		ky_program_prepare(&program, arguments, environ, &inheritance, NULL),
		KYMO_OK);
	assert_int_equal(ky_program_start(&program), ENOENT);
	assert_int_equal(program.pid, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	ky_program_abandon(&program);
}

static void an_abandoned_program_never_ran(void **state)
{
	char *const arguments[] = {"sh", "-c", "kill -KILL $PPID", NULL};
	struct ky_program program;

	(void)state;
	assert_int_equal(
		ky_program_prepare(&program, arguments, environ, &inheritance, NULL),
		KYMO_OK);
	ky_program_abandon(&program);
	assert_int_equal(program.pid, 0);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void one_that_is_killed_before_it_starts_has_ended(void **state)
{
	char *const arguments[] = {"true", NULL};
	struct ky_program program;
	siginfo_t info;
	sigset_t broken;

	(void)state;
	assert_int_equal(
		ky_program_prepare(&program, arguments, environ, &inheritance, NULL),
		KYMO_OK);
	kill(program.pid, SIGKILL);
	waitid(P_PID, (id_t)program.pid, &info, WEXITED | WNOWAIT);
	assert_int_equal(ky_program_start(&program), 0);
	assert_int_equal(ky_exit_status(wait_status_of(&program)), 128 + SIGKILL);
	ky_program_abandon(&program);
	/* It waits, as all that the front reads. */
	sigemptyset(&broken);
	sigaddset(&broken, SIGPIPE);
	assert_int_equal(sigtimedwait(&broken, NULL, &(struct timespec){0}), SIGPIPE);
}

static void what_was_taken_is_given_back(void **state)
{
	struct ky_inheritance first, second;
	struct sigaction action, seen;
	sigset_t signals, mask;

	(void)state;
	action = (struct sigaction){.sa_handler = SIG_IGN};
	sigaction(SIGCHLD, &action, &seen);
	ky_inheritance_take(&first, &signals);
	sigaction(SIGCHLD, NULL, &action);
	assert_true(action.sa_handler == SIG_DFL);
	ky_inheritance_give_back(&first);
	sigaction(SIGCHLD, &seen, &action);
	assert_true(action.sa_handler == SIG_IGN);

	ky_inheritance_take(&second, &signals);
	ky_inheritance_give_back(&second);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	assert_int_equal(sigismember(&mask, SIGTERM), sigismember(&first.mask, SIGTERM));
	assert_int_equal(second.files.rlim_cur, first.files.rlim_cur);
}

static void *send_to_itself(void *number)
{
	sigset_t none;

	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	pthread_kill(pthread_self(), *(const int *)number);
	return NULL;
}

/* Whether a signal that another thread takes comes to this one. */
static int comes_here(int number)
{
	sigset_t signals;
	pthread_t thread;

	sigemptyset(&signals);
	sigaddset(&signals, number);
	pthread_create(&thread, NULL, send_to_itself, &number);
	pthread_join(thread, NULL);
	return sigtimedwait(&signals, NULL, &(struct timespec){0}) == number;
}

static void signals_that_other_threads_take_come_to_the_front(void **state)
{
	struct sigaction ignored = {.sa_handler = SIG_IGN}, was, seen;
	struct ky_inheritance taken;
	sigset_t signals;

	(void)state;
	sigaction(SIGHUP, &ignored, &was);
	ky_inheritance_take(&taken, &signals);
	assert_true(comes_here(SIGTERM));
	assert_true(comes_here(SIGPIPE));
	assert_false(comes_here(SIGHUP));
	ky_inheritance_give_back(&taken);
	sigaction(SIGTERM, NULL, &seen);
	assert_true(seen.sa_handler == SIG_DFL);
	sigaction(SIGHUP, &was, &seen);
	assert_true(seen.sa_handler == SIG_IGN);
}

static void arguments_are_joined_as_proc_has_them(void **state)
{
	char *arguments[] = {"a b", "", "c", NULL};
	size_t size = 0;
	char *joined = ky_program_join(arguments, &size);

	(void)state;
	assert_int_equal(size, 7);
	assert_memory_equal(joined, "a b\0\0c", 7);
	free(joined);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_are_joined_as_proc_has_them),
		cmocka_unit_test_setup_teardown(
			a_program_runs_with_the_environment_it_is_given, setup, teardown),
		cmocka_unit_test_setup_teardown(a_signal_is_told_as_a_shell_tells_it,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_failed_exec_comes_back_as_its_errno,
						setup, teardown),
		cmocka_unit_test_setup_teardown(an_abandoned_program_never_ran, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			one_that_is_killed_before_it_starts_has_ended, setup, teardown),
		cmocka_unit_test(what_was_taken_is_given_back),
		cmocka_unit_test(signals_that_other_threads_take_come_to_the_front),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
