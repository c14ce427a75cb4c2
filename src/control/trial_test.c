/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything that code can do to a process, and what is told of it. */
#include "control/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/test.h"

#define NS_PER_MS 1000000u
#define SHORT_NS  (200 * NS_PER_MS)
#define LONG_NS   (20000 * (uint64_t)NS_PER_MS)

struct context {
	int value;
	pid_t left[3];
};

static struct ky_trial try(ky_trial_fn run, struct context *context, uint64_t limit_ns)
{
	struct ky_trial trial;
	struct kymo_error error = {0};

	if (ky_trial_run(run, context, sizeof(*context), limit_ns, &trial, &error))
		fail_msg("%s", error.message);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nobody is left to us */
	assert_int_equal(errno, ECHILD);
	return trial;
}

static void assert_ended(const struct ky_trial *trial, const char *how)
{
	char text[96];

	ky_trial_describe(trial, text, sizeof(text));
	assert_string_equal(text, how);
}

static void double_it(void *context)
{
	((struct context *)context)->value *= 2;
}

static void what_it_makes_of_the_context_comes_back(void **state)
{
	struct context context = {.value = 21};
	struct ky_trial trial = try(double_it, &context, LONG_NS);

	(void)state;
	assert_ended(&trial, "returned");
	assert_int_equal(context.value, 42);
	assert_int_equal(trial.left, 0);
	assert_string_equal(trial.said, "");
}

static void crash(void *context)
{
	((struct context *)context)->value = 1;
	raise(SIGSEGV);
}

static void a_crash_is_told_and_what_was_known_before_it(void **state)
{
	struct context context = {0};
	struct ky_trial trial = try(crash, &context, LONG_NS);

	(void)state;
	assert_ended(&trial, "crashed (SIGSEGV)");
	assert_int_equal(context.value, 1);
}

static void end_process(void *context)
{
	(void)context;
	exit(3);
}

static void ending_the_process_is_not_returning(void **state)
{
	struct context context = {0};
	struct ky_trial trial = try(end_process, &context, LONG_NS);

	(void)state;
	assert_ended(&trial, "ended its process with status 3");
}

static void hang(void *context)
{
	sigset_t all;

	(void)context;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (;;)
		pause();
}

static void what_hangs_is_ended_at_its_limit(void **state)
{
	const uint64_t begin_ns = ky_monotonic_ns();
	struct context context = {0};
	struct ky_trial trial = try(hang, &context, SHORT_NS);

	(void)state;
	assert_ended(&trial, "did not come to an end");
	assert_true(ky_monotonic_ns() - begin_ns >= SHORT_NS);
}

static void print(void *context)
{
	(void)context;
	printf("to the screen\n");
	fprintf(stderr, "and to the log\n");
	for (int i = 0; i < 100000; i++)
		printf("and much more\n");
}

static void what_it_prints_is_kept_from_the_screen(void **state)
{
	struct context context = {0};
	struct ky_trial trial = try(print, &context, LONG_NS);

	(void)state;
	assert_ended(&trial, "returned");
	assert_non_null(strstr(trial.said, "and to the log\n"));
	assert_non_null(strstr(trial.said, "to the screen\n"));
	assert_int_equal(strlen(trial.said), sizeof(trial.said) - 1);
}

static void leave_behind(void *context)
{
	struct context *out = context;

	for (int i = 0; i < 3; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			if (i > 0)
				setsid(); /* out of our group */
			for (;;)
				pause();
		}
		out->left[i] = pid;
	}
}

static void processes_left_behind_are_ended_and_counted(void **state)
{
	struct context context = {0};
	struct ky_trial trial = try(leave_behind, &context, LONG_NS);

	(void)state;
	assert_ended(&trial, "returned");
	assert_int_equal(trial.left, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(kill(context.left[i], 0), -1);
}

static void leave_a_printer(void *context)
{
	(void)context;
	if (fork() == 0)
		for (;;)
			(void)!write(STDOUT_FILENO, "y\n", 2);
	usleep(10000);
}

static void one_left_behind_that_prints_without_end_is_ended_too(void **state)
{
	const uint64_t begin_ns = ky_monotonic_ns();
	struct context context = {0};
	struct ky_trial trial = try(leave_a_printer, &context, LONG_NS);

	(void)state;
	assert_ended(&trial, "returned");
	assert_int_equal(trial.left, 1);
	assert_true(ky_monotonic_ns() - begin_ns < LONG_NS);
}

/* Both return; only the first one is the trial. */
static void come_back_twice(void *context)
{
	struct context *out = context;
	pid_t pid = fork();

	if (pid > 0) {
		waitpid(pid, NULL, 0);
		out->value = 7;
	}
}

static void a_copy_that_comes_back_too_is_no_outcome(void **state)
{
	struct context context = {0};
	struct ky_trial trial = try(come_back_twice, &context, LONG_NS);

	(void)state;
	assert_ended(&trial, "returned");
	assert_int_equal(context.value, 7);
	assert_int_equal(trial.left, 0);
}

static void look_around(void *context)
{
	struct context *out = context;

	out->value = read(STDIN_FILENO, out, 1) == 0 && getsid(0) == getpid() &&
		     fcntl(STDERR_FILENO + 1, F_GETFD) < 0;
}

static void it_has_no_terminal_and_nothing_of_ours(void **state)
{
	struct context context = {0};
	int fd = dup(STDOUT_FILENO);
	struct ky_trial trial = try(look_around, &context, LONG_NS);

	(void)state;
	close(fd);
	assert_ended(&trial, "returned");
	assert_int_equal(context.value, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_makes_of_the_context_comes_back),
		cmocka_unit_test(a_crash_is_told_and_what_was_known_before_it),
		cmocka_unit_test(ending_the_process_is_not_returning),
		cmocka_unit_test(what_hangs_is_ended_at_its_limit),
		cmocka_unit_test(what_it_prints_is_kept_from_the_screen),
		cmocka_unit_test(processes_left_behind_are_ended_and_counted),
		cmocka_unit_test(one_left_behind_that_prints_without_end_is_ended_too),
		cmocka_unit_test(a_copy_that_comes_back_too_is_no_outcome),
		cmocka_unit_test(it_has_no_terminal_and_nothing_of_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
