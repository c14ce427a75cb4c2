/* SPDX-License-Identifier: BSD-3-Clause */
/* What kymo_recorder_run and kymo_plugin_visit refuse; what they do, tests/cli shows. */
#include <kymo/control.h>

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

static char *const program[] = {"true", NULL};

static const struct kymo_recorder_options usable = {
	.struct_size = sizeof(usable),
	.output = "/tmp/kymo-record-test-%p.kymo",
	.arguments = program,
};

static int32_t run(const struct kymo_recorder_options *options)
{
	struct kymo_recorder_result result = {.struct_size = sizeof(result)};
	struct kymo_error error = {0};
	int32_t status = kymo_recorder_run(options, &result, NULL, &error);

	if (status) {
		assert_int_equal(error.status, status);
		assert_string_not_equal(error.message, "");
	}
	assert_int_equal(result.was_started, status == KYMO_OK);
	unlink(result.output);
	return status;
}

static void nothing_to_run_is_refused(void **state)
{
	struct kymo_recorder_options options = usable;
	struct kymo_recorder_result result = {.struct_size = sizeof(result)};
	char *const nothing[] = {NULL};

	(void)state;
	assert_int_equal(kymo_recorder_run(NULL, &result, NULL, NULL),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_recorder_run(&usable, NULL, NULL, NULL),
			 KYMO_ERROR_INVALID);
	result.struct_size = 0;
	assert_int_equal(kymo_recorder_run(&usable, &result, NULL, NULL),
			 KYMO_ERROR_INVALID);
	options.arguments = NULL;
	assert_int_equal(run(&options), KYMO_ERROR_INVALID);
	options.arguments = nothing;
	assert_int_equal(run(&options), KYMO_ERROR_INVALID);
	options = usable;
	options.struct_size = 8;
	assert_int_equal(run(&options), KYMO_ERROR_INVALID);
}

static void a_bad_list_of_types_is_refused_before_the_program_runs(void **state)
{
	struct kymo_recorder_options options = usable;

	(void)state;
	options.types = "kernle";
	assert_int_equal(run(&options), KYMO_ERROR_CONFIG);
	options.types = "app:of_the_program,kernel,-all";
	assert_int_equal(run(&options), KYMO_OK);
}

static void an_option_of_a_later_version_must_be_zero(void **state)
{
	struct {
		struct kymo_recorder_options options;
		uint64_t later;
	} longer = {.options = usable};

	(void)state;
	longer.options.struct_size = sizeof(longer);
	assert_int_equal(run(&longer.options), KYMO_OK);
	longer.later = 1;
	assert_int_equal(run(&longer.options), KYMO_ERROR_UNSUPPORTED);
}

/* Of the time when there were neither notices nor overflow policies, nor texts. */
static void an_older_program_is_served_as_far_as_its_structs_reach(void **state)
{
	struct kymo_recorder_options options = usable;
	struct kymo_recorder_result result = {
		.struct_size = offsetof(struct kymo_recorder_result, capture),
	};
	struct kymo_summary summary = {
		.struct_size = offsetof(struct kymo_summary, events),
	};

	(void)state;
	options.struct_size = offsetof(struct kymo_recorder_options, notice);
	options.overflow = 77; /* not theirs */
	result.capture[0] = 'x';
	summary.bytes = 1;
	assert_int_equal(kymo_recorder_run(&options, &result, &summary, NULL), KYMO_OK);
	assert_int_equal(result.struct_size,
			 offsetof(struct kymo_recorder_result, capture));
	assert_int_equal(result.exit_status, 0);
	assert_int_equal(access(result.output, F_OK), 0);
	assert_int_equal(result.capture[0], 'x');
	assert_int_equal(result.was_started, 0);
	assert_int_equal(summary.bytes, 1);
	unlink(result.output);
}

static void an_unknown_way_of_waiting_is_refused(void **state)
{
	struct kymo_recorder_options options = usable;

	(void)state;
	options.wait = 7;
	assert_int_equal(run(&options), KYMO_ERROR_UNSUPPORTED);
}

