/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: by time, refused, cancelled, pre-empted, from many threads. */
#define _GNU_SOURCE /* mkdtemp */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kymo/kymo.h>
#include <kymo/timeline.h>

#include "folder.h"
#include "memory_sink.h"
#include "requests.h"
#include "support/test.h"

/* Of each request that was told of, by its number. */
#define IDS_MAX 100000u
static uint32_t told_count[IDS_MAX];
static uint32_t told_state;

static void count_end(void *context, const struct kymo_request_status *status)
{
	(void)context;
	if (status->id < IDS_MAX)
		__atomic_fetch_add(&told_count[status->id], 1, __ATOMIC_RELAXED);
	__atomic_store_n(&told_state, status->state, __ATOMIC_RELAXED);
}

static void assert_refused(const struct kymo_request_options *options, int32_t status,
			   const char *words)
{
	struct kymo_error error = {0};
	uint64_t id = 7;

	assert_int_equal(kymo_request_submit(options, &id, &error), status);
	if (!strstr(error.message, words))
		fail_msg("\"%s\" is not in: %s", words, error.message);
	assert_int_equal(id, 7);
}

/* Told behind what polling sees, by the thread that ended it. */
static void wait_until_told(uint64_t id)
{
	while (__atomic_load_n(&told_count[id], __ATOMIC_RELAXED) == 0)
		usleep(200);
}

static int exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/* False if this thread was not let run while it recorded. */
static int is_recorded_by_time(const char *path, uint64_t duration_ms)
{
	uint64_t id = submit(REQUEST(.warmup_ms = 20, .duration_ms = duration_ms,
				     .path = path, .overwrite = 1, .ended = count_end));
	struct kymo_request_status status = {.struct_size = sizeof(status)};
	const int is_off = kymo_mark_is_off();
	struct memory_sink sink;
	int is_marked;

	if (state_of(id) <= KYMO_REQUEST_WARM_UP)
		assert_true(is_off);
	if (kymo_request_wait(id, 1, &status) == KYMO_AGAIN)
		assert_true(status.state < KYMO_REQUEST_DONE);
	while (state_of(id) < KYMO_REQUEST_PROCESSING) {
		mark(1);
		usleep(500);
	}
	status = wait_for_end(id);
	assert_int_equal(status.state, KYMO_REQUEST_DONE);
	assert_string_equal(status.path, path);
	assert_string_equal(status.reason, "");
	assert_int_equal(status.lost, 0);
	is_marked = status.events > 0;
	wait_until_told(id);
	sink = read_back(path);
	assert_int_equal(sink.count, status.events);
	memory_free(&sink);
	/* Some seconds for a machine that is busy when it is to end. */
	return is_marked && status.duration_ns < (int64_t)(duration_ms * 1000000 +
							   status.late_ns + 10000000000);
}

static void a_request_by_time_records_that_time(void **state)
{
	static const uint64_t durations_ms[] = {300, 1000, 10000};
	const char *path = in_folder("time.kymo");
	int is_recorded = 0;

	(void)state;
	for (int i = 0; i < 3 && !is_recorded; i++)
		is_recorded = is_recorded_by_time(path, durations_ms[i]);
	assert_true(is_recorded);
}

static void a_request_that_cannot_be_met_is_refused_and_changes_nothing(void **state)
{
	const char *path = in_folder("no.json");
	static char long_path[5000];
	char name[PATH_MAX];

	(void)state;
	memset(long_path, 'x', sizeof(long_path) - 1);
	assert_refused(REQUEST(.path = path), KYMO_ERROR_INVALID, "how long");
	assert_refused(REQUEST(.duration_ms = 1), KYMO_ERROR_INVALID, "no path");
	assert_refused(REQUEST(.duration_ms = 1, .path = long_path), KYMO_ERROR_INVALID,
		       "too long");
	snprintf(name, sizeof(name), "%s", in_folder("none/x.json"));
	assert_refused(REQUEST(.duration_ms = 1, .path = name), KYMO_ERROR_NOT_FOUND,
		       "none");
	assert_refused(REQUEST(.duration_ms = 1, .path = "x.unknown"),
		       KYMO_ERROR_UNSUPPORTED, "x.unknown");
	assert_refused(REQUEST(.duration_ms = 1, .path = "/proc/self/exe"),
		       KYMO_ERROR_EXISTS, "exists already");
	snprintf(name, sizeof(name), "%s", in_folder("folder.json"));
	assert_int_equal(mkdir(name, 0700), 0);
	assert_refused(REQUEST(.duration_ms = 1, .path = name, .overwrite = 1),
		       KYMO_ERROR_INVALID, "is a folder");
	assert_refused(REQUEST(.duration_ms = 1, .path = name), KYMO_ERROR_INVALID,
		       "is a folder");
	rmdir(name);
	assert_refused(REQUEST(.duration_ms = 1, .path = path,
			       .session = KYMO_SESSION_OPTIONS(.overflow = 9)),
		       KYMO_ERROR_UNSUPPORTED, "overflow 9");
	assert_true(kymo_mark_is_off());
	assert_int_equal(kymo_request_poll(0, NULL), KYMO_ERROR_NOT_FOUND);
	assert_int_equal(kymo_request_cancel(1u << 30, NULL), KYMO_ERROR_NOT_FOUND);
}

