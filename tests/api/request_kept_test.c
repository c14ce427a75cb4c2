/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests whose trace cannot be written: what they recorded is kept, as a capture. */
#define _GNU_SOURCE /* mkdtemp */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kymo/kymo.h>
#include <kymo/timeline.h>

#include "folder.h"
#include "memory_sink.h"
#include "requests.h"
#include "support/test.h"

#define MARKS 5

/* ---- A sink that fails at its end ---- */

static int32_t open_broken(struct kymo_str path, const struct kymo_sink_options *options,
			   void **sink, struct kymo_error *error)
{
	(void)path, (void)options, (void)sink, (void)error;
	return KYMO_OK;
}

static int32_t begin_broken(void *sink, const struct kymo_trace_header *header,
			    struct kymo_error *error)
{
	(void)sink, (void)header, (void)error;
	return KYMO_OK;
}

static int32_t take_batch(void *sink, const struct kymo_trace_event *const *events,
			  size_t count, struct kymo_error *error)
{
	(void)sink, (void)events, (void)count, (void)error;
	return KYMO_OK;
}

static int32_t end_broken(void *sink, const struct kymo_trace_end *end,
			  struct kymo_sink_result *result, struct kymo_error *error)
{
	(void)sink, (void)end, (void)result;
	snprintf(error->message, sizeof(error->message), "it is broken");
	return error->status = KYMO_ERROR_IO;
}

static void do_nothing(void *sink)
{
	(void)sink;
}

static const struct kymo_sink_ops broken_ops = {
	.struct_size = sizeof(broken_ops),
	.open = open_broken,
	.begin = begin_broken,
	.batch = take_batch,
	.end = end_broken,
	.abort = do_nothing,
	.close = do_nothing,
};

static char told_destination[PATH_MAX];
static uint32_t told_count;

static void note_destination(void *context, const struct kymo_stage *stage)
{
	(void)context;
	if (stage->stage != KYMO_STAGE_POST_PROCESSING)
		return;
	snprintf(told_destination, sizeof(told_destination), "%s", stage->destination);
	__atomic_fetch_add(&told_count, 1, __ATOMIC_RELEASE);
}

static const struct kymo_observer_ops observer = {.struct_size = sizeof(observer),
						  .stage = note_destination};

/* The files of the tests and the temporary ones are apart. */
static char temporary[PATH_MAX];

static int set_up(void **state)
{
	if (make_folder(state) != 0 ||
	    kymo_sink_register("broken", &broken_ops, NULL) != KYMO_OK ||
	    kymo_observer_register(&observer, NULL, NULL) != KYMO_OK)
		return -1;
	snprintf(temporary, sizeof(temporary), "%s", in_folder("temporary"));
	return mkdir(temporary, 0700) != 0 || setenv("TMPDIR", temporary, 1) != 0;
}

static int tear_down(void **state)
{
	return rmdir(temporary) != 0 ? -1 : remove_folder(state);
}

/* A request that records so many marks, is under way and ends with the next iteration. */
static uint64_t record(const char *path, uint64_t marks)
{
	uint64_t id;

	kymo_session_step();
	id = submit(REQUEST(.iterations = 1, .path = path));
	kymo_session_step();
	for (uint64_t i = 0; i < marks; i++)
		mark(i);
	return id;
}

/* `removed` is the folder of `path`, empty and gone when it is to be saved, or NULL. */
static struct kymo_request_status fail_to_save(const char *path, const char *removed,
					       uint64_t marks)
{
	const uint64_t id = record(path, marks);
	struct kymo_request_status status;

	if (removed)
		assert_int_equal(rmdir(removed), 0);
	kymo_session_step();
	status = wait_for_end(id);
	assert_int_equal(status.state, KYMO_REQUEST_FAILED);
	return status;
}