/* As of a session that records ranges, which cannot be paused. */
static void orders_are_not_taken_where_ranges_decide(void **state)
{
	struct kymo_recorder_options options = usable;

	(void)state;
	options.capture_range = "mark:step";
	assert_int_equal(run(&options), KYMO_OK);
	options.controlled = 1;
	assert_int_equal(run(&options), KYMO_ERROR_INVALID);
}

static void a_program_that_is_not_there_gives_127(void **state)
{
	struct kymo_recorder_options options = usable;
	struct kymo_recorder_result result = {.struct_size = sizeof(result)};
	char *const missing[] = {"/no/such/program", NULL};

	(void)state;
	options.arguments = missing;
	assert_int_equal(kymo_recorder_run(&options, &result, NULL, NULL),
			 KYMO_ERROR_NOT_FOUND);
	assert_int_equal(result.exit_status, 127);
	assert_int_equal(access(result.output, F_OK), -1);
}

static int32_t count_visit(void *context, const char *path,
			   const struct kymo_plugin *plugin)
{
	size_t *count = context;

	assert_non_null(path);
	(void)plugin;
	++*count;
	return KYMO_OK;
}

static void a_plugin_that_is_not_there_cannot_be_visited(void **state)
{
	static const char *const paths[] = {"/no/such.so", NULL};
	static const char *const names[] = {"no-such-source", NULL};
	static const char *const nobody[] = {NULL};
	struct kymo_error error = {0};
	size_t count = 0;

	(void)state;
	assert_int_equal(kymo_plugin_visit(paths, count_visit, &count, &error),
			 KYMO_ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "/no/such.so"));
	assert_int_equal(kymo_plugin_visit(names, count_visit, &count, &error),
			 KYMO_ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "no-such-source"));
	assert_int_equal(kymo_plugin_visit(names, count_visit, &count, NULL),
			 KYMO_ERROR_NOT_FOUND);
	assert_int_equal(kymo_plugin_visit(nobody, count_visit, &count, &error), KYMO_OK);
	assert_int_equal(kymo_plugin_visit(NULL, NULL, &count, &error),
			 KYMO_ERROR_INVALID);
	assert_int_equal(count, 0);
}

static int is_over;

/* Signals of the process go to it as well as to the thread that records. */
static void *sleep_beside(void *data)
{
	(void)data;
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
		usleep(1000);
	return NULL;
}

/* As a program's handler of SIGCHLD may do it. */
static void *wait_for_any_child(void *data)
{
	(void)data;
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
		if (waitpid(-1, NULL, WNOHANG) <= 0)
			usleep(100);
	return NULL;
}

static void run_beside(void *(*other)(void *), int32_t other_status)
{
	char *const arguments[] = {"sh", "-c", "exit 3", NULL};
	struct kymo_recorder_options options = usable;
	struct kymo_recorder_result result = {.struct_size = sizeof(result)};
	pthread_t thread;

	options.arguments = arguments;
	__atomic_store_n(&is_over, 0, __ATOMIC_RELAXED);
	assert_int_equal(pthread_create(&thread, NULL, other, NULL), 0);
	alarm(60);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(kymo_recorder_run(&options, &result, NULL, NULL),
				 KYMO_OK);
		unlink(result.output);
		if (result.exit_status != other_status)
			assert_int_equal(result.exit_status, 3);
	}
	alarm(0);
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

static void the_end_of_a_program_is_seen_whoever_gets_the_signal(void **state)
{
	(void)state;
	run_beside(sleep_beside, 3);
	run_beside(wait_for_any_child, 125);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_to_run_is_refused),
		cmocka_unit_test(a_bad_list_of_types_is_refused_before_the_program_runs),
		cmocka_unit_test(an_option_of_a_later_version_must_be_zero),
		cmocka_unit_test(an_older_program_is_served_as_far_as_its_structs_reach),
		cmocka_unit_test(an_unknown_way_of_waiting_is_refused),
		cmocka_unit_test(orders_are_not_taken_where_ranges_decide),
		cmocka_unit_test(a_program_that_is_not_there_gives_127),
		cmocka_unit_test(a_plugin_that_is_not_there_cannot_be_visited),
		cmocka_unit_test(the_end_of_a_program_is_seen_whoever_gets_the_signal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
