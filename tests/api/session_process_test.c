/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions of forked children and of many threads. */
#define _GNU_SOURCE /* mkdtemp */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorded.h"

/* Runs it in a child, whose status must be 0. */
static void in_child(void (*child)(struct kymo_session *), struct kymo_session *session)
{
	int status = -1;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		child(session);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void use_own_session(struct kymo_session *parents)
{
	struct kymo_session *own = NULL;
	struct kymo_error error;

	mark(3);
	if (!kymo_mark_is_off())
		_exit(1);
	if (kymo_session_stop(parents, &error) != KYMO_ERROR_STATE)
		_exit(2);
	if (kymo_session_create(&own, NULL, NULL) != KYMO_OK ||
	    kymo_session_start(own, &error) != KYMO_OK)
		_exit(3);
	mark(2);
	kymo_session_destroy(parents);
	mark(2);
	if (kymo_session_stop(own, NULL) != KYMO_OK ||
	    kymo_session_save(own, in_folder("child.kymo"), NULL, NULL, NULL) != KYMO_OK)
		_exit(4);
	kymo_session_destroy(own);
}

static void a_forked_child_leaves_its_parents_session_alone(void **state)
{
	struct kymo_session *session = new_session();
	const char *path = in_folder("child.kymo");
	struct memory_sink sink = {0};

	(void)state;
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	mark(2);
	in_child(use_own_session, session);
	mark(3);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	assert_int_equal(
		kymo_timeline_export_to(&path, 1, &memory_ops, &sink, NULL, NULL),
		KYMO_OK);
	assert_int_equal(sink.count, 4);
	assert_true(sink.pid != (uint64_t)getpid());
	memory_free(&sink);
	unlink(path);
	look_at(session, &sink);
	assert_int_equal(sink.count, 5);
	memory_free(&sink);
	kymo_session_destroy(session);
}

static void save_parents_session(struct kymo_session *session)
{
	if (kymo_session_save(session, in_folder("child.json"), NULL, NULL, NULL) !=
	    KYMO_OK)
		_exit(1);
	kymo_session_destroy(session);
}

static void a_stopped_session_may_be_saved_by_a_child(void **state)
{
	struct kymo_session *session = record(2);

	(void)state;
	in_child(save_parents_session, session);
	assert_int_equal(unlink(in_folder("child.json")), 0);
	kymo_session_destroy(session);
}

enum { THREADS = 4, MARKS_EACH = 20000 };

static void *mark_often(void *context)
{
	(void)context;
	mark(MARKS_EACH);
	return NULL;
}

static void marks_of_all_threads_are_there(void **state)
{
	struct kymo_session *session = new_session();
	pthread_t threads[THREADS];
	struct memory_sink sink;
	uint64_t tids[THREADS] = {0};
	int tid_count = 0;

	(void)state;
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, mark_often, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	look_at(session, &sink);
	assert_int_equal(sink.count, THREADS * MARKS_EACH);
	for (size_t i = 0; i < sink.count; i++) {
		int at = 0;

		while (at < tid_count && tids[at] != sink.events[i].tid)
			at++;
		if (at == tid_count && tid_count < THREADS)
			tids[tid_count++] = sink.events[i].tid;
		assert_true(at < THREADS);
	}
	assert_int_equal(tid_count, THREADS);
	memory_free(&sink);
	kymo_session_destroy(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_forked_child_leaves_its_parents_session_alone),
		cmocka_unit_test(a_stopped_session_may_be_saved_by_a_child),
		cmocka_unit_test(marks_of_all_threads_are_there),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
