/* SPDX-License-Identifier: BSD-3-Clause */
/* A keeper that never says a word, and a front that cannot hear one. */
#include "control/custody.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/test.h"

static uint64_t patience_ns = 100000000;
static int is_mute;      /* whether the next child does nothing */
static int deaf_fd = -1; /* what the parent loses when it makes one */

static void fall_silent(void)
{
	while (is_mute)
		pause();
}

static void go_deaf(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (deaf_fd >= 0)
		dup2(fd, deaf_fd);
	close(fd);
}

static int32_t open_custody(struct ky_custody *custody, struct ky_loop *loop,
			    const char *const *outputs, struct kymo_error *error)
{
	assert_int_equal(ky_loop_open(loop, error), KYMO_OK);
	*custody = (struct ky_custody){
		.loop = loop,
		.keeper_setup = {.outputs = outputs, .recorder = getpid(), .wanted = ""},
		.capture_setup = {.budget = 4u << 20, .ticks = ky_clock_choose()},
		.patience_ns = patience_ns,
	};
	custody->keeper_setup.command_line = KYMO_STR("program");
	return ky_custody_open(custody, error);
}

/* No process and no file is left of it. */
static void check_nothing_is_left(struct ky_custody *custody, struct ky_loop *loop,
				  const char *folder)
{
	ky_custody_abandon(custody);
	ky_custody_close(custody);
	ky_loop_close(loop);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(rmdir(folder), 0);
}

static void make_output(char *folder, char *output)
{
	strcpy(folder, "/tmp/kymo-custody-XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(output, PATH_MAX, "%s/t.kymo", folder);
}

static void a_keeper_that_never_says_a_word_is_given_up(void **state)
{
	char folder[64], output[PATH_MAX];
	const char *const outputs[] = {output, NULL};
	struct kymo_error error = {0};
	struct ky_custody custody;
	struct ky_loop loop;

	(void)state;
	make_output(folder, output);
	is_mute = 1;
	assert_int_equal(open_custody(&custody, &loop, outputs, &error), KYMO_ERROR_IO);
	is_mute = 0;
	assert_non_null(strstr(error.message, "has not begun"));
	assert_non_null(strstr(error.message, output));
	check_nothing_is_left(&custody, &loop, folder);
}

static void a_front_that_cannot_hear_its_keeper_says_so_and_ends(void **state)
{
	char folder[64], output[PATH_MAX];
	const char *const outputs[] = {output, NULL};
	struct kymo_error error = {0};
	struct ky_custody custody;
	struct ky_loop loop;
	int probe = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	make_output(folder, output);
	deaf_fd = probe; /* the number that the loop will have */
	close(probe);
	assert_int_not_equal(open_custody(&custody, &loop, outputs, &error), KYMO_OK);
	assert_int_equal(loop.epoll_fd, deaf_fd);
	deaf_fd = -1;
	assert_non_null(strstr(error.message, "cannot watch the keeper"));
	check_nothing_is_left(&custody, &loop, folder);
}

static uint64_t obeyed_numbers[2];
static size_t obeyed_count;

static void note_obeyed(void *owner, uint64_t number, uint32_t not_count)
{
	(void)owner;
	assert_int_equal(not_count, 0);
	assert_in_range(obeyed_count, 0, 1);
	obeyed_numbers[obeyed_count++] = number;
}

static void what_is_told_as_obeyed_is_told_of_its_command(void **state)
{
	char folder[64], output[PATH_MAX];
	const char *const outputs[] = {output, NULL};
	struct kymo_error error = {0};
	struct ky_custody custody;
	struct ky_loop loop;
	uint64_t first, second;

	(void)state;
	make_output(folder, output);
	patience_ns = 0;
	if (open_custody(&custody, &loop, outputs, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	custody.obeyed = note_obeyed;
	/* The second before anything is heard of the first. */
	first = ky_custody_command(&custody, KY_COMMAND_REST);
	second = ky_custody_command(&custody, KY_COMMAND_REST);
	while (obeyed_count == 0 || obeyed_numbers[obeyed_count - 1] != second)
		assert_true(ky_loop_step(&loop, -1) >= 0);
	assert_true(first < second);
	if (obeyed_count == 2)
		assert_int_equal(obeyed_numbers[0], first);
	check_nothing_is_left(&custody, &loop, folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_keeper_that_never_says_a_word_is_given_up),
		cmocka_unit_test(a_front_that_cannot_hear_its_keeper_says_so_and_ends),
		cmocka_unit_test(what_is_told_as_obeyed_is_told_of_its_command),
	};

	pthread_atfork(NULL, go_deaf, fall_silent);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
