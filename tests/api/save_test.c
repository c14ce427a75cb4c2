/* SPDX-License-Identifier: BSD-3-Clause */
/* Saving in the background: percent, waiting, cancelling, destroying, forking. */
#define _GNU_SOURCE /* mkdtemp */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kymo/kymo.h>
#include <kymo/timeline.h>

#include "folder.h"
#include "memory_sink.h"
#include "support/test.h"

#define RECORDS 200000

/* A sink that waits at each batch until it is let go on. */
static struct {
	uint32_t batches, may_go; /* told so far; how many may pass */
	uint32_t is_aborted, is_ended;
	uint32_t is_left; /* the main thread is about to destroy the session: fail then */
} slow;

static int32_t slow_open(struct kymo_str path, const struct kymo_sink_options *options,
			 void **sink, struct kymo_error *error)
{
	static const char broken[] = "broken";
	const size_t size = sizeof(broken) - 1;

	(void)options;
	*sink = &slow;
	if (path.size < size || memcmp(path.data + path.size - size, broken, size) != 0)
		return KYMO_OK;
	snprintf(error->message, sizeof(error->message), "it is broken");
	return KYMO_ERROR_NOT_FOUND;
}

static int32_t slow_begin(void *sink, const struct kymo_trace_header *header,
			  struct kymo_error *error)
{
	(void)sink, (void)header, (void)error;
	return KYMO_OK;
}

static int32_t slow_batch(void *sink, const struct kymo_trace_event *const *events,
			  size_t count, struct kymo_error *error)
{
	const uint32_t number = __atomic_add_fetch(&slow.batches, 1, __ATOMIC_RELEASE);

	(void)sink, (void)events, (void)count, (void)error;
	while (__atomic_load_n(&slow.may_go, __ATOMIC_ACQUIRE) < number)
		usleep(200);
	return KYMO_OK;
}

static int main_sleeps(void)
{
	char path[64], text[256] = "";
	const char *state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)getpid());
	file = fopen(path, "re");
	if (!file)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'S';
}

static int32_t slow_end(void *sink, const struct kymo_trace_end *end,
			struct kymo_sink_result *result, struct kymo_error *error)
{
	(void)sink, (void)end, (void)result;
	if (__atomic_load_n(&slow.is_left, __ATOMIC_ACQUIRE)) {
		while (__atomic_load_n(&slow.is_left, __ATOMIC_ACQUIRE) < 2 ||
		       !main_sleeps())
			usleep(200);
		snprintf(error->message, sizeof(error->message), "it is broken");
		return KYMO_ERROR_IO;
	}
	__atomic_store_n(&slow.is_ended, 1, __ATOMIC_RELEASE);
	return KYMO_OK;
}

static void slow_abort(void *sink)
{
	(void)sink;
	__atomic_store_n(&slow.is_aborted, 1, __ATOMIC_RELEASE);
}

static void slow_close(void *sink)
{
	(void)sink;
}

static const struct kymo_sink_ops slow_ops = {
	.struct_size = sizeof(slow_ops),
	.open = slow_open,
	.begin = slow_begin,
	.batch = slow_batch,
	.end = slow_end,
	.abort = slow_abort,
	.close = slow_close,
};

static void let_go_on(uint32_t batches)
{
	__atomic_store_n(&slow.may_go, batches, __ATOMIC_RELEASE);
}

static void wait_for_batch(uint32_t number)
{
	while (__atomic_load_n(&slow.batches, __ATOMIC_ACQUIRE) < number)
		usleep(200);
}

static int register_slow(void **state)
{
	if (kymo_sink_register("slow", &slow_ops, NULL) != KYMO_OK)
		return -1;
	return make_folder(state);
}

static void record(uint64_t count)
{
	static uint32_t name;

	while (count-- > 0)
		kymo_mark_end(kymo_mark_begin(), kymo_mark_name(&name, "step"));
}

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * In parts with time between them, by which it is told how far a save is; unless a busy
 * machine has put most of it somewhere else.
 */
static int is_spread;

static void record_in_parts(uint64_t records)
{
	const uint64_t begin_ns = monotonic_ns();

	for (int part = 0; part < 4; part++) {
		record(records / 4);
		usleep(30000);
	}
	record(records % 4);
	is_spread = monotonic_ns() - begin_ns < 1000000000;
}

static struct kymo_session *make_session(uint64_t records)
{
	struct kymo_session *session = NULL;
	struct kymo_error error = {0};

