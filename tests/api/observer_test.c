/* SPDX-License-Identifier: BSD-3-Clause */
/* Observers: what is said, and each stage once and in order, whatever ends it. */
#define _GNU_SOURCE /* mkdtemp */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kymo/kymo.h>

#include "folder.h"
#include "requests.h"
#include "support/test.h"

#define SEEN_MAX 64u

struct seen {
	struct kymo_stage stage;
	char trace_id[64], group_trace_id[64], destination[512], reason[512];
};

/* Written by whoever tells, one at a time. */
static struct seen seen[SEEN_MAX];
static uint32_t seen_count;

static void see(void *context, const struct kymo_stage *stage)
{
	struct seen *to = &seen[seen_count % SEEN_MAX];

	assert_ptr_equal(context, seen);
	assert_int_equal(stage->struct_size, sizeof(*stage));
	to->stage = *stage;
	snprintf(to->trace_id, sizeof(to->trace_id), "%s", stage->trace_id);
	snprintf(to->group_trace_id, sizeof(to->group_trace_id), "%s",
		 stage->group_trace_id);
	snprintf(to->destination, sizeof(to->destination), "%s", stage->destination);
	snprintf(to->reason, sizeof(to->reason), "%s", stage->reason);
	__atomic_fetch_add(&seen_count, 1, __ATOMIC_RELEASE);
}

static const struct kymo_observer_ops stages = {
	.struct_size = sizeof(stages),
	.stage = see,
};

static int observe(void **state)
{
	(void)state;
	seen_count = 0;
	return kymo_observer_register(&stages, seen, NULL);
}

static int look_away(void **state)
{
	(void)state;
	return kymo_observer_unregister(&stages, seen);
}

/* Requests tell theirs behind what polling sees, by a thread of the library. */
static void wait_for_stages(uint32_t count)
{
	for (int i = 0; i < 20000; i++) {
		if (__atomic_load_n(&seen_count, __ATOMIC_ACQUIRE) >= count)
			return;
		usleep(1000);
	}
}

static void assert_stages(const char *wanted)
{
	static const char letters[] = "?wcpx";
	char found[SEEN_MAX + 1] = "";

	for (uint32_t i = 0; i < seen_count; i++) {
		found[i] = letters[seen[i].stage.stage];
		assert_int_equal(seen[i].stage.ordinal, i + 1);
	}
	assert_string_equal(found, wanted);
}

static struct kymo_session *create(void)
{
	static const char text[] = "REQUEST_TRACE_ID = run \"7\"\n"
				   "REQUEST_GROUP_TRACE_ID = all\n";
	const struct kymo_config_options options = {
		.struct_size = sizeof(options),
		.text = {text, strlen(text)},
	};
	struct kymo_config *config = NULL;
	struct kymo_session *session = NULL;
	struct kymo_error error = {0};

	if (kymo_config_create(&config, &options, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	assert_int_equal(kymo_session_create(
				 &session, KYMO_SESSION_OPTIONS(.config = config), NULL),
			 KYMO_OK);
	kymo_config_destroy(config);
	return session;
}

/* ---- Sessions ---- */

static void a_session_tells_its_stages_in_order(void **state)
{
	const char *path = in_folder("a.json");
	struct kymo_session *session = create();

	(void)state;
	assert_int_equal(kymo_session_prepare(session, NULL), KYMO_OK);
	usleep(2000);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	assert_stages("w");
	for (int i = 0; i < 5; i++)
		mark(1);
	usleep(2000);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_save(session, path, NULL, NULL, NULL), KYMO_OK);
	kymo_session_destroy(session);
	assert_stages("wcp");
	assert_true(seen[0].stage.duration_ns >= 2000000);
	assert_true(seen[1].stage.duration_ns >= 2000000);
	assert_true(seen[2].stage.duration_ns > 0);
	assert_int_equal(seen[2].stage.events, 5);
	assert_int_equal(seen[2].stage.lost, 0);
	assert_string_equal(seen[2].destination, path);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(seen[i].stage.status, KYMO_OK);
		assert_int_equal(seen[i].stage.request, 0);
		assert_string_equal(seen[i].trace_id, "run \"7\"");
		assert_string_equal(seen[i].group_trace_id, "all");
		assert_string_equal(seen[i].reason, "");
	}
	unlink(path);
}