static void a_second_request_is_told_until_when_the_first_has_it(void **state)
{
	const char *path = in_folder("first.kymo");
	uint64_t id = submit(REQUEST(.duration_ms = 60000, .path = path));

	(void)state;
	assert_refused(REQUEST(.duration_ms = 1, .path = path), KYMO_ERROR_BUSY,
		       "under way");
	assert_int_equal(kymo_request_cancel(id, NULL), KYMO_OK);
	assert_int_equal(kymo_request_cancel(id, NULL), KYMO_ERROR_STATE);
	kymo_session_step();
	id = submit(REQUEST(.iterations = 2, .warmup_iterations = 7, .path = path));
	assert_refused(REQUEST(.duration_ms = 1, .path = path), KYMO_ERROR_BUSY,
		       "until iteration");
	assert_int_equal(kymo_request_cancel(id, NULL), KYMO_OK);
}

static void what_is_cancelled_leaves_nothing_behind(void **state)
{
	static const uint64_t warmups_ms[] = {60000, 0};
	static const uint32_t states[] = {KYMO_REQUEST_WARM_UP, KYMO_REQUEST_RECORDING};
	const char *path = in_folder("cancelled.json");

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		uint64_t id =
			submit(REQUEST(.warmup_ms = warmups_ms[i], .duration_ms = 60000,
				       .path = path, .ended = count_end));
		struct kymo_request_status status;

		wait_for_state(id, states[i]);
		mark(1);
		assert_int_equal(kymo_request_cancel(id, NULL), KYMO_OK);
		/* Told before the call returns. */
		assert_int_equal(told_count[id], 1);
		assert_int_equal(told_state, KYMO_REQUEST_CANCELLED);
		status = wait_for_end(id);
		assert_int_equal(status.state, KYMO_REQUEST_CANCELLED);
		assert_string_equal(status.reason, "cancelled by the program");
		assert_string_equal(status.path, "");
		assert_true(kymo_mark_is_off());
	}
	assert_int_equal(count_files(), 0);
}

static void
a_session_of_the_program_takes_precedence_and_what_there_was_is_kept(void **state)
{
	static char path[PATH_MAX];
	struct kymo_session *session = NULL;
	struct kymo_request_status status;
	struct memory_sink sink;
	uint64_t id;

	(void)state;
	snprintf(path, sizeof(path), "%s", in_folder("kept.kymo"));
	id = submit(REQUEST(.duration_ms = 60000, .path = path));
	wait_for_state(id, KYMO_REQUEST_RECORDING);
	mark(1);
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	mark(2);
	assert_refused(REQUEST(.duration_ms = 1, .path = in_folder("no.kymo")),
		       KYMO_ERROR_BUSY, "");
	status = wait_for_end(id);
	assert_int_equal(status.state, KYMO_REQUEST_CANCELLED);
	assert_non_null(strstr(status.reason, "pre-empted"));
	assert_string_equal(status.path, path);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	sink = read_back(path);
	assert_int_equal(sink.count, 1);
	assert_string_equal(sink.events[0].name, "1");
	memory_free(&sink);
	assert_int_equal(kymo_session_save(session, path, NULL, NULL, NULL), KYMO_OK);
	sink = read_back(path);
	assert_int_equal(sink.count, 1);
	assert_string_equal(sink.events[0].name, "2");
	memory_free(&sink);
	kymo_session_destroy(session);
}

