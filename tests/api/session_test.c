/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions of a program's own, from the outside: order, errors, files. */
#define _GNU_SOURCE /* mkdtemp */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "recorded.h"

/* ---- Order ---- */

static void a_session_records_between_start_and_stop(void **state)
{
	struct kymo_session *session = new_session();
	struct memory_sink sink;

	(void)state;
	mark(3);
	assert_int_equal(kymo_session_prepare(session, NULL), KYMO_OK);
	mark(3);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	mark(5);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	mark(3);
	look_at(session, &sink);
	assert_int_equal(sink.count, 5);
	assert_int_equal(sink.process_count, 1);
	assert_int_equal(sink.pid, getpid());
	assert_string_equal(sink.events[0].name, "step");
	assert_string_equal(sink.events[0].type, "user_annotation");
	assert_string_equal(sink.events[0].source, "app");
	assert_int_equal(sink.ledger.written, 5);
	assert_int_equal(sink.ledger.full, 0);
	memory_free(&sink);
	kymo_session_destroy(session);
}

static void a_wrong_order_is_refused_and_changes_nothing(void **state)
{
	struct kymo_session *session = new_session();
	struct kymo_error error = {0};

	(void)state;
	assert_int_equal(kymo_session_stop(session, &error), KYMO_ERROR_STATE);
	assert_non_null(
		strstr(error.message, "cannot stop: the session is not prepared"));
	assert_int_equal(
		kymo_session_save(session, in_folder("x.kymo"), NULL, NULL, &error),
		KYMO_ERROR_STATE);
	assert_int_equal(kymo_session_prepare(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_prepare(session, &error), KYMO_ERROR_STATE);
	assert_int_equal(kymo_session_stop(session, &error), KYMO_ERROR_STATE);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(session, &error), KYMO_ERROR_STATE);
	assert_int_equal(kymo_session_prepare(session, &error), KYMO_ERROR_STATE);
	assert_int_equal(
		kymo_session_save(session, in_folder("x.kymo"), NULL, NULL, &error),
		KYMO_ERROR_STATE);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_stop(session, &error), KYMO_ERROR_STATE);
	assert_int_equal(kymo_session_start(session, &error), KYMO_ERROR_STATE);
	assert_int_equal(kymo_session_prepare(session, &error), KYMO_ERROR_STATE);
	assert_int_equal(count_files(), 0);
	kymo_session_destroy(session);
}

#define STORM_THREADS 8
#define STORM_ROUNDS  100
#define STORM_CALLS   16

static struct {
	pthread_barrier_t barrier;
	struct kymo_session *session;
	uint64_t called[5]; /* well, by what was called */
} storm;

static int32_t call_any(uint32_t which, struct kymo_error *error)
{
	switch (which) {
	case 0:
		return kymo_session_prepare(storm.session, error);
	case 1:
		return kymo_session_start(storm.session, error);
	case 2:
		return kymo_session_pause(storm.session, error);
	case 3:
		return kymo_session_resume(storm.session, error);
	default:
		return kymo_session_stop(storm.session, error);
	}
}

/* All at one session; each call is right, or of the wrong order, and says so. */
static void *call_at_random(void *context)
{
	uint32_t random = (uint32_t)(uintptr_t)context + 1;

	for (int round = 0; round < STORM_ROUNDS; round++) {
		pthread_barrier_wait(&storm.barrier); /* there is a new one */
		for (int i = 0; i < STORM_CALLS; i++) {
			struct kymo_error error = {0};
			uint32_t which;
			int32_t status;

			random = random * 1664525 + 1013904223;
			/* Seldom a stop, which is the end. */
			which = (random >> 24) % 13 < 12 ? (random >> 24) % 4 : 4;
			status = call_any(which, &error);
			if (status == KYMO_OK)
				__atomic_fetch_add(&storm.called[which], 1,
						   __ATOMIC_RELAXED);
			else if (status != KYMO_ERROR_STATE || !error.message[0])
				abort();
			mark(1);
		}
		pthread_barrier_wait(&storm.barrier); /* and no more to it */
	}
	return NULL;
}