static void a_save_that_fails_says_why_and_may_be_done_again(void **state)
{
	const char *path = in_folder("a.kymo");
	struct kymo_session *session = create();

	(void)state;
	kymo_session_start(session, NULL);
	kymo_session_stop(session, NULL);
	assert_int_not_equal(
		kymo_session_save(session, "/no/such/x.json", NULL, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_save(session, path, NULL, NULL, NULL), KYMO_OK);
	kymo_session_destroy(session);
	assert_stages("wcpp");
	assert_true(seen[2].stage.status < 0);
	assert_non_null(strstr(seen[2].reason, "/no/such/x.json"));
	assert_string_equal(seen[2].destination, "");
	assert_string_equal(seen[3].destination, path);
	unlink(path);
}

static void a_snapshot_is_told_as_the_save_that_it_is(void **state)
{
	const char *path = in_folder("a.json");
	struct kymo_session *session = create();

	(void)state;
	kymo_session_start(session, NULL);
	mark(1);
	assert_int_equal(kymo_session_snapshot(session, path, 0, NULL, NULL, NULL),
			 KYMO_OK);
	assert_stages("wp");
	assert_int_equal(seen[1].stage.events, 1);
	assert_string_equal(seen[1].destination, path);
	assert_int_not_equal(kymo_session_snapshot(session, path, 0, NULL, NULL, NULL),
			     KYMO_OK);
	kymo_session_stop(session, NULL);
	kymo_session_destroy(session);
	assert_stages("wppc");
	assert_true(seen[2].stage.status == KYMO_ERROR_EXISTS);
	unlink(path);
}

static void what_is_destroyed_before_it_was_stopped_is_cancelled(void **state)
{
	struct kymo_session *session = create();

	kymo_session_start(session, NULL);
	kymo_session_destroy(session);
	assert_stages("wx");
	seen_count = 0;
	session = create();
	kymo_session_prepare(session, NULL);
	kymo_session_destroy(session);
	assert_stages("x");
	seen_count = 0;
	kymo_session_destroy(create());
	assert_stages("");
	(void)state;
}

static int32_t waited_status;

/* It may call anything, so also wait for the save that it is told of. */
static void wait_for_save(void *context, const struct kymo_stage *stage)
{
	struct kymo_save **place = context, *save = NULL;

	if (stage->stage != KYMO_STAGE_POST_PROCESSING)
		return;
	/* It may be told before the program knows of its save. */
	while (!(save = __atomic_load_n(place, __ATOMIC_ACQUIRE)))
		usleep(100);
	__atomic_store_n(&waited_status, kymo_save_wait(save, 20000, NULL, NULL),
			 __ATOMIC_RELEASE);
}

static void a_save_in_the_background_tells_its_stage_too(void **state)
{
	static const struct kymo_observer_ops waiting = {
		.struct_size = sizeof(waiting),
		.stage = wait_for_save,
	};
	const char *path = in_folder("background.json");
	struct kymo_session *session = create();
	struct kymo_save *save = NULL, *told_of = NULL;

	(void)state;
	assert_int_equal(kymo_observer_register(&waiting, &told_of, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	mark(1);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	waited_status = KYMO_AGAIN;
	assert_int_equal(kymo_save_start(session, path, NULL, &save, NULL), KYMO_OK);
	__atomic_store_n(&told_of, save, __ATOMIC_RELEASE);
	assert_int_equal(kymo_save_wait(save, -1, NULL, NULL), KYMO_OK);
	/* Both are told by its thread, this one last. */
	for (int i = 0;
	     i < 20000 && __atomic_load_n(&waited_status, __ATOMIC_ACQUIRE) == KYMO_AGAIN;
	     i++)
		usleep(1000);
	assert_int_equal(waited_status, KYMO_OK);
	assert_stages("wcp");
	assert_string_equal(seen[2].destination, path);
	assert_int_equal(seen[2].stage.events, 1);
	assert_int_equal(kymo_observer_unregister(&waiting, &told_of), KYMO_OK);
	kymo_save_destroy(save);
	kymo_session_destroy(session);
	unlink(path);
}

/* ---- Requests ---- */

static void run(const struct kymo_request_options *options, uint32_t state,
		uint32_t stage_count)
{
	struct kymo_request_status status = {.struct_size = sizeof(status)};
	struct kymo_error error = {0};
	uint64_t id = 0;

	if (kymo_request_submit(options, &id, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	if (state == KYMO_REQUEST_CANCELLED)
		assert_int_equal(kymo_request_cancel(id, NULL), KYMO_OK);
	assert_int_equal(kymo_request_wait(id, 20000, &status), KYMO_OK);
	assert_int_equal(status.state, state);
	wait_for_stages(stage_count);
	for (uint32_t i = 0; i < seen_count; i++)
		assert_int_equal(seen[i].stage.request, id);
}

static void requests_tell_theirs_however_they_end(void **state)
{
	static char path[PATH_MAX];
	(void)state;

	snprintf(path, sizeof(path), "%s", in_folder("a.kymo"));
	run(REQUEST(.duration_ms = 5, .path = path), KYMO_REQUEST_DONE, 3);
	assert_stages("wcp");
	assert_string_equal(seen[2].destination, path);
	unlink(path);
	seen_count = 0;
	run(REQUEST(.duration_ms = 60000, .warmup_ms = 60000, .path = path),
	    KYMO_REQUEST_CANCELLED, 1);
	assert_true(seen_count == 1);
	assert_int_equal(seen[0].stage.stage, KYMO_STAGE_CANCELLATION);
	assert_string_equal(seen[0].reason, "cancelled by the program");
	seen_count = 0;
	/* The folder goes away meanwhile: nothing can be written. */
	snprintf(path, sizeof(path), "%s/sub", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/sub/a.json", folder);
	{
		uint64_t id = 0;
		struct kymo_request_status status = {.struct_size = sizeof(status)};

		kymo_session_step();
		assert_int_equal(
			kymo_request_submit(REQUEST(.iterations = 1, .path = path), &id,
					    NULL),
			KYMO_OK);
		snprintf(path, sizeof(path), "%s/sub", folder);
		assert_int_equal(rmdir(path), 0);
		for (int i = 0; i < 3; i++)
			kymo_session_step();
		assert_int_equal(kymo_request_wait(id, 20000, &status), KYMO_OK);
		assert_int_equal(status.state, KYMO_REQUEST_FAILED);
		unlink(status.path); /* kept among the temporary files */
		wait_for_stages(3);
	}
	assert_stages("wcp");
	assert_true(seen[2].stage.status < 0);
	assert_true(seen[2].reason[0] != '\0');
}

static void one_that_is_preempted_is_saved_and_cancelled(void **state)
{
	static char path[PATH_MAX];
	struct kymo_request_status status = {.struct_size = sizeof(status)};
	struct kymo_session *session = NULL;
	uint64_t id = 0;
	uint32_t count = 0, last = 0;

	(void)state;
	snprintf(path, sizeof(path), "%s", in_folder("a.kymo"));
	assert_int_equal(kymo_request_submit(REQUEST(.duration_ms = 60000, .path = path),
					     &id, NULL),
			 KYMO_OK);
	do {
		usleep(1000);
		kymo_request_poll(id, &status);
	} while (status.state != KYMO_REQUEST_RECORDING);
	kymo_session_create(&session, NULL, NULL);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	assert_int_equal(kymo_request_wait(id, 20000, &status), KYMO_OK);
	wait_for_stages(5); /* with the warm-up of the session */
	for (uint32_t i = 0; i < seen_count; i++) {
		if (seen[i].stage.request != id)
			continue;
		assert_int_equal(seen[i].stage.ordinal, ++count);
		assert_int_equal(seen[i].stage.stage, count);
		last = i;
	}
	assert_int_equal(count, 4);
	assert_string_equal(seen[last].destination, path);
	assert_non_null(strstr(seen[last].reason, "pre-empted"));
	kymo_session_destroy(session);
	unlink(path);
}

/* ---- What observers may do ---- */

static int32_t nested_status;

static void interfere(void *context, const struct kymo_stage *stage)
{
	struct kymo_request_status status = {.struct_size = sizeof(status)};
	struct kymo_session *session = NULL;

	(void)context;
	kymo_request_poll(stage->request, &status);
	nested_status = kymo_session_create(&session, NULL, NULL);
	kymo_session_destroy(session);
}

static void an_observer_may_call_anything(void **state)
{
	const struct kymo_observer_ops ops = {
		.struct_size = sizeof(ops),
		.stage = interfere,
	};
	const char *path = in_folder("a.kymo");

	(void)state;
	nested_status = KYMO_ERROR_STATE;
	assert_int_equal(kymo_observer_register(&ops, NULL, NULL), KYMO_OK);
	run(REQUEST(.duration_ms = 5, .path = path), KYMO_REQUEST_DONE, 3);
	assert_int_equal(nested_status, KYMO_OK);
	assert_int_equal(kymo_observer_unregister(&ops, NULL), KYMO_OK);
	unlink(path);
}

static void observers_are_added_once_and_have_a_bound(void **state)
{
	struct kymo_error error = {0};
	static char places[32];

	(void)state;
	assert_int_equal(kymo_observer_register(NULL, NULL, &error), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_observer_register(&stages, seen, &error), KYMO_OK);
	for (int i = 0; i < 15; i++)
		assert_int_equal(kymo_observer_register(&stages, &places[i], &error),
				 KYMO_OK);
	assert_int_equal(kymo_observer_register(&stages, &places[15], &error),
			 KYMO_ERROR_NO_MEMORY);
	for (int i = 0; i < 15; i++)
		assert_int_equal(kymo_observer_unregister(&stages, &places[i]), KYMO_OK);
	assert_int_equal(kymo_observer_unregister(&stages, &places[0]),
			 KYMO_ERROR_NOT_FOUND);
}

static struct {
	uint32_t count, severity;
	int64_t thread;
	char message[256];
} heard;

static void hear(void *context, const struct kymo_log_record *record)
{
	(void)context;
	heard.count++;
	heard.severity = record->severity;
	heard.thread = record->thread;
	assert_true(record->unix_ns > 1000000000);
	snprintf(heard.message, sizeof(heard.message), "%s", record->message);
}

static void what_is_logged_has_its_fields_and_a_lowest_severity(void **state)
{
	static const struct kymo_observer_ops all = {.struct_size = sizeof(all),
						     .log = hear};
	static const struct kymo_observer_ops errors = {.struct_size = sizeof(errors),
							.severity = KYMO_SEVERITY_ERROR,
							.log = hear};
	struct kymo_session *session = NULL;
	uint32_t number;

	(void)state;
	kymo_observer_register(&errors, NULL, NULL);
	/* A deprecated name is worth a word, once a session. */
	kymo_activity_type_lookup("hpu_op", &number, NULL);
	assert_int_equal(heard.count, 0);
	kymo_observer_register(&all, NULL, NULL);
	kymo_session_create(&session, NULL, NULL);
	kymo_session_prepare(session, NULL);
	kymo_activity_type_lookup("hpu_op", &number, NULL);
	kymo_session_destroy(session);
	assert_int_equal(heard.count, 1);
	assert_int_equal(heard.severity, KYMO_SEVERITY_WARNING);
	assert_int_equal(heard.thread, getpid());
	assert_non_null(strstr(heard.message, "\"hpu_op\" is deprecated"));
	kymo_observer_unregister(&all, NULL);
	kymo_observer_unregister(&errors, NULL);
}

#define OBSERVED(test) cmocka_unit_test_setup_teardown(test, observe, look_away)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OBSERVED(a_session_tells_its_stages_in_order),
		OBSERVED(a_save_in_the_background_tells_its_stage_too),
		OBSERVED(a_save_that_fails_says_why_and_may_be_done_again),
		OBSERVED(a_snapshot_is_told_as_the_save_that_it_is),
		OBSERVED(what_is_destroyed_before_it_was_stopped_is_cancelled),
		OBSERVED(requests_tell_theirs_however_they_end),
		OBSERVED(one_that_is_preempted_is_saved_and_cancelled),
		OBSERVED(an_observer_may_call_anything),
		OBSERVED(observers_are_added_once_and_have_a_bound),
		cmocka_unit_test(what_is_logged_has_its_fields_and_a_lowest_severity),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