static void a_call_in_the_wrong_order_does_not_end_it(void **state)
{
	struct kymo_session *session = NULL;
	uint64_t id;

	(void)state;
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	id = submit(REQUEST(.duration_ms = 60000, .path = in_folder("goes_on.kymo")));
	wait_for_state(id, KYMO_REQUEST_RECORDING);
	assert_int_equal(kymo_session_prepare(session, NULL), KYMO_ERROR_STATE);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_ERROR_STATE);
	assert_int_equal(kymo_session_prepare(NULL, NULL), KYMO_ERROR_INVALID);
	assert_int_equal(state_of(id), KYMO_REQUEST_RECORDING);
	assert_int_equal(kymo_request_cancel(id, NULL), KYMO_OK);
	kymo_session_destroy(session);
}

/* ---- One after another, and all at once ---- */

static uint32_t chained;

static void submit_next(void *context, const struct kymo_request_status *status)
{
	assert_int_equal(status->state, KYMO_REQUEST_DONE);
	unlink(status->path);
	if (__atomic_add_fetch(&chained, 1, __ATOMIC_RELEASE) < 5)
		submit(REQUEST(.duration_ms = 1, .path = context, .ended = submit_next,
			       .context = context));
}

static void the_end_of_one_may_submit_the_next(void **state)
{
	static char path[PATH_MAX];

	(void)state;
	snprintf(path, sizeof(path), "%s", in_folder("chain.kymo"));
	submit(REQUEST(.duration_ms = 1, .path = path, .ended = submit_next,
		       .context = path));
	while (__atomic_load_n(&chained, __ATOMIC_ACQUIRE) < 5)
		usleep(500);
}

/* The state in which the request after that one ends. */
static uint32_t wait_for_next(uint64_t id)
{
	struct kymo_request_status status = {.struct_size = sizeof(status)};

	while (kymo_request_poll(id + 1, &status) == KYMO_ERROR_NOT_FOUND)
		usleep(500);
	return wait_for_end(id + 1).state;
}

static int32_t waited_status;

static void submit_and_wait(void *context, const struct kymo_request_status *status)
{
	uint64_t id = submit(REQUEST(.duration_ms = 1, .path = context, .overwrite = 1));
	struct kymo_request_status next = {.struct_size = sizeof(next)};

	(void)status;
	__atomic_store_n(&waited_status, kymo_request_wait(id, 20000, &next),
			 __ATOMIC_RELEASE);
}

static void the_end_of_one_is_told_that_it_cannot_wait_for_the_next(void **state)
{
	static char path[PATH_MAX];
	uint64_t id;

	(void)state;
	snprintf(path, sizeof(path), "%s", in_folder("next.kymo"));
	waited_status = KYMO_OK;
	id = submit(REQUEST(.duration_ms = 1, .path = path, .ended = submit_and_wait,
			    .context = path));
	wait_for_end(id);
	/* The next one goes on as soon as its thread does. */
	assert_int_equal(wait_for_next(id), KYMO_REQUEST_DONE);
	assert_int_equal(__atomic_load_n(&waited_status, __ATOMIC_ACQUIRE),
			 KYMO_ERROR_STATE);
	unlink(path);
}

#define STORM_THREADS 8
static int storm_is_over;
static uint64_t accepted;

static void *storm(void *context)
{
	const uintptr_t thread = (uintptr_t)context;
	uint32_t random = (uint32_t)thread + 1;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/storm-%u.kymo", folder, (unsigned)thread);
	while (!__atomic_load_n(&storm_is_over, __ATOMIC_RELAXED)) {
		struct kymo_session *session = NULL;
		uint64_t id = 0;

		random = random * 1664525 + 1013904223;
		switch (random >> 29) {
		case 0:
			kymo_session_create(&session, NULL, NULL);
			kymo_session_start(session, NULL);
			mark(1);
			kymo_session_stop(session, NULL);
			kymo_session_destroy(session);
			break;
		case 1:
			kymo_session_step();
			break;
		default:
			if (kymo_request_submit(REQUEST(.warmup_ms = random >> 24 & 1,
							.duration_ms = random >> 20 & 3,
							.iterations = random >> 16 & 1,
							.path = path, .overwrite = 1,
							.ended = count_end),
						&id, NULL) != KYMO_OK)
				break;
			__atomic_fetch_add(&accepted, 1, __ATOMIC_RELAXED);
			if (random >> 12 & 1)
				kymo_request_cancel(id, NULL);
			break;
		}
		mark(random);
	}
	unlink(path);
	return NULL;
}

