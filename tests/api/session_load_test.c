/* SPDX-License-Identifier: BSD-3-Clause */
/* Many sessions, and threads that mark through all of them. */
#define _GNU_SOURCE /* mkdtemp */
#include <pthread.h>
#include <stdio.h>

#include <kymo/kymo.h>

#include "folder.h"
#include "memory_sink.h"
#include "support/test.h"

static void mark(int count)
{
	static uint32_t name;

	for (int i = 0; i < count; i++) {
		uint64_t begin = kymo_mark_begin();

		kymo_mark_end(begin, kymo_mark_name(&name, "step"));
	}
}

/* Saves as .kymo, reads it back, and holds the counts against each other. */
static void check_ledger(struct kymo_session *session)
{
	const char *path = in_folder("look.kymo");
	struct memory_sink sink = {0};

	assert_int_equal(kymo_session_save(session, path, NULL, NULL, NULL), KYMO_OK);
	assert_int_equal(
		kymo_timeline_export_to(&path, 1, &memory_ops, &sink, NULL, NULL),
		KYMO_OK);
	assert_int_equal(sink.ledger.accepted,
			 sink.ledger.written + sink.ledger.full + sink.ledger.too_big +
				 sink.ledger.nested + sink.ledger.cut);
	memory_free(&sink);
	unlink(path);
}

/*
 * Pages in use; a sanitizer's own, and what it keeps of freed ones, cannot be told apart.
 */
static long resident_pages(void)
{
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#if defined(HAS_SANITIZER)
	return 0;
#else
	long size = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%ld %ld", &size, &resident), 2);
	fclose(file);
	return resident;
#endif
}

static void a_thousand_sessions_do_not_add_up(void **state)
{
	long before = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		struct kymo_session *session;

		assert_int_equal(kymo_session_create(
					 &session,
					 KYMO_SESSION_OPTIONS(.buffer_size = 10u << 20),
					 NULL),
				 KYMO_OK);
		assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
		mark(1);
		assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
		kymo_session_destroy(session);
		if (i == 100)
			before = resident_pages();
	}
	/* 8 MiB of 4 KiB pages, of 900 sessions that each touch more than 4 MiB. */
	assert_true(resident_pages() - before < 2048);
}

/* One that is prepared again and again, in vain. */
static void a_thousand_refusals_do_not_add_up(void **state)
{
	static const char *const bad[] = {"fake:fault=typo", NULL};
	struct kymo_session *session;
	long before = 0;

	(void)state;
	assert_int_equal(
		kymo_session_create(&session, KYMO_SESSION_OPTIONS(.sources = bad), NULL),
		KYMO_OK);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(kymo_session_prepare(session, NULL), KYMO_ERROR_CONFIG);
		if (i == 100)
			before = resident_pages();
	}
	assert_true(resident_pages() - before < 2048);
	kymo_session_destroy(session);
}

static int stop_marking;

static void *mark_until_told(void *context)
{
	(void)context;
	while (!__atomic_load_n(&stop_marking, __ATOMIC_RELAXED))
		mark(1);
	return NULL;
}

static void sessions_come_and_go_under_marking_threads(void **state)
{
	pthread_t threads[2];

	(void)state;
	stop_marking = 0;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, mark_until_told, NULL),
				 0);
	for (int i = 0; i < 100; i++) {
		struct kymo_session *session;

		assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
		assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
		assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
		if (i % 25 == 0)
			check_ledger(session);
		kymo_session_destroy(session);
	}
	__atomic_store_n(&stop_marking, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_sessions_do_not_add_up),
		cmocka_unit_test(a_thousand_refusals_do_not_add_up),
		cmocka_unit_test(sessions_come_and_go_under_marking_threads),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