static void calls_of_any_thread_in_any_order_are_right_or_refused(void **state)
{
	pthread_t threads[STORM_THREADS];

	(void)state;
	assert_int_equal(pthread_barrier_init(&storm.barrier, NULL, STORM_THREADS + 1),
			 0);
	for (uintptr_t i = 0; i < STORM_THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, call_at_random, (void *)i), 0);
	for (int round = 0; round < STORM_ROUNDS; round++) {
		assert_int_equal(kymo_session_create(&storm.session, NULL, NULL),
				 KYMO_OK);
		pthread_barrier_wait(&storm.barrier);
		pthread_barrier_wait(&storm.barrier);
		kymo_session_destroy(storm.session);
	}
	for (size_t i = 0; i < STORM_THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&storm.barrier);
	/* At most once in the life of each session, and nothing is never reached. */
	for (size_t i = 0; i < 5; i++)
		assert_true(storm.called[i] > 0);
	assert_true(storm.called[0] <= STORM_ROUNDS && storm.called[4] <= STORM_ROUNDS);
	assert_true(storm.called[1] <= STORM_ROUNDS);
}

static void null_is_refused(void **state)
{
	struct kymo_error error;

	(void)state;
	assert_int_equal(kymo_session_create(NULL, NULL, &error), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_session_prepare(NULL, &error), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_session_start(NULL, &error), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_session_stop(NULL, &error), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_session_save(NULL, "x.kymo", NULL, NULL, &error),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_session_stop(NULL, NULL), KYMO_ERROR_INVALID);
	kymo_session_destroy(NULL);
}

static void a_session_may_be_destroyed_in_any_state(void **state)
{
	struct kymo_session *session;

	(void)state;
	kymo_session_destroy(new_session());
	session = new_session();
	assert_int_equal(kymo_session_prepare(session, NULL), KYMO_OK);
	kymo_session_destroy(session);
	session = new_session();
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	mark(1);
	kymo_session_destroy(session);
	assert_true(kymo_mark_is_off());
	mark(1);
	kymo_session_destroy(record(1));
}

