/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions whose source refuses now and then, while other threads do as they like. */
#define _GNU_SOURCE /* mkdtemp */
#include <kymo/plugin.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <kymo/kymo.h>

#include "folder.h"
#include "requests.h"
#include "support/test.h"

#define SESSION_THREADS 4
#define SESSIONS_LEAST  60u /* begun, and as many refused */

static uint32_t wrong; /* whatever is not in order */

static void must(int is_right)
{
	if (!is_right)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static uint32_t count(uint32_t *what)
{
	return __atomic_add_fetch(what, 1, __ATOMIC_RELAXED);
}

/* ---- Two sources: one that never refuses, one that does in each of its steps ---- */

struct source {
	const int is_moody;
	uint32_t begins, starts, ends, is_begun, is_flushed;
};

static struct source steady = {.is_flushed = 1}, moody = {.is_moody = 1, .is_flushed = 1};

/* Of three beginnings the first is refused by prepare, the second by start. */
static int32_t decide(struct source *source, uint32_t step, struct kymo_error *error)
{
	if (!source->is_moody || source->begins % 3 != step)
		return KYMO_OK;
	snprintf(error->message, sizeof(error->message), "not in the mood");
	return KYMO_ERROR_CONFIG;
}

static int32_t create_steady(const struct kymo_host *host, struct kymo_source_host *self,
			     const struct kymo_source_numbers *numbers, void **source,
			     struct kymo_error *error)
{
	(void)host, (void)self, (void)numbers, (void)error;
	*source = &steady;
	return KYMO_OK;
}

static int32_t create_moody(const struct kymo_host *host, struct kymo_source_host *self,
			    const struct kymo_source_numbers *numbers, void **source,
			    struct kymo_error *error)
{
	(void)host, (void)self, (void)numbers, (void)error;
	*source = &moody;
	return KYMO_OK;
}

static int32_t prepare(void *context, const struct kymo_source_session *session,
		       struct kymo_error *error)
{
	struct source *source = context;

	(void)session;
	must(!source->is_begun && source->is_flushed);
	count(&source->begins);
	return decide(source, 1, error);
}

static int32_t start(void *context, struct kymo_error *error)
{
	struct source *source = context;

	must(!source->is_begun && source->is_flushed);
	if (decide(source, 2, error) != KYMO_OK)
		return KYMO_ERROR_CONFIG;
	source->is_begun = 1;
	source->is_flushed = 0;
	count(&source->starts);
	return KYMO_OK;
}

static int32_t stop(void *context, uint64_t deadline_ns)
{
	struct source *source = context;

	(void)deadline_ns;
	must(source->is_begun);
	source->is_begun = 0;
	return KYMO_OK;
}

static int32_t flush(void *context, uint64_t deadline_ns)
{
	struct source *source = context;

	(void)deadline_ns;
	must(!source->is_begun && !source->is_flushed);
	source->is_flushed = 1;
	count(&source->ends);
	return KYMO_OK;
}

static const struct kymo_source_ops steady_ops = {.struct_size = sizeof(steady_ops),
						  .create = create_steady,
						  .prepare = prepare,
						  .start = start,
						  .stop = stop,
						  .flush = flush},
				    moody_ops = {.struct_size = sizeof(moody_ops),
						 .create = create_moody,
						 .prepare = prepare,
						 .start = start,
						 .stop = stop,
						 .flush = flush};
/* Called as an installed one, of which sessions set this option. */
static const struct kymo_option_desc seed = {
	.struct_size = sizeof(seed), .value_type = KYMO_VALUE_STRING, .name = "seed"};
static const struct kymo_option_desc *const options[] = {&seed, NULL};
static const struct kymo_source_desc sources[] = {
	{.struct_size = sizeof(*sources), .name = "fake", .ops = &steady_ops},
	{.struct_size = sizeof(*sources),
	 .name = "fake",
	 .ops = &moody_ops,
	 .options = options},
};
static const struct kymo_source_desc *const source_list[] = {&sources[0], &sources[1],
							     NULL};
static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.name = "other",
	.version = "1",
	.license = "MIT",
	.sources = source_list,
};

/* ---- A client, which is told of what was not refused ---- */

static struct {
	uint32_t prepared, started, stopped;
	enum { AT_REST, PREPARED, STARTED } progress; /* one call at a time */
} client;

static void client_prepare(void *context, uint64_t flags)
{
	(void)context, (void)flags;
	must(client.progress != STARTED);
	client.progress = PREPARED;
	count(&client.prepared);
}

static void client_start(void *context)
{
	(void)context;
	must(client.progress == PREPARED);
	client.progress = STARTED;
	count(&client.started);
}

static void client_stop(void *context)
{
	(void)context;
	must(client.progress == STARTED);
	client.progress = AT_REST;
	count(&client.stopped);
}

static const struct kymo_client_ops client_ops = {.struct_size = sizeof(client_ops),
						  .prepare = client_prepare,
						  .start = client_start,
						  .stop = client_stop};

/* ---- An observer ---- */

static uint32_t told[KYMO_STAGE_CANCELLATION + 1]; /* of sessions that are no requests */
static uint32_t discarded; /* requests that were ended by a session */

