/* SPDX-License-Identifier: BSD-3-Clause */
/* A framework's profiler that sessions tell what they do. */
#define _GNU_SOURCE /* mkdtemp */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <kymo/kymo.h>

#include "folder.h"
#include "memory_sink.h"
#include "support/test.h"

static char told[65536]; /* one letter a call */
static uint64_t flags_told;

static void tell(char letter)
{
	const size_t size = strlen(told);

	assert_true(size + 1 < sizeof(told));
	told[size] = letter;
}

static void on_init(void *context)
{
	assert_ptr_equal(context, told);
	tell('i');
}

static void on_prepare(void *context, uint64_t flags)
{
	(void)context;
	flags_told = flags;
	tell('p');
}

static void on_start(void *context)
{
	(void)context;
	tell('s');
}

/* Hands in what it has collected. */
static void on_stop(void *context)
{
	uint64_t begin = kymo_mark_begin();

	(void)context;
	kymo_mark_end(begin, kymo_mark_intern("op", 2));
	tell('e');
}

static int32_t on_start_memory(void *context, struct kymo_error *error)
{
	(void)context;
	(void)error;
	tell('m');
	return KYMO_OK;
}

static int32_t on_export_memory(void *context, const char *path, struct kymo_error *error)
{
	(void)context;
	tell('x');
	if (strcmp(path, "full") != 0)
		return KYMO_OK;
	error->status = KYMO_ERROR_IO;
	snprintf(error->message, sizeof(error->message), "the disk is full");
	return KYMO_ERROR_IO;
}

static void on_stop_memory(void *context)
{
	(void)context;
	tell('n');
}

static const struct kymo_client_ops ops = {
	.struct_size = sizeof(ops),
	.init = on_init,
	.prepare = on_prepare,
	.start = on_start,
	.stop = on_stop,
	.start_memory = on_start_memory,
	.export_memory = on_export_memory,
	.stop_memory = on_stop_memory,
};

static struct kymo_session *create(void)
{
	struct kymo_session *session = NULL;

	assert_int_equal(kymo_session_create(
				 &session,
				 KYMO_SESSION_OPTIONS(.client_flags = KYMO_CLIENT_STACK |
								      KYMO_CLIENT_MEMORY),
				 NULL),
			 KYMO_OK);
	return session;
}

static void assert_told(const char *letters)
{
	assert_string_equal(told, letters);
	memset(told, 0, sizeof(told));
}

static void without_a_client_there_is_nothing_to_ask(void **state)
{
	struct kymo_error error;

	(void)state;
	assert_int_equal(kymo_client_memory_snapshot(0, "x", &error),
			 KYMO_ERROR_NOT_FOUND);
	assert_int_equal(kymo_client_register(NULL, NULL, &error), KYMO_ERROR_INVALID);
}

static void a_client_is_initialised_once_and_is_the_only_one(void **state)
{
	static const struct kymo_client_ops other = {.struct_size = sizeof(other)};
	struct kymo_session *session = create();

	(void)state;
	/* In the middle of a session, of which it hears nothing then. */
	assert_int_equal(kymo_session_prepare(session, NULL), KYMO_OK);
	assert_int_equal(kymo_client_register(&ops, told, NULL), KYMO_OK);
	assert_int_equal(kymo_client_register(&ops, told, NULL), KYMO_OK);
	assert_int_equal(kymo_client_register(&other, NULL, NULL), KYMO_ERROR_EXISTS);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	kymo_session_destroy(session);
	assert_told("i");
}