static void one_session_of_a_program_records_at_a_time(void **state)
{
	struct kymo_session *first = new_session(), *second = new_session();
	struct kymo_error error = {0};

	(void)state;
	assert_int_equal(kymo_session_prepare(first, NULL), KYMO_OK);
	assert_int_equal(kymo_session_prepare(second, &error), KYMO_ERROR_BUSY);
	assert_non_null(strstr(error.message, "another session of this program"));
	assert_int_equal(kymo_session_start(first, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(second, &error), KYMO_ERROR_BUSY);
	assert_int_equal(kymo_session_stop(first, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(second, NULL), KYMO_OK);
	mark(2);
	kymo_session_destroy(first);
	mark(2);
	assert_int_equal(kymo_session_stop(second, NULL), KYMO_OK);
	kymo_session_destroy(second);
}

static void an_earlier_session_can_be_saved_while_a_later_one_records(void **state)
{
	struct kymo_session *first = record(3), *second = new_session();
	struct memory_sink sink;

	(void)state;
	assert_int_equal(kymo_session_start(second, NULL), KYMO_OK);
	mark(2);
	look_at(first, &sink);
	assert_int_equal(sink.count, 3);
	memory_free(&sink);
	kymo_session_destroy(first);
	mark(2);
	assert_int_equal(kymo_session_stop(second, NULL), KYMO_OK);
	look_at(second, &sink);
	assert_int_equal(sink.count, 4);
	memory_free(&sink);
	kymo_session_destroy(second);
}

/* ---- Options ---- */

static void options_are_checked(void **state)
{
	struct {
		struct kymo_session_options known;
		uint64_t later;
	} options = {.known = {.struct_size = sizeof(options)}};
	struct kymo_session *session;
	struct kymo_error error;

	(void)state;
	assert_int_equal(kymo_session_create(&session, &options.known, NULL), KYMO_OK);
	kymo_session_destroy(session);
	options.later = 1;
	assert_int_equal(kymo_session_create(&session, &options.known, &error),
			 KYMO_ERROR_UNSUPPORTED);
	assert_null(session);
	options.known.struct_size = 2;
	assert_int_equal(kymo_session_create(&session, &options.known, &error),
			 KYMO_ERROR_INVALID);
	assert_int_equal(kymo_session_create(
				 &session, KYMO_SESSION_OPTIONS(.overflow = 77), &error),
			 KYMO_ERROR_UNSUPPORTED);
	assert_int_equal(kymo_session_create(&session,
					     KYMO_SESSION_OPTIONS(.buffer_size = 4096),
					     &error),
			 KYMO_ERROR_INVALID);
	assert_non_null(strstr(error.message, "4096"));
	assert_int_equal(kymo_session_create(
				 &session,
				 KYMO_SESSION_OPTIONS(.buffer_size = UINT64_MAX), &error),
			 KYMO_ERROR_INVALID);
	assert_non_null(strstr(error.message, "1048576 MiB"));
}

static void a_source_that_cannot_be_loaded_is_an_error(void **state)
{
	static const struct {
		const char *source;
		int32_t status;
	} cases[] = {
		{"/nowhere/npu.so", KYMO_ERROR_NOT_FOUND},
		{"no-such-source", KYMO_ERROR_NOT_FOUND},
		{"relative/npu.so", KYMO_ERROR_NOT_FOUND},
		{"/etc/passwd", KYMO_ERROR_UNSUPPORTED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const sources[] = {cases[i].source, NULL};
		struct kymo_session *session;
		struct kymo_error error = {0};

		assert_int_equal(
			kymo_session_create(
				&session, KYMO_SESSION_OPTIONS(.sources = sources), NULL),
			KYMO_OK);
		assert_int_equal(kymo_session_start(session, &error), cases[i].status);
		if (!strstr(error.message, cases[i].source))
			fail_msg("\"%s\" does not name %s", error.message,
				 cases[i].source);
		kymo_session_destroy(session);
	}
}

/* ---- Files ---- */

static char first_byte(const char *path)
{
	char byte = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, &byte, 1), 1);
	close(fd);
	return byte;
}

static void a_session_is_saved_in_every_format(void **state)
{
	static const struct {
		const char *file;
		char begins;
	} cases[] = {
		{"trace.json", '{'},
		{"trace.json.gz", '\x1f'},
		{"trace.kymo", '\x89'},
		{"trace \"x\n.json", '{'},
	};
	struct kymo_session *session = record(4);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kymo_summary summary = {.struct_size = sizeof(summary)};
		const char *path = in_folder(cases[i].file);
		struct kymo_error error = {0};
		struct stat file;

		if (kymo_session_save(session, path, NULL, &summary, &error) != KYMO_OK)
			fail_msg("%s", error.message);
		assert_int_equal(stat(path, &file), 0);
		assert_int_equal(summary.bytes, file.st_size);
		assert_int_equal(summary.events, 4);
		assert_int_equal(summary.process_count, 1);
		assert_int_equal(summary.lost, 0);
		assert_true(summary.duration_ns > 0);
		if (cases[i].begins != '\x89')
			assert_int_equal(first_byte(path), cases[i].begins);
		unlink(path);
	}
	assert_int_equal(count_files(), 0);
	kymo_session_destroy(session);
}

static void a_file_that_is_there_is_kept_unless_told_otherwise(void **state)
{
	static const char *const files[] = {"there.kymo", "there.json"};
	const struct kymo_sink_options overwrite = {.struct_size = sizeof(overwrite),
						    .overwrite = 1};
	struct kymo_session *session = record(1);

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const char *path = in_folder(files[i]);
		struct kymo_error error = {0};
		int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

		assert_int_equal(write(fd, "old", 3), 3);
		close(fd);
		assert_int_equal(kymo_session_save(session, path, NULL, NULL, &error),
				 KYMO_ERROR_EXISTS);
		assert_non_null(strstr(error.message, path));
		assert_int_equal(first_byte(path), 'o');
		assert_int_equal(
			kymo_session_save(session, path, &overwrite, NULL, &error),
			KYMO_OK);
		assert_int_not_equal(first_byte(path), 'o');
		unlink(path);
		assert_int_equal(count_files(), 0);
	}
	kymo_session_destroy(session);
}

