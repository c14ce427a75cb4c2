/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of chunks when there are too few: overwriting, and idle threads. */
#include "support/test.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "capture/lease.h"
#include "capture/test_emit.h"
#include "record/dictionary.h"

#define THREADS 4u

static struct ky_capture capture;
static uint32_t source, other_source;
static uint16_t type, other_type;

static uint16_t add_type(const char *name, uint32_t *number)
{
	struct ky_source_entry entry = {.name = ky_dictionary_text(name)};
	struct ky_type_entry type_entry = {.name = entry.name};
	uint32_t id;

	ky_dictionary_intern(KY_ENTRY_SOURCE, &entry, sizeof(entry), number);
	type_entry.source = *number;
	ky_dictionary_intern(KY_ENTRY_TYPE, &type_entry, sizeof(type_entry), &id);
	return (uint16_t)id;
}

static void open_capture(uint32_t overflow)
{
	const struct ky_capture_setup setup = {
		.budget = KY_BUDGET_MIN,
		.ticks = KY_TICKS_MONOTONIC,
		.overflow = overflow,
	};

	type = add_type("one", &source);
	other_type = add_type("other", &other_source);
	assert_int_equal(ky_capture_make_private(&setup, &capture, NULL), KYMO_OK);
	assert_int_equal(ky_gate_open(&capture), KYMO_OK);
}

static void close_capture(void)
{
	ky_capture_cut(&capture);
	ky_gate_forget(&capture);
	ky_capture_unmap(&capture);
}

static int32_t emit(uint16_t of_type, uint64_t number)
{
	struct kymo_record line = {
		.kind = KYMO_KIND_SPAN, .lines = 1, .type = of_type, .begin = number};

	return test_emit(&line);
}

struct found {
	uint64_t count, first, last;
};

/* The records that are in the capture after the cut. */
static struct found find_records(void)
{
	struct found found = {.first = UINT64_MAX};

	for (uint32_t i = 0; i < capture.chunk_count; i++) {
		const struct ky_chunk_header *header =
			ky_capture_chunk_header(&capture, i);
		const struct kymo_record *lines = (const void *)(header + 1);

		if (capture.states[i] != KY_CHUNK_SEALED)
			continue;
		assert_int_equal(lines[0].kind, KYMO_KIND_LEASE);
		assert_int_equal(capture.order[i], header->sequence);
		for (uint32_t at = 0; at < header->head; at++) {
			if (lines[at].kind == KYMO_KIND_LEASE)
				continue;
			found.count++;
			if (lines[at].begin < found.first)
				found.first = lines[at].begin;
			if (lines[at].begin > found.last)
				found.last = lines[at].begin;
		}
	}
	return found;
}

static uint64_t sum_accepted(void)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < capture.header->writer_count; i++)
		sum += capture.slots[i].accepted;
	return sum;
}

static uint64_t sum_full(void)
{
	uint64_t sum = capture.header->lost_full_unowned;

	for (uint32_t i = 0; i < capture.header->writer_count; i++)
		sum += capture.slots[i].lost_full;
	return sum;
}

static void the_oldest_chunks_are_overwritten_and_counted(void **state)
{
	const uint64_t total = 100000;
	struct found found;

	(void)state;
	open_capture(KY_OVERFLOW_OVERWRITE);
	for (uint64_t i = 0; i < total; i++)
		assert_int_equal(emit(i % 4 ? type : other_type, i), KYMO_OK);
	ky_capture_cut(&capture);
	found = find_records();
	assert_int_equal(found.last, total - 1);
	assert_int_equal(found.last - found.first + 1, found.count);
	assert_true(found.count > (capture.chunk_count - 1) * 1000);
	assert_int_equal(capture.sources[source].overwritten +
				 capture.sources[other_source].overwritten,
			 total - found.count);
	assert_in_range(capture.sources[other_source].overwritten * 4,
			total - found.count - 4, total - found.count + 4);
	assert_int_equal(capture.sources[0].overwritten, 0);
	assert_int_equal(sum_full(), 0);
	close_capture();
}

static void *overwrite_much(void *context)
{
	(void)context;
	for (uint64_t i = 0; i < 100000; i++)
		assert_int_equal(emit(type, i), KYMO_OK);
	return NULL;
}

static void overwriting_threads_lose_nothing_uncounted(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	open_capture(KY_OVERFLOW_OVERWRITE);
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, overwrite_much, NULL),
				 0);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ky_capture_cut(&capture);
	assert_int_equal(find_records().count + capture.sources[source].overwritten,
			 sum_accepted());
	assert_int_equal(sum_accepted(), THREADS * 100000);
	close_capture();
}

