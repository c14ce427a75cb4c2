/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests by iterations: exactly those asked for are recorded. */
#define _GNU_SOURCE /* mkdtemp */
#include <pthread.h>
#include <stdlib.h>

#include "folder.h"
#include "requests.h"

static uint64_t next_iteration; /* kymo_session_step() has been called so often */

static void run_iterations(uint64_t count)
{
	while (count-- > 0) {
		kymo_session_step();
		mark(next_iteration++);
	}
}

static void exactly_the_iterations_asked_for_are_recorded(void **state)
{
	const char *path = in_folder("steps.kymo");
	uint64_t first, id;
	struct memory_sink sink;

	(void)state;
	run_iterations(3);
	first = next_iteration + 4;
	id = submit(REQUEST(.start_iteration = first, .warmup_iterations = 2,
			    .iterations = 3, .path = path));
	run_iterations(2);
	assert_int_equal(state_of(id), KYMO_REQUEST_WAITING);
	run_iterations(1);
	assert_int_equal(state_of(id), KYMO_REQUEST_WARM_UP);
	run_iterations(10);
	assert_int_equal(wait_for_end(id).state, KYMO_REQUEST_DONE);
	sink = read_back(path);
	assert_int_equal(sink.count, 3);
	for (size_t i = 0; i < sink.count; i++)
		assert_int_equal(strtoull(sink.events[i].name, NULL, 10), first + i);
	memory_free(&sink);
}

static uint32_t iterations_are_over;

static void *iterate(void *context)
{
	(void)context;
	while (!__atomic_load_n(&iterations_are_over, __ATOMIC_RELAXED))
		run_iterations(1);
	return NULL;
}

/* The iterations of a small loop are shorter than accepting a request takes. */
static void none_is_missed_of_a_program_that_does_not_wait(void **state)
{
	const char *path = in_folder("running.kymo");
	pthread_t thread;

	(void)state;
	run_iterations(1);
	assert_int_equal(pthread_create(&thread, NULL, iterate, NULL), 0);
	for (int round = 0; round < 60; round++) {
		const uint64_t round_up = round % 2 ? 5 : 0;
		uint64_t id = submit(REQUEST(.round_up = round_up, .warmup_iterations = 1,
					     .iterations = 3, .path = path));
		uint64_t first;
		struct memory_sink sink;

		assert_int_equal(wait_for_end(id).state, KYMO_REQUEST_DONE);
		sink = read_back(path);
		assert_int_equal(sink.count, 3);
		first = strtoull(sink.events[0].name, NULL, 10);
		assert_true(round_up == 0 || first % round_up == 0);
		for (size_t i = 1; i < sink.count; i++)
			assert_int_equal(strtoull(sink.events[i].name, NULL, 10),
					 first + i);
		memory_free(&sink);
	}
	__atomic_store_n(&iterations_are_over, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exactly_the_iterations_asked_for_are_recorded),
		cmocka_unit_test(none_is_missed_of_a_program_that_does_not_wait),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