static void what_cannot_be_saved_leaves_nothing_behind(void **state)
{
	static const struct {
		const char *path;
		int32_t status;
	} cases[] = {
		{NULL, KYMO_ERROR_INVALID},
		{"", KYMO_ERROR_INVALID},
		{"/nowhere/trace.json", KYMO_ERROR_NOT_FOUND},
		{"/nowhere/trace.kymo", KYMO_ERROR_NOT_FOUND},
	};
	struct kymo_session *session = record(1);
	struct kymo_error error = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(
			kymo_session_save(session, cases[i].path, NULL, NULL, &error),
			cases[i].status);
	/* And not to a file that the program has never heard of. */
	assert_non_null(strstr(error.message, "cannot write to \"/nowhere/\""));
	assert_int_equal(
		kymo_session_save(session, in_folder("trace.xyz"), NULL, NULL, &error),
		KYMO_ERROR_UNSUPPORTED);
	assert_non_null(strstr(error.message, "trace.xyz"));
	assert_non_null(strstr(error.message, ".json.gz"));
	assert_int_equal(count_files(), 0);
	kymo_session_destroy(session);
}

static void a_full_disk_is_told_and_leaves_nothing_behind(void **state)
{
	const struct rlimit small = {4096, RLIM_INFINITY};
	struct kymo_session *session = record(2000);
	struct kymo_error error = {0};
	struct rlimit before;
	int32_t kymo, json;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	kymo = kymo_session_save(session, in_folder("full.kymo"), NULL, NULL, &error);
	json = kymo_session_save(session, in_folder("full.json"), NULL, NULL, &error);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(kymo, KYMO_ERROR_IO);
	assert_int_equal(json, KYMO_ERROR_IO);
	assert_non_null(strstr(error.message, strerror(EFBIG)));
	assert_int_equal(count_files(), 0);
	/* The session is still there. */
	assert_int_equal(
		kymo_session_save(session, in_folder("full.kymo"), NULL, NULL, &error),
		KYMO_OK);
	unlink(in_folder("full.kymo"));
	kymo_session_destroy(session);
}

static void a_name_of_255_bytes_is_saved_to(void **state)
{
	char trace[256] = "", capture[256] = "";
	struct kymo_session *session = record(10);
	struct kymo_error error = {0};

	(void)state;
	memset(trace, 'n', 255);
	memcpy(trace + 255 - strlen(".json"), ".json", strlen(".json"));
	memset(capture, 'n', 255);
	memcpy(capture + 255 - strlen(".kymo"), ".kymo", strlen(".kymo"));
	if (kymo_session_save(session, in_folder(trace), NULL, NULL, &error) != KYMO_OK ||
	    kymo_session_save(session, in_folder(capture), NULL, NULL, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	assert_int_equal(count_files(), 2);
	unlink(in_folder(trace));
	unlink(in_folder(capture));
	kymo_session_destroy(session);
}

static void what_does_not_fit_is_counted(void **state)
{
	enum { MARKS = 200000 };
	struct kymo_summary summary = {.struct_size = sizeof(summary)};
	struct kymo_session *session;

	(void)state;
	assert_int_equal(
		kymo_session_create(&session,
				    KYMO_SESSION_OPTIONS(.buffer_size = 10u << 20), NULL),
		KYMO_OK);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	mark(MARKS);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	assert_int_equal(
		kymo_session_save(session, in_folder("full.kymo"), NULL, &summary, NULL),
		KYMO_OK);
	assert_true(summary.events > 10000);
	assert_true(summary.lost > 0);
	assert_int_equal(summary.events + summary.lost, MARKS);
	unlink(in_folder("full.kymo"));
	kymo_session_destroy(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_records_between_start_and_stop),
		cmocka_unit_test(a_wrong_order_is_refused_and_changes_nothing),
		cmocka_unit_test(calls_of_any_thread_in_any_order_are_right_or_refused),
		cmocka_unit_test(null_is_refused),
		cmocka_unit_test(a_session_may_be_destroyed_in_any_state),
		cmocka_unit_test(one_session_of_a_program_records_at_a_time),
		cmocka_unit_test(
			an_earlier_session_can_be_saved_while_a_later_one_records),
		cmocka_unit_test(options_are_checked),
		cmocka_unit_test(a_source_that_cannot_be_loaded_is_an_error),
		cmocka_unit_test(a_session_is_saved_in_every_format),
		cmocka_unit_test(a_file_that_is_there_is_kept_unless_told_otherwise),
		cmocka_unit_test(what_cannot_be_saved_leaves_nothing_behind),
		cmocka_unit_test(a_full_disk_is_told_and_leaves_nothing_behind),
		cmocka_unit_test(a_name_of_255_bytes_is_saved_to),
		cmocka_unit_test(what_does_not_fit_is_counted),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