static void a_storm_of_calls_ends_every_request_exactly_once(void **state)
{
	pthread_t threads[STORM_THREADS];
	struct kymo_session *session = NULL;
	uint64_t first, last, ended = 0;

	(void)state;
	first = submit(REQUEST(.duration_ms = 1, .path = in_folder("a.kymo")));
	kymo_request_cancel(first, NULL);
	wait_for_end(first);
	unlink(in_folder("a.kymo"));
	for (uintptr_t i = 0; i < STORM_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, storm, (void *)i), 0);
	usleep(1500000);
	/* A busy machine needs longer for a storm. */
	for (int i = 0; i < 300 && __atomic_load_n(&accepted, __ATOMIC_RELAXED) < 20; i++)
		usleep(100000);
	__atomic_store_n(&storm_is_over, 1, __ATOMIC_RELAXED);
	for (size_t i = 0; i < STORM_THREADS; i++)
		pthread_join(threads[i], NULL);
	/* Whatever is still under way gives way; then the next number is the last. */
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	kymo_session_destroy(session);
	do {
		usleep(2000);
	} while (kymo_request_submit(
			 REQUEST(.duration_ms = 60000, .path = in_folder("b.kymo")),
			 &last, NULL) != KYMO_OK);
	kymo_request_cancel(last, NULL);
	assert_int_equal(last - first - 1, accepted);
	for (uint64_t id = first + 1; id < last; id++) {
		wait_until_told(id);
		assert_int_equal(told_count[id], 1);
		ended++;
	}
	assert_true(ended > 10);
	for (uintptr_t i = 0; i < STORM_THREADS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "storm-%u.kymo", (unsigned)i);
		unlink(in_folder(name));
	}
}

static void a_forked_child_has_no_request_and_may_make_its_own(void **state)
{
	static char path[PATH_MAX];
	uint64_t id;
	int result;
	pid_t child;

	(void)state;
#if defined(HAS_THREAD_SANITIZER)
	skip_because("the thread sanitizer ends children that start threads");
#endif
	snprintf(path, sizeof(path), "%s", in_folder("child.kymo"));
	id = submit(REQUEST(.duration_ms = 60000, .path = in_folder("parent.kymo")));
	wait_for_state(id, KYMO_REQUEST_RECORDING);
	child = fork();
	if (child == 0) {
		struct kymo_request_status status = {.struct_size = sizeof(status)};

		if (kymo_request_poll(id, &status) != KYMO_ERROR_NOT_FOUND)
			_exit(1);
		if (kymo_request_submit(REQUEST(.duration_ms = 1, .path = path), &id,
					NULL) != KYMO_OK)
			_exit(2);
		if (kymo_request_wait(id, 20000, &status) != KYMO_OK)
			_exit(3);
		_exit(status.state == KYMO_REQUEST_DONE ? 0 : 4);
	}
	assert_int_equal(waitpid(child, &result, 0), child);
	assert_int_equal(result, 0);
	assert_true(exists(path));
	unlink(path);
	assert_int_equal(state_of(id), KYMO_REQUEST_RECORDING);
	assert_int_equal(kymo_request_cancel(id, NULL), KYMO_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_by_time_records_that_time),
		cmocka_unit_test(
			a_request_that_cannot_be_met_is_refused_and_changes_nothing),
		cmocka_unit_test(a_second_request_is_told_until_when_the_first_has_it),
		cmocka_unit_test(what_is_cancelled_leaves_nothing_behind),
		cmocka_unit_test(
			a_session_of_the_program_takes_precedence_and_what_there_was_is_kept),
		cmocka_unit_test(a_call_in_the_wrong_order_does_not_end_it),
		cmocka_unit_test(the_end_of_one_may_submit_the_next),
		cmocka_unit_test(the_end_of_one_is_told_that_it_cannot_wait_for_the_next),
		cmocka_unit_test(a_storm_of_calls_ends_every_request_exactly_once),
		cmocka_unit_test(a_forked_child_has_no_request_and_may_make_its_own),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