static void a_type_of_no_known_source_is_counted_too(void **state)
{
	struct found found;

	(void)state;
	open_capture(KY_OVERFLOW_OVERWRITE);
	for (uint64_t i = 0; i < 50000; i++)
		assert_int_equal(emit(60000, i), KYMO_OK);
	ky_capture_cut(&capture);
	found = find_records();
	assert_int_equal(capture.sources[0].overwritten, 50000 - found.count);
	close_capture();
}

/* ---- Idle threads ---- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	uint32_t ready, turn;
} idle = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* Writes once, and once more when its turn has come. */
static void *be_idle(void *context)
{
	(void)context;
	assert_int_equal(emit(type, 1), KYMO_OK);
	pthread_mutex_lock(&idle.lock);
	idle.ready++;
	pthread_cond_broadcast(&idle.wake);
	while (!idle.turn)
		pthread_cond_wait(&idle.wake, &idle.lock);
	pthread_mutex_unlock(&idle.lock);
	assert_int_equal(emit(type, 2), KYMO_OK);
	return NULL;
}

static void start_idle(pthread_t *threads, uint32_t count)
{
	pthread_attr_t small;

	idle.ready = idle.turn = 0;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(pthread_create(&threads[i], &small, be_idle, NULL), 0);
	pthread_attr_destroy(&small);
	pthread_mutex_lock(&idle.lock);
	while (idle.ready < count)
		pthread_cond_wait(&idle.wake, &idle.lock);
	pthread_mutex_unlock(&idle.lock);
}

static void end_idle(pthread_t *threads, uint32_t count)
{
	pthread_mutex_lock(&idle.lock);
	idle.turn = 1;
	pthread_cond_broadcast(&idle.wake);
	pthread_mutex_unlock(&idle.lock);
	for (uint32_t i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void more_threads_than_chunks_lose_nothing(void **state)
{
	static pthread_t threads[400];
	const uint64_t more = 5000;

	(void)state;
	open_capture(KY_OVERFLOW_DROP);
	assert_true(capture.chunk_count < 100);
	start_idle(threads, 400);
	for (uint64_t i = 0; i < more; i++)
		assert_int_equal(emit(type, 10 + i), KYMO_OK);
	end_idle(threads, 400);
	ky_capture_cut(&capture);
	assert_int_equal(find_records().count, 2 * 400 + more);
	assert_int_equal(sum_full(), 0);
	close_capture();
}

static void *live_shortly(void *context)
{
	(void)context;
	for (uint64_t i = 0; i < 2; i++)
		assert_int_equal(emit(type, i), KYMO_OK);
	return NULL;
}

static void threads_that_come_and_go_take_no_more_than_their_lines(void **state)
{
	pthread_t thread;

	(void)state;
	open_capture(KY_OVERFLOW_DROP);
	for (uint32_t i = 0; i < 2000; i++) {
		assert_int_equal(pthread_create(&thread, NULL, live_shortly, NULL), 0);
		pthread_join(thread, NULL);
	}
	ky_capture_cut(&capture);
	assert_int_equal(find_records().count, 4000);
	assert_int_equal(sum_full(), 0);
	close_capture();
}

/* ---- Idle threads that are not idle ---- */

struct job {
	uint64_t taken, refused;
};

static void *write_now_and_then(void *context)
{
	struct job *job = context;
	uint64_t until = ky_monotonic_ns() + 500000000u;

	for (uint64_t i = 0; ky_monotonic_ns() < until; i++) {
		if (emit(type, i) == KYMO_OK)
			job->taken++;
		else
			job->refused++;
		if (i % 64 == 0)
			sched_yield();
	}
	return NULL;
}

/* The chunks are revoked all the time while their threads write. */
static void leases_are_taken_from_threads_that_write_and_nothing_is_lost(void **state)
{
	static pthread_t threads[200], writers[THREADS];
	struct job jobs[THREADS] = {{0}};
	uint64_t taken = 0, refused = 0;

	(void)state;
	open_capture(KY_OVERFLOW_OVERWRITE);
	start_idle(threads, 200);
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&writers[i], NULL, write_now_and_then, &jobs[i]),
			0);
	for (uint32_t i = 0; i < THREADS; i++) {
		pthread_join(writers[i], NULL);
		taken += jobs[i].taken;
		refused += jobs[i].refused;
	}
	end_idle(threads, 200);
	ky_capture_cut(&capture);
	assert_int_equal(find_records().count + capture.sources[source].overwritten,
			 taken + 400);
	assert_int_equal(sum_accepted(), taken + refused + 400);
	close_capture();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_oldest_chunks_are_overwritten_and_counted),
		cmocka_unit_test(overwriting_threads_lose_nothing_uncounted),
		cmocka_unit_test(a_type_of_no_known_source_is_counted_too),
		cmocka_unit_test(more_threads_than_chunks_lose_nothing),
		cmocka_unit_test(threads_that_come_and_go_take_no_more_than_their_lines),
		cmocka_unit_test(
			leases_are_taken_from_threads_that_write_and_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