static void assert_marks(const char *capture, uint64_t count)
{
	struct memory_sink sink = read_back(capture);

	assert_int_equal(sink.ledger.spans, count);
	assert_int_equal(sink.ledger.cut_captures, 0);
	memory_free(&sink);
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void what_a_sink_cannot_write_stays_beside_the_target(void **state)
{
	char target[PATH_MAX + 16];
	struct kymo_request_status status;
	char begin[PATH_MAX];

	(void)state;
	snprintf(target, sizeof(target), "broken://%s", in_folder("x"));
	snprintf(begin, sizeof(begin), "%s", in_folder(".x.kymo-"));
	told_count = 0;
	status = fail_to_save(target, NULL, MARKS);
	assert_non_null(strstr(status.reason, "it is broken"));
	assert_non_null(strstr(status.reason, "the capture is kept: kymo export "));
	assert_non_null(strstr(status.reason, status.path));
	assert_memory_equal(status.path, begin, strlen(begin));
	while (__atomic_load_n(&told_count, __ATOMIC_ACQUIRE) == 0)
		usleep(200);
	assert_string_equal(told_destination, status.path);
	assert_marks(status.path, MARKS);
}

/* The path stands in it twice, and together they are longer than a reason. */
static void a_reason_that_is_too_long_tells_where_it_is_all_the_same(void **state)
{
	static const char end[] = " -o FILE";
	char long_name[210] = "", target[PATH_MAX + 16];
	struct kymo_request_status status;

	(void)state;
	memset(long_name, 'x', sizeof(long_name) - 1);
	snprintf(target, sizeof(target), "broken://%s", in_folder(long_name));
	status = fail_to_save(target, NULL, MARKS);
	assert_memory_equal(status.reason, "cannot save", strlen("cannot save"));
	assert_non_null(strstr(status.reason, status.path));
	assert_string_equal(status.reason + strlen(status.reason) - strlen(end), end);
	assert_marks(status.path, MARKS);
}

static void without_the_folder_it_is_kept_among_the_temporary_files(void **state)
{
	static const char *const names[] = {"gone/x.json", "gone/x.kymo"};
	char gone[PATH_MAX];

	(void)state;
	snprintf(gone, sizeof(gone), "%s", in_folder("gone"));
	for (size_t i = 0; i < 2; i++) {
		struct kymo_request_status status;

		assert_int_equal(mkdir(gone, 0700), 0);
		status = fail_to_save(in_folder(names[i]), gone, MARKS);
		assert_non_null(strstr(status.reason, names[i]));
		assert_memory_equal(status.path, temporary, strlen(temporary));
		assert_marks(status.path, MARKS);
	}
}

static void a_target_that_somebody_has_made_meanwhile_is_left_as_it_is(void **state)
{
	char path[PATH_MAX];
	struct kymo_request_status status;
	struct stat found;
	uint64_t id;

	(void)state;
	snprintf(path, sizeof(path), "%s", in_folder("theirs.kymo"));
	id = record(path, 1);
	write_file(path, "");
	kymo_session_step();
	status = wait_for_end(id);
	assert_int_equal(status.state, KYMO_REQUEST_FAILED);
	assert_memory_equal(status.path, folder, strlen(folder));
	assert_marks(status.path, 1);
	assert_int_equal(stat(path, &found), 0);
	assert_int_equal(found.st_size, 0);
	unlink(path);
}

static void of_several_that_fail_the_last_is_kept(void **state)
{
	static const char *const names[] = {"a", "b", "b"};
	char target[PATH_MAX + 16], before[PATH_MAX] = "";
	struct kymo_request_status status;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		snprintf(target, sizeof(target), "broken://%s", in_folder(names[i]));
		status = fail_to_save(target, NULL, i + 1);
		assert_string_not_equal(status.path, before);
		/* With the folder of temporary files. */
		assert_int_equal(count_files(), 2);
		snprintf(before, sizeof(before), "%s", status.path);
	}
	assert_marks(status.path, 3);
	/* Where its owner has taken it, the next may have its name. */
	status = fail_to_save(target, NULL, 4);
	assert_marks(status.path, 4);
	status = fail_to_save(target, NULL, 5);
	assert_marks(status.path, 5);
}

static void where_the_temporary_folder_is_of_no_use_either_it_is_kept_in_tmp(void **state)
{
	static const char begin[] = "/tmp/.x.json.kymo-";
	struct kymo_request_status status;
	char gone[PATH_MAX];

	(void)state;
	snprintf(gone, sizeof(gone), "%s", in_folder("gone"));
	assert_int_equal(mkdir(gone, 0700), 0);
	setenv("TMPDIR", "/no/such/folder", 1);
	status = fail_to_save(in_folder("gone/x.json"), gone, MARKS);
	setenv("TMPDIR", temporary, 1);
	assert_memory_equal(status.path, begin, sizeof(begin) - 1);
	assert_marks(status.path, MARKS);
	unlink(status.path);
}

/* Two that fail, and what becomes of the first one's capture in between. */
static void fail_twice(void (*meanwhile)(const char *kept), char *first)
{
	char target[PATH_MAX + 16];
	struct kymo_request_status status;

	snprintf(target, sizeof(target), "broken://%s", in_folder("a"));
	status = fail_to_save(target, NULL, 1);
	snprintf(first, PATH_MAX, "%s", status.path);
	meanwhile(first);
	snprintf(target, sizeof(target), "broken://%s", in_folder("b"));
	status = fail_to_save(target, NULL, 2);
	assert_marks(status.path, 2);
}