static void each_session_tells_it_once_and_in_order(void **state)
{
	const char *path = in_folder("client.kymo");
	struct kymo_session *session = create();
	struct memory_sink sink = {0};

	(void)state;
	assert_int_equal(kymo_session_prepare(session, NULL), KYMO_OK);
	assert_told("p");
	assert_int_equal(flags_told, KYMO_CLIENT_STACK | KYMO_CLIENT_MEMORY);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_ERROR_STATE);
	assert_int_equal(kymo_session_pause(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_resume(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_ERROR_STATE);
	assert_told("se");
	/* What it hands in at the stop is part of the session. */
	assert_int_equal(kymo_session_save(session, path, NULL, NULL, NULL), KYMO_OK);
	kymo_session_destroy(session);
	assert_told("");
	assert_int_equal(
		kymo_timeline_export_to(&path, 1, &memory_ops, &sink, NULL, NULL),
		KYMO_OK);
	assert_string_equal(sink.events[sink.count - 1].name, "op");
	unlink(path);
	memory_free(&sink);
}

static void a_request_has_what_it_hands_in_at_the_stop_too(void **state)
{
	const char *path = in_folder("request.kymo");
	const struct kymo_request_options options = {
		.struct_size = sizeof(options), .duration_ms = 1, .path = path};
	struct kymo_request_status status = {.struct_size = sizeof(status)};
	struct memory_sink sink = {0};
	uint64_t id;

	(void)state;
	assert_int_equal(kymo_request_submit(&options, &id, NULL), KYMO_OK);
	assert_int_equal(kymo_request_wait(id, 20000, &status), KYMO_OK);
	assert_int_equal(status.state, KYMO_REQUEST_DONE);
	assert_told("pse");
	assert_int_equal(
		kymo_timeline_export_to(&path, 1, &memory_ops, &sink, NULL, NULL),
		KYMO_OK);
	assert_int_equal(sink.count, 1);
	assert_string_equal(sink.events[0].name, "op");
	unlink(path);
	memory_free(&sink);
}

static void one_that_never_starts_is_not_stopped(void **state)
{
	struct kymo_session *session = create();

	(void)state;
	assert_int_equal(kymo_session_prepare(session, NULL), KYMO_OK);
	kymo_session_destroy(session);
	assert_told("p");
	/* One that is thrown away while it records is. */
	session = create();
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	kymo_session_destroy(session);
	assert_told("pse");
}

static void *start_and_stop(void *context)
{
	struct kymo_session *session = context;

	for (int i = 0; i < 200; i++) {
		kymo_session_start(session, NULL);
		kymo_session_stop(session, NULL);
	}
	return NULL;
}

static void threads_that_start_and_stop_leave_the_order(void **state)
{
	pthread_t threads[4];

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct kymo_session *session = create();

		for (size_t i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, start_and_stop, session);
		for (size_t i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
		kymo_session_destroy(session);
		assert_told("pse");
	}
}

static void what_is_to_be_collected_is_configured_too(void **state)
{
	static const char text[] = "PROFILE_REPORT_INPUT_SHAPES = yes\n"
				   "PYTHON_STACK_TRACE = 1\n"
				   "PROFILE_WITH_FLOPS = no\n"
				   "PROFILE_WITH_MODULES = true\n";
	const struct kymo_config_options options = {
		.struct_size = sizeof(options),
		.text = {text, sizeof(text) - 1},
	};
	struct kymo_session *session = NULL;
	struct kymo_config *config = NULL;

	(void)state;
	assert_int_equal(kymo_config_create(&config, &options, NULL), KYMO_OK);
	assert_int_equal(kymo_session_create(
				 &session, KYMO_SESSION_OPTIONS(.config = config), NULL),
			 KYMO_OK);
	assert_int_equal(kymo_session_prepare(session, NULL), KYMO_OK);
	kymo_session_destroy(session);
	assert_int_equal(flags_told, KYMO_CLIENT_INPUT_SHAPES | KYMO_CLIENT_STACK |
					     KYMO_CLIENT_MODULES);
	/* What the program says itself holds. */
	assert_int_equal(kymo_session_create(
				 &session,
				 KYMO_SESSION_OPTIONS(.config = config,
						      .client_flags = KYMO_CLIENT_MEMORY),
				 NULL),
			 KYMO_OK);
	assert_int_equal(kymo_session_prepare(session, NULL), KYMO_OK);
	kymo_session_destroy(session);
	assert_int_equal(flags_told, KYMO_CLIENT_MEMORY);
	kymo_config_destroy(config);
	assert_told("pp");
}

#define STORM_THREADS 8
#define STORM_ROUNDS  60

static uint64_t last_request;

static void note_request(uint64_t id)
{
	uint64_t before = __atomic_load_n(&last_request, __ATOMIC_RELAXED);

	while (before < id &&
	       !__atomic_compare_exchange_n(&last_request, &before, id, 0,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Sessions of its own, and requests that they pre-empt and others cancel. */
static void *storm(void *context)
{
	const uintptr_t number = (uintptr_t)context;
	unsigned seed = (unsigned)number + 1;
	char path[64];

	snprintf(path, sizeof(path), "%s/storm-%d.kymo", folder, (int)number);
	for (int i = 0; i < STORM_ROUNDS; i++) {
		const struct kymo_request_options request = {
			.struct_size = sizeof(request),
			.overwrite = 1,
			.duration_ms = 1 + (uint64_t)rand_r(&seed) % 3,
			.path = path,
		};
		const int choice = rand_r(&seed) % 5;
		struct kymo_session *session = NULL;
		uint64_t id = 0;

		usleep((unsigned)rand_r(&seed) % 4000);
		if (choice <= 1) {
			if (kymo_request_submit(&request, &id, NULL) == KYMO_OK)
				note_request(id);
			if (id && rand_r(&seed) % 2)
				kymo_request_cancel(id, NULL);
			continue;
		}
		session = create();
		if (choice == 2)
			kymo_session_prepare(session, NULL);
		if (choice > 2 && kymo_session_start(session, NULL) == KYMO_OK) {
			kymo_session_pause(session, NULL);
			if (choice == 3)
				kymo_session_stop(session, NULL);
		}
		kymo_session_destroy(session);
	}
	return NULL;
}

static void a_storm_of_sessions_and_requests_leaves_the_order(void **state)
{
	struct kymo_request_status status = {.struct_size = sizeof(status)};
	pthread_t threads[STORM_THREADS];
	int prepared = 0, started = 0;

	(void)state;
	for (uintptr_t i = 0; i < STORM_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, storm, (void *)i), 0);
	for (size_t i = 0; i < STORM_THREADS; i++)
		pthread_join(threads[i], NULL);
	/* Another thread's may still be going on; there is one at a time. */
	if (last_request)
		assert_int_equal(kymo_request_wait(last_request, -1, &status), KYMO_OK);
	for (const char *at = told; *at;) {
		assert_int_equal(*at++, 'p');
		prepared++;
		if (*at != 's')
			continue;
		assert_int_equal(*++at, 'e');
		at++;
		started++;
	}
	assert_true(prepared > started && started > 0);
	memset(told, 0, sizeof(told));
	assert_true(last_request > 10);
	for (int i = 0; i < STORM_THREADS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "storm-%d.kymo", i);
		unlink(in_folder(name));
	}
}

static void a_memory_snapshot_is_started_exported_and_stopped(void **state)
{
	struct kymo_error error = {0};

	(void)state;
	assert_int_equal(kymo_client_memory_snapshot(1, "x", NULL), KYMO_OK);
	assert_told("mxn");
	assert_int_equal(kymo_client_memory_snapshot(0, "full", &error), KYMO_ERROR_IO);
	assert_string_equal(error.message, "the disk is full");
	assert_told("mxn");
	assert_int_equal(kymo_client_memory_snapshot(0, "", &error), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_client_memory_snapshot(UINT64_MAX, "x", &error),
			 KYMO_ERROR_INVALID);
	assert_told("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_client_there_is_nothing_to_ask),
		cmocka_unit_test(a_client_is_initialised_once_and_is_the_only_one),
		cmocka_unit_test(each_session_tells_it_once_and_in_order),
		cmocka_unit_test(a_request_has_what_it_hands_in_at_the_stop_too),
		cmocka_unit_test(one_that_never_starts_is_not_stopped),
		cmocka_unit_test(threads_that_start_and_stop_leave_the_order),
		cmocka_unit_test(what_is_to_be_collected_is_configured_too),
		cmocka_unit_test(a_storm_of_sessions_and_requests_leaves_the_order),
		cmocka_unit_test(a_memory_snapshot_is_started_exported_and_stopped),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
