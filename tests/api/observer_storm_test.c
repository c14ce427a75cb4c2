/* SPDX-License-Identifier: BSD-3-Clause */
/* Observers: each stage once and in order, whatever many threads do at once. */
#define _GNU_SOURCE /* mkdtemp */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <kymo/kymo.h>

#include "folder.h"
#include "requests.h"
#include "support/test.h"

#define IDS_MAX       100000u
#define STORM_THREADS 8

/* By the number of the request: its last ordinal and stage, and whether it has ended. */
static struct {
	uint32_t ordinal, stage, ended;
} followed[IDS_MAX];
static uint32_t disorder, ends;

static void follow(void *context, const struct kymo_stage *stage)
{
	const uint64_t id = stage->request;

	(void)context;
	if (id == 0 || id >= IDS_MAX)
		return;
	if (stage->ordinal != followed[id].ordinal + 1 ||
	    stage->stage <= followed[id].stage)
		disorder++;
	followed[id].ordinal = stage->ordinal;
	followed[id].stage = stage->stage;
	if (stage->stage < KYMO_STAGE_POST_PROCESSING)
		return;
	__atomic_store_n(&followed[id].ended, 1, __ATOMIC_RELEASE);
	__atomic_fetch_add(&ends, 1, __ATOMIC_RELAXED);
}

/* Told behind what polling sees, by the thread that ended it. */
static void wait_until_told(uint64_t id)
{
	for (int i = 0; i < 20000; i++) {
		if (__atomic_load_n(&followed[id].ended, __ATOMIC_ACQUIRE))
			return;
		usleep(1000);
	}
	fail_msg("request %llu told no end", (unsigned long long)id);
}

static int storm_is_over;

static void *storm(void *context)
{
	uint32_t random = (uint32_t)(uintptr_t)context + 1;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/storm-%u.kymo", folder, random);
	while (!__atomic_load_n(&storm_is_over, __ATOMIC_RELAXED)) {
		struct kymo_session *session = NULL;
		uint64_t id = 0;

		random = random * 1664525 + 1013904223;
		if (random >> 29 == 0) {
			kymo_session_create(&session, NULL, NULL);
			kymo_session_start(session, NULL);
			mark(1);
			kymo_session_destroy(session);
		} else if (kymo_request_submit(
				   REQUEST(.warmup_ms = random >> 24 & 1,
					   .duration_ms = (random >> 20 & 3) + 1,
					   .path = path, .overwrite = 1),
				   &id, NULL) == KYMO_OK &&
			   (random >> 12 & 1)) {
			kymo_request_cancel(id, NULL);
		}
		mark(1);
	}
	return NULL;
}

static void a_storm_tells_every_stage_once_and_in_order(void **state)
{
	const struct kymo_observer_ops ops = {.struct_size = sizeof(ops),
					      .stage = follow};
	pthread_t threads[STORM_THREADS];
	uint64_t last = 0, first = 0;

	(void)state;
	for (uint64_t id = 1; id < IDS_MAX; id++)
		followed[id].ordinal = followed[id].stage = followed[id].ended = 0;
	assert_int_equal(kymo_observer_register(&ops, NULL, NULL), KYMO_OK);
	kymo_request_submit(REQUEST(.duration_ms = 60000, .path = in_folder("a.kymo")),
			    &first, NULL);
	kymo_request_cancel(first, NULL);
	for (uintptr_t i = 0; i < STORM_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, storm, (void *)i), 0);
	usleep(1500000);
	/* A busy machine needs longer for a storm. */
	for (int i = 0; i < 300 && __atomic_load_n(&ends, __ATOMIC_RELAXED) < 20; i++)
		usleep(100000);
	__atomic_store_n(&storm_is_over, 1, __ATOMIC_RELAXED);
	for (size_t i = 0; i < STORM_THREADS; i++)
		pthread_join(threads[i], NULL);
	while (kymo_request_submit(
		       REQUEST(.duration_ms = 60000, .path = in_folder("b.kymo")), &last,
		       NULL) != KYMO_OK)
		usleep(2000);
	kymo_request_cancel(last, NULL);
	for (uint64_t id = first; id <= last && id < IDS_MAX; id++)
		wait_until_told(id);
	assert_int_equal(kymo_observer_unregister(&ops, NULL), KYMO_OK);
	assert_int_equal(disorder, 0);
	assert_true(last - first > 10);
	for (uint32_t i = 1; i <= STORM_THREADS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "storm-%u.kymo", i);
		unlink(in_folder(name));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_storm_tells_every_stage_once_and_in_order),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