static void put_another_there(const char *kept)
{
	assert_int_equal(unlink(kept), 0);
	write_file(kept, "theirs");
}

static void take_in_hand(const char *kept)
{
	assert_int_equal(chmod(kept, 0644), 0);
}

static void what_is_not_as_it_was_kept_is_not_removed(void **state)
{
	char first[PATH_MAX];
	struct stat found;

	(void)state;
	fail_twice(put_another_there, first);
	assert_int_equal(stat(first, &found), 0);
	assert_int_equal(found.st_size, strlen("theirs"));
	assert_int_equal(unlink(first), 0);
	fail_twice(take_in_hand, first);
	assert_marks(first, 1);
}

/* One that an earlier process of this number has left; the first has no number. */
static const char *left_before(int number)
{
	char name[64];

	if (number == 1)
		snprintf(name, sizeof(name), ".x.kymo.kymo-%d", (int)getpid());
	else
		snprintf(name, sizeof(name), ".x.kymo.kymo-%d-%d", (int)getpid(), number);
	return in_folder(name);
}

/* As in a container, where a program that is run again has the same number. */
static void those_that_others_of_its_number_have_left_are_in_nobodys_way(void **state)
{
	uint64_t id;

	(void)state;
	for (int i = 1; i <= 100; i++)
		write_file(left_before(i), "theirs");
	id = record(in_folder("x.kymo"), MARKS);
	kymo_session_step();
	assert_int_equal(wait_for_end(id).state, KYMO_REQUEST_DONE);
	assert_marks(in_folder("x.kymo"), MARKS);
	for (int i = 1; i <= 100; i++)
		assert_int_equal(unlink(left_before(i)), 0);
}

static void one_that_can_be_kept_nowhere_says_so_and_leaves_the_last(void **state)
{
	struct rlimit limit = {0, RLIM_INFINITY};
	struct kymo_request_status kept, lost;
	char target[PATH_MAX + 16];

	(void)state;
	snprintf(target, sizeof(target), "broken://%s", in_folder("x"));
	kept = fail_to_save(target, NULL, MARKS);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	lost = fail_to_save(in_folder("y.json"), NULL, 1);
	limit.rlim_cur = RLIM_INFINITY;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_string_equal(lost.path, "");
	assert_non_null(strstr(lost.reason, "nor can the capture be kept: "));
	assert_non_null(strstr(lost.reason, strerror(EFBIG)));
	/* With the folder of temporary files. */
	assert_int_equal(count_files(), 2);
	assert_marks(kept.path, MARKS);
}

/* A child, which keeps of its own and leaves its parent's alone. */
static void fail_and_exit(const char *gone)
{
	record(in_folder("gone/x.json"), MARKS);
	rmdir(gone);
	exit(0);
}

static void what_a_program_that_exits_cannot_save_is_kept_too(void **state)
{
	char gone[PATH_MAX], target[PATH_MAX + 16], path[PATH_MAX + 64];
	struct kymo_request_status kept;
	int result;
	pid_t child;

	(void)state;
#if defined(HAS_THREAD_SANITIZER)
	skip_because("the thread sanitizer ends children that start threads");
#endif
	snprintf(target, sizeof(target), "broken://%s", in_folder("x"));
	kept = fail_to_save(target, NULL, 1);
	snprintf(gone, sizeof(gone), "%s", in_folder("gone"));
	assert_int_equal(mkdir(gone, 0700), 0);
	child = fork();
	if (child == 0)
		fail_and_exit(gone);
	assert_int_equal(waitpid(child, &result, 0), child);
	assert_int_equal(result, 0);
	snprintf(path, sizeof(path), "%s/.x.json.kymo-%d", temporary, (int)child);
	assert_marks(path, MARKS);
	assert_marks(kept.path, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_sink_cannot_write_stays_beside_the_target),
		cmocka_unit_test(
			a_reason_that_is_too_long_tells_where_it_is_all_the_same),
		cmocka_unit_test(without_the_folder_it_is_kept_among_the_temporary_files),
		cmocka_unit_test(
			a_target_that_somebody_has_made_meanwhile_is_left_as_it_is),
		cmocka_unit_test(of_several_that_fail_the_last_is_kept),
		cmocka_unit_test(what_is_not_as_it_was_kept_is_not_removed),
		cmocka_unit_test(
			where_the_temporary_folder_is_of_no_use_either_it_is_kept_in_tmp),
		cmocka_unit_test(
			those_that_others_of_its_number_have_left_are_in_nobodys_way),
		cmocka_unit_test(
			one_that_can_be_kept_nowhere_says_so_and_leaves_the_last),
		cmocka_unit_test(what_a_program_that_exits_cannot_save_is_kept_too),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