static void note_stage(void *context, const struct kymo_stage *stage)
{
	(void)context;
	if (stage->request == 0)
		count(&told[stage->stage]);
	else if (stage->stage == KYMO_STAGE_CANCELLATION && stage->status == KYMO_OK)
		count(&discarded);
}

static const struct kymo_observer_ops observer = {.struct_size = sizeof(observer),
						  .stage = note_stage};

/* ---- The storm ---- */

static const char *const wanted[] = {"fake:seed=1", NULL};
static uint32_t is_over, begun, refused, stopped;

/* Prepares it until nobody else has the gate and it has begun, or it is over. */
static int begin_session(struct kymo_session *session)
{
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		struct kymo_error error = {0};
		const int32_t status = kymo_session_prepare(session, &error);

		if (status == KYMO_OK)
			return 1;
		if (status == KYMO_ERROR_CONFIG)
			count(&refused);
		must(status == KYMO_ERROR_CONFIG || status == KYMO_ERROR_BUSY);
		must(status != KYMO_ERROR_CONFIG ||
		     strcmp(error.message, "source \"fake\": not in the mood") == 0);
		must(kymo_session_stop(session, NULL) == KYMO_ERROR_STATE);
	}
	return 0;
}

static void *change_sessions(void *context)
{
	uint32_t random = (uint32_t)(uintptr_t)context + 1;

	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		struct kymo_session *session = NULL;

		random = random * 1664525 + 1013904223;
		kymo_session_create(&session, KYMO_SESSION_OPTIONS(.sources = wanted),
				    NULL);
		if (begin_session(session)) {
			must(kymo_session_start(session, NULL) == KYMO_OK);
			count(&begun);
			mark(1);
			if (random >> 31) {
				must(kymo_session_stop(session, NULL) == KYMO_OK);
				count(&stopped);
			}
		}
		kymo_session_destroy(session);
	}
	return NULL;
}

static void *submit_requests(void *context)
{
	const struct kymo_session_options session = {.struct_size = sizeof(session),
						     .sources = wanted};
	const char *path = context;

	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
		uint64_t id;

		if (kymo_request_submit(REQUEST(.duration_ms = 1, .path = path,
						.overwrite = 1, .session = &session),
					&id, NULL) == KYMO_OK)
			must(kymo_request_wait(id, 100000, NULL) == KYMO_OK);
		usleep(500);
	}
	return NULL;
}

static void *record_marks(void *context)
{
	while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED))
		mark(1);
	return context;
}

static void wait_for_storm(void)
{
	while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < SESSIONS_LEAST ||
	       __atomic_load_n(&refused, __ATOMIC_RELAXED) < SESSIONS_LEAST)
		usleep(1000);
	__atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
}

/* By whichever thread was telling: the last may be a request's, which goes on a little.
 */
static void wait_until_told(void)
{
	for (int i = 0; i < 100000; i++) {
		const uint32_t ends =
			__atomic_load_n(&told[KYMO_STAGE_COLLECTION], __ATOMIC_RELAXED) +
			__atomic_load_n(&told[KYMO_STAGE_CANCELLATION], __ATOMIC_RELAXED);

		if (ends >= begun)
			return;
		usleep(1000);
	}
}

/* At once, not when another session begins. */
static void assert_refusal_ends_all(void)
{
	struct kymo_session *session = NULL;

	for (int32_t status = KYMO_OK; status != KYMO_ERROR_CONFIG;) {
		kymo_session_destroy(session);
		kymo_session_create(&session, KYMO_SESSION_OPTIONS(.sources = wanted),
				    NULL);
		status = kymo_session_prepare(session, NULL);
	}
	assert_int_equal(steady.starts, steady.ends);
	assert_int_equal(moody.starts, moody.ends);
	kymo_session_destroy(session);
}

static void what_is_refused_in_a_storm_is_undone_and_told_to_nobody(void **state)
{
	pthread_t threads[SESSION_THREADS + 2];
	const struct kymo_host *host;
	char path[PATH_MAX];

	(void)state;
	snprintf(path, sizeof(path), "%s/storm.kymo", folder);
	assert_int_equal(kymo_client_register(&client_ops, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_observer_register(&observer, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_agent_attach_v1(&plugin, &host, NULL), KYMO_OK);
	for (uintptr_t i = 0; i < SESSION_THREADS; i++)
		pthread_create(&threads[i], NULL, change_sessions, (void *)i);
	pthread_create(&threads[SESSION_THREADS], NULL, submit_requests, path);
	pthread_create(&threads[SESSION_THREADS + 1], NULL, record_marks, NULL);
	wait_for_storm();
	for (size_t i = 0; i < SESSION_THREADS + 2; i++)
		pthread_join(threads[i], NULL);
	unlink(path);
	wait_until_told();

	assert_int_equal(wrong, 0);
	assert_true(steady.starts > moody.starts);
	assert_true(client.started >= begun);
	assert_true(client.prepared <= client.started + discarded);
	assert_int_equal(client.stopped, client.started);
	assert_int_equal(told[KYMO_STAGE_WARM_UP], begun);
	assert_int_equal(told[KYMO_STAGE_COLLECTION], stopped);
	assert_int_equal(told[KYMO_STAGE_CANCELLATION], begun - stopped);
	assert_refusal_ends_all();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_refused_in_a_storm_is_undone_and_told_to_nobody),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