	memset(&slow, 0, sizeof(slow));
	if (kymo_session_create(&session, NULL, &error) != KYMO_OK ||
	    kymo_session_start(session, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	record_in_parts(records);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	return session;
}

static struct kymo_save *start(struct kymo_session *session, const char *path)
{
	struct kymo_save *save = NULL;
	struct kymo_error error = {0};

	if (kymo_save_start(session, path, NULL, &save, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	return save;
}

static void it_tells_how_far_it_is_and_what_came_of_it(void **state)
{
	struct kymo_session *session = make_session(RECORDS);
	struct kymo_save *save = start(session, "slow://x");
	struct kymo_summary summary = {.struct_size = sizeof(summary)};
	uint32_t percent = 0, before = 50;

	(void)state;
	assert_int_equal(kymo_save_wait(save, 1, NULL, NULL), KYMO_AGAIN);
	for (uint32_t part = 0; part < 8; part++) {
		wait_for_batch(part * 80 + 1);
		assert_int_equal(kymo_save_poll(save, &percent), KYMO_AGAIN);
		assert_true(percent >= before && percent < 100);
		before = percent;
		let_go_on(part * 80 + 80);
	}
	assert_true(percent > 50 || !is_spread);
	let_go_on(UINT32_MAX);
	assert_int_equal(kymo_save_wait(save, -1, &summary, NULL), KYMO_OK);
	assert_int_equal(summary.events, RECORDS);
	assert_int_equal(kymo_save_poll(save, &percent), KYMO_OK);
	assert_int_equal(percent, 100);
	assert_int_equal(kymo_save_cancel(save, NULL), KYMO_ERROR_STATE);
	kymo_save_destroy(save);
	kymo_session_destroy(session);
}

static void one_that_is_cancelled_leaves_no_file_and_the_session_as_it_was(void **state)
{
	static const char *const names[] = {"a.json", "a.json.gz", "a.kymo"};
	struct kymo_session *session = make_session(RECORDS);
	struct kymo_summary summary = {.struct_size = sizeof(summary)};
	struct kymo_error error = {0};
	struct kymo_save *save = start(session, "slow://x");

	(void)state;
	let_go_on(3);
	wait_for_batch(4);
	assert_int_equal(kymo_save_cancel(save, NULL), KYMO_OK);
	let_go_on(4);
	assert_int_equal(kymo_save_wait(save, -1, NULL, &error), KYMO_ERROR_CANCELLED);
	assert_non_null(strstr(error.message, "cancelled"));
	assert_int_equal(slow.batches, 4);
	assert_int_equal(slow.is_aborted, 1);
	assert_int_equal(slow.is_ended, 0);
	kymo_save_destroy(save);
	/* At whatever moment it comes. */
	for (size_t i = 0; i < 30; i++) {
		save = start(session, in_folder(names[i % 3]));
		usleep((useconds_t)(i * 400));
		if (kymo_save_cancel(save, NULL) == KYMO_OK &&
		    kymo_save_wait(save, -1, NULL, NULL) != KYMO_OK)
			assert_int_equal(count_files(), 0);
		else
			unlink(in_folder(names[i % 3]));
		kymo_save_destroy(save);
	}
	assert_int_equal(
		kymo_session_save(session, in_folder("b.json"), NULL, &summary, NULL),
		KYMO_OK);
	assert_int_equal(summary.events, RECORDS);
	unlink(in_folder("b.json"));
	assert_int_equal(count_files(), 0);
	kymo_session_destroy(session);
}

static void *destroy_session(void *session)
{
	kymo_session_destroy(session);
	return NULL;
}

static void destroying_the_session_waits_for_what_is_being_saved(void **state)
{
	struct kymo_session *session = make_session(RECORDS);
	struct kymo_summary summary = {.struct_size = sizeof(summary)};
	struct kymo_save *save = start(session, in_folder("whole.json"));
	struct kymo_save *second = start(session, "slow://x");
	pthread_t thread;

	(void)state;
	wait_for_batch(1);
	assert_int_equal(pthread_create(&thread, NULL, destroy_session, session), 0);
	usleep(20000);
	assert_int_equal(kymo_save_poll(second, NULL), KYMO_AGAIN);
	let_go_on(UINT32_MAX);
	pthread_join(thread, NULL);
	assert_int_equal(kymo_save_wait(save, -1, &summary, NULL), KYMO_OK);
	assert_int_equal(summary.events, RECORDS);
	assert_int_equal(kymo_save_wait(second, -1, &summary, NULL), KYMO_OK);
	assert_int_equal(summary.events, RECORDS);
	kymo_save_destroy(save);
	kymo_save_destroy(second);
	unlink(in_folder("whole.json"));
}

static void one_that_fails_while_the_session_is_destroyed_leaves_its_capture(void **state)
{
	struct kymo_session *session = make_session(100);
	struct kymo_error error = {0};
	char target[PATH_MAX + 16], found[PATH_MAX];
	const char *const captures[] = {found};
	struct kymo_trace *trace = NULL;
	struct kymo_save *save;
	const char *at;

	(void)state;
	slow.is_left = 1;
	let_go_on(UINT32_MAX);
	snprintf(target, sizeof(target), "slow://%s", in_folder("x"));
	save = start(session, target);
	__atomic_store_n(&slow.is_left, 2, __ATOMIC_RELEASE);
	kymo_session_destroy(session);
	assert_int_equal(kymo_save_wait(save, -1, NULL, &error), KYMO_ERROR_IO);
	kymo_save_destroy(save);
	at = strstr(error.message, "the capture is kept: kymo export ");
	assert_non_null(at);
	assert_int_equal(sscanf(at, "the capture is kept: kymo export %4095s", found), 1);
	assert_int_equal(count_files(), 1);
	assert_int_equal(kymo_trace_load(captures, 1, &trace, NULL), KYMO_OK);
	assert_int_equal(kymo_trace_end_of(trace)->ledger->spans, 100);
	kymo_trace_destroy(trace);
	unlink(found);
}

static void where_the_session_stays_nothing_is_left_of_one_that_fails(void **state)
{
	struct kymo_session *session = make_session(100);
	char target[PATH_MAX + 16];
	struct kymo_error error = {0};

	(void)state;
	snprintf(target, sizeof(target), "slow://%s", in_folder("broken"));
	assert_int_equal(kymo_session_save(session, target, NULL, NULL, &error),
			 KYMO_ERROR_NOT_FOUND);
	assert_null(strstr(error.message, "kept"));
	assert_int_equal(count_files(), 0);
	kymo_session_destroy(session);
}

static void destroying_the_save_gives_it_up(void **state)
{
	struct kymo_session *session = make_session(RECORDS);
	struct kymo_save *save = start(session, in_folder("never.json.gz"));

	(void)state;
	kymo_save_destroy(save);
	assert_int_equal(count_files(), 0);
	kymo_session_destroy(session);
	kymo_save_destroy(NULL);
}

static void what_is_wrong_is_refused_at_once_or_told_at_the_end(void **state)
{
	struct kymo_session *session = NULL;
	struct kymo_summary none = {.struct_size = 0};
	struct kymo_error error = {0};
	struct kymo_save *save = (struct kymo_save *)1;

	(void)state;
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_save_start(session, "x.json", NULL, &save, &error),
			 KYMO_ERROR_STATE);
	assert_non_null(strstr(error.message, "not prepared"));
	assert_null(save);
	assert_int_equal(kymo_save_start(NULL, "x.json", NULL, &save, NULL),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_save_start(session, "", NULL, &save, NULL),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_save_start(session, "x.json", NULL, NULL, NULL),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_save_poll(NULL, NULL), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_save_wait(NULL, 0, NULL, NULL), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_save_cancel(NULL, NULL), KYMO_ERROR_INVALID);
	kymo_session_destroy(session);

	session = make_session(10);
	save = (struct kymo_save *)1;
	assert_int_equal(
		kymo_save_start(session, in_folder("none/x.json"), NULL, &save, &error),
		KYMO_ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "none/x.json"));
	assert_null(save);
	assert_int_equal(kymo_save_start(session, folder, NULL, &save, &error),
			 KYMO_ERROR_INVALID);
	assert_non_null(strstr(error.message, "is a folder"));
	assert_null(save);
	save = start(session, "slow://broken");
	assert_int_equal(kymo_save_wait(save, -1, &none, NULL), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_save_wait(save, -1, NULL, &error), KYMO_ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "it is broken"));
	assert_int_equal(kymo_save_poll(save, NULL), KYMO_ERROR_NOT_FOUND);
	kymo_save_destroy(save);
	kymo_session_destroy(session);
}

static void captures_are_exported_in_the_background_as_well(void **state)
{
	char capture[PATH_MAX];
	const char *const captures[] = {capture};
	struct kymo_session *session = make_session(RECORDS);
	struct kymo_output slow_one = {.struct_size = sizeof(slow_one),
				       .path = "slow://x"};
	struct kymo_output file = {.struct_size = sizeof(file)};
	struct kymo_output *const outputs[] = {&slow_one, &file, NULL};
	struct kymo_summary summary = {.struct_size = sizeof(summary)};
	struct kymo_error error = {0};
	struct kymo_save *save = NULL;

	(void)state;
	snprintf(capture, sizeof(capture), "%s/c.kymo", folder);
	assert_int_equal(kymo_session_save(session, capture, NULL, NULL, NULL), KYMO_OK);
	kymo_session_destroy(session);
	file.path = in_folder("c.json");
	assert_int_equal(
		kymo_timeline_export_start(captures, 1, outputs, NULL, &save, NULL),
		KYMO_OK);
	wait_for_batch(1);
	assert_int_equal(kymo_save_cancel(save, NULL), KYMO_OK);
	let_go_on(UINT32_MAX);
	assert_int_equal(kymo_save_wait(save, -1, NULL, &error), KYMO_ERROR_CANCELLED);
	assert_int_equal(file.status, KYMO_ERROR_CANCELLED);
	kymo_save_destroy(save);
	assert_int_equal(count_files(), 1);
	assert_int_equal(
		kymo_timeline_export_start(captures, 1, outputs, NULL, &save, NULL),
		KYMO_OK);
	assert_int_equal(kymo_save_wait(save, -1, &summary, NULL), KYMO_OK);
	assert_int_equal(summary.events, RECORDS);
	assert_int_equal(file.status, KYMO_OK);
	assert_int_equal(summary.bytes, file.bytes);
	kymo_save_destroy(save);
	unlink(capture);
	unlink(file.path);
	assert_int_equal(
		kymo_timeline_export_start(captures, 1, outputs, NULL, &save, NULL),
		KYMO_OK);
	assert_int_equal(kymo_save_wait(save, -1, NULL, &error), KYMO_ERROR_NOT_FOUND);
	assert_non_null(strstr(error.message, "c.kymo"));
	kymo_save_destroy(save);
	assert_int_equal(
		kymo_timeline_export_start(captures, 1, outputs, NULL, NULL, NULL),
		KYMO_ERROR_INVALID);
}

static void a_forked_child_has_no_part_in_it(void **state)
{
	struct kymo_session *session = make_session(RECORDS);
	struct kymo_save *save = start(session, "slow://x");
	int status;
	pid_t child;

	(void)state;
	wait_for_batch(1);
	child = fork();
	if (child == 0) {
		int failed = kymo_save_poll(save, NULL) != KYMO_ERROR_STATE ||
			     kymo_save_wait(save, -1, NULL, NULL) != KYMO_ERROR_STATE ||
			     kymo_save_cancel(save, NULL) != KYMO_ERROR_STATE;

		kymo_save_destroy(save);
		/* Does not wait for readers that are not in this process. */
		kymo_session_destroy(session);
		_exit(failed);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	let_go_on(UINT32_MAX);
	assert_int_equal(kymo_save_wait(save, -1, NULL, NULL), KYMO_OK);
	kymo_save_destroy(save);
	kymo_session_destroy(session);
}

static void wait_for_processing(uint64_t id, struct kymo_request_status *status)
{
	do {
		assert_int_equal(kymo_request_poll(id, status), KYMO_OK);
		usleep(100);
	} while (status->state < KYMO_REQUEST_PROCESSING);
}

static void a_request_is_cancelled_also_while_it_is_saved(void **state)
{
	const struct kymo_request_options options = {
		.struct_size = sizeof(options),
		.iterations = 1,
		.duration_ms = 1,
		.path = "slow://x",
	};
	struct kymo_request_status status = {.struct_size = sizeof(status)};
	uint64_t id;

	(void)state;
	memset(&slow, 0, sizeof(slow));
	kymo_session_step();
	assert_int_equal(kymo_request_submit(&options, &id, NULL), KYMO_OK);
	kymo_session_step();
	record_in_parts(RECORDS);
	kymo_session_step();
	wait_for_batch(1);
	let_go_on(600);
	wait_for_batch(601);
	wait_for_processing(id, &status);
	assert_int_equal(status.state, KYMO_REQUEST_PROCESSING);
	assert_true((status.percent > 50 || !is_spread) && status.percent < 100);
	assert_int_equal(kymo_request_cancel(id, NULL), KYMO_OK);
	let_go_on(UINT32_MAX);
	assert_int_equal(kymo_request_wait(id, 20000, &status), KYMO_OK);
	assert_int_equal(status.state, KYMO_REQUEST_CANCELLED);
	assert_string_equal(status.reason, "cancelled by the program");
	assert_string_equal(status.path, "");
	assert_int_equal(slow.is_aborted, 1);
	assert_int_equal(slow.is_ended, 0);
	assert_int_equal(count_files(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_tells_how_far_it_is_and_what_came_of_it),
		cmocka_unit_test(
			one_that_is_cancelled_leaves_no_file_and_the_session_as_it_was),
		cmocka_unit_test(destroying_the_session_waits_for_what_is_being_saved),
		cmocka_unit_test(
			one_that_fails_while_the_session_is_destroyed_leaves_its_capture),
		cmocka_unit_test(
			where_the_session_stays_nothing_is_left_of_one_that_fails),
		cmocka_unit_test(destroying_the_save_gives_it_up),
		cmocka_unit_test(what_is_wrong_is_refused_at_once_or_told_at_the_end),
		cmocka_unit_test(captures_are_exported_in_the_background_as_well),
		cmocka_unit_test(a_forked_child_has_no_part_in_it),
		cmocka_unit_test(a_request_is_cancelled_also_while_it_is_saved),
	};

	return cmocka_run_group_tests(tests, register_slow, remove_folder);
}
