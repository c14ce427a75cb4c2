/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/lease.h"
#include "capture/test_emit.h"
#include "record/dictionary.h"

#define THREADS 4

static struct ky_capture capture;

static void open_capture(void)
{
	const struct ky_capture_setup setup = {
		.budget = KY_BUDGET_MIN,
		.ticks = KY_TICKS_MONOTONIC,
		.overflow = KY_OVERFLOW_DROP,
	};

	assert_int_equal(ky_capture_make_private(&setup, &capture, NULL), KYMO_OK);
	assert_int_equal(ky_gate_open(&capture), KYMO_OK);
}

static void close_capture(void)
{
	ky_capture_cut(&capture);
	ky_capture_unmap(&capture);
}

static int32_t emit(uint64_t who, uint64_t number)
{
	struct kymo_record line = {
		.kind = KYMO_KIND_SPAN,
		.lines = 1,
		.begin = number,
		.correlation = who,
	};

	return test_emit(&line);
}

/* Calls visit for each committed record that is no lease. */
static uint64_t visit_records(void (*visit)(const struct kymo_record *record))
{
	uint64_t found = 0;

	for (uint32_t i = 0; i < capture.chunk_count; i++) {
		const struct ky_chunk_header *header =
			(const void *)ky_capture_chunk(&capture, i);
		const struct kymo_record *lines = (const void *)(header + 1);

		if (capture.states[i] != KY_CHUNK_SEALED)
			continue;
		for (uint32_t at = 0; at < header->head; at += lines[at].lines) {
			assert_true(lines[at].lines > 0);
			if (lines[at].kind == KYMO_KIND_LEASE)
				continue;
			found++;
			if (visit)
				visit(&lines[at]);
		}
	}
	return found;
}

struct sums {
	uint64_t accepted, written, full, nested, too_big, filtered;
};

static struct sums sum_slots(void)
{
	struct sums sums = {0};

	for (uint32_t i = 0; i < capture.header->writer_count; i++) {
		const struct ky_writer_slot *slot = &capture.slots[i];

		sums.accepted += slot->accepted;
		sums.written += slot->written;
		sums.full += slot->lost_full;
		sums.nested += slot->lost_nested;
		sums.too_big += slot->lost_too_big;
		sums.filtered += slot->filtered;
	}
	return sums;
}

static uint64_t next_number;

static void expect_next(const struct kymo_record *record)
{
	assert_int_equal(record->begin, next_number++);
}

static void records_come_out_as_they_went_in(void **state)
{
	(void)state;
	open_capture();
	for (uint64_t i = 0; i < 5000; i++)
		assert_int_equal(emit(1, i), KYMO_OK);
	ky_capture_cut(&capture);
	next_number = 0;
	assert_int_equal(visit_records(expect_next), 5000);
	assert_int_equal(sum_slots().accepted, 5000);
	assert_int_equal(sum_slots().written, 5000);
	assert_int_equal(capture.header->state, KY_CAPTURE_STOPPED);
	close_capture();
}

static void nothing_is_recorded_while_the_gate_is_off(void **state)
{
	(void)state;
	open_capture();
	assert_int_equal(emit(1, 0), KYMO_OK);
	ky_capture_cut(&capture);
	assert_int_equal(emit(1, 1), KYMO_ERROR_STATE);
	assert_int_equal(visit_records(NULL), 1);
	ky_capture_unmap(&capture);
	/* A new session in new memory: the same thread joins it afresh. */
	open_capture();
	assert_int_equal(emit(1, 2), KYMO_OK);
	ky_capture_cut(&capture);
	assert_int_equal(visit_records(NULL), 1);
	close_capture();
}

static void a_full_pool_loses_the_newest_and_counts_it(void **state)
{
	uint64_t accepted = 0, offered = 0;

	(void)state;
	open_capture();
	while (offered < (uint64_t)capture.chunk_count * KY_CHUNK_LINES + 5000) {
		errno = EDOM;
		if (emit(1, offered++) == KYMO_OK)
			accepted++;
		assert_int_equal(errno, EDOM);
	}
	assert_int_equal(emit(1, offered++), KYMO_ERROR_NO_MEMORY);
	ky_capture_cut(&capture);
	next_number = 0;
	assert_int_equal(visit_records(expect_next), accepted);
	assert_int_equal(sum_slots().accepted, offered);
	assert_int_equal(sum_slots().full, offered - accepted);
	close_capture();
}

static void a_chunk_that_is_freed_is_used_again(void **state)
{
	(void)state;
	open_capture();
	while (emit(1, 0) == KYMO_OK)
		;
	((struct ky_chunk_header *)(void *)ky_capture_chunk(&capture, 2))->head = 0;
	capture.states[2] = KY_CHUNK_FREE;
	capture.header->chunks_freed++;
	assert_int_equal(emit(1, 1), KYMO_OK);
	close_capture();
}

static void a_nested_record_is_counted_and_does_no_harm(void **state)
{
	struct kymo_record *line;

	(void)state;
	open_capture();
	line = ky_writer_begin(1);
	assert_non_null(line);
	/* What a signal handler would do here. */
	assert_int_equal(emit(9, 9), KYMO_ERROR_NO_MEMORY);
	*line = (struct kymo_record){.kind = KYMO_KIND_SPAN, .lines = 1};
	ky_writer_commit(1, 1);
	assert_int_equal(emit(1, 1), KYMO_OK);
	ky_capture_cut(&capture);
	assert_int_equal(visit_records(NULL), 2);
	assert_int_equal(sum_slots().nested, 1);
	close_capture();
}

static void a_record_of_many_lines_is_in_one_chunk(void **state)
{
	const struct kymo_record record[3] = {
		{.kind = KYMO_KIND_SPAN, .lines = 3},
		{.kind = KYMO_KIND_MORE},
		{.kind = KYMO_KIND_MORE},
	};

	(void)state;
	open_capture();
	for (int i = 0; i < 3000; i++)
		assert_int_equal(test_emit(record), KYMO_OK);
	ky_capture_cut(&capture);
	assert_int_equal(visit_records(NULL), 3000);
	assert_int_equal(sum_slots().written, 3000);
	close_capture();
}

static void what_a_filter_or_a_limit_leaves_out_is_counted(void **state)
{
	(void)state;
	open_capture();
	ky_writer_filtered(3); /* before the thread has a writer in this session */
	ky_writer_too_big();
	ky_writer_filtered(3);
	ky_capture_cut(&capture);
	assert_int_equal(capture.header->filtered_unowned + sum_slots().filtered, 2);
	assert_int_equal(capture.sources[3].lost[KY_LOST_FILTERED], 2);
	assert_int_equal(sum_slots().too_big, 1);
	assert_int_equal(sum_slots().accepted, 1);
	close_capture();
}

static void *emit_ten(void *context)
{
	for (uint64_t i = 0; i < 10; i++)
		emit((uintptr_t)context, i);
	return NULL;
}

static void ended_threads_give_their_chunk_and_slot_on(void **state)
{
	pthread_t thread;
	uint32_t used = 0;

	(void)state;
	open_capture();
	for (uintptr_t i = 0; i < 500; i++) {
		pthread_create(&thread, NULL, emit_ten, (void *)i);
		pthread_join(thread, NULL);
	}
	ky_capture_cut(&capture);
	assert_int_equal(visit_records(NULL), 5000);
	for (uint32_t i = 0; i < capture.chunk_count; i++)
		used += capture.states[i] == KY_CHUNK_SEALED;
	assert_in_range(used, 1, 7); /* 5500 lines */
	assert_int_equal(capture.header->writer_count, 1);
	assert_int_equal(sum_slots().written, 5000);
	close_capture();
}

static uint32_t stop;
static uint64_t done[THREADS];

static void *emit_until_stopped(void *context)
{
	uintptr_t who = (uintptr_t)context;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		if (emit(who, done[who]) == KYMO_OK)
			done[who]++;
		else
			sched_yield();
	}
	return NULL;
}

static uint64_t seen[THREADS];

static void expect_in_order(const struct kymo_record *record)
{
	/* Chunks are visited by index, not by lease, so only the count is looked at. */
	assert_in_range(record->correlation, 0, THREADS - 1);
	seen[record->correlation]++;
}

static void a_cut_under_load_is_exact(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	for (int round = 0; round < 20; round++) {
		memset(done, 0, sizeof(done));
		memset(seen, 0, sizeof(seen));
		stop = 0;
		open_capture();
		for (uintptr_t i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, emit_until_stopped, (void *)i);
		usleep(2000);
		ky_capture_cut(&capture);
		__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		visit_records(expect_in_order);
		if (capture.quarantined == 0)
			assert_memory_equal(seen, done, sizeof(seen));
		assert_int_equal(sum_slots().accepted,
				 sum_slots().written + sum_slots().full);
		close_capture();
	}
}

static void a_writer_that_does_not_leave_is_quarantined(void **state)
{
	struct kymo_record *line;
	uint32_t quarantined = 0;

	(void)state;
	open_capture();
	line = ky_writer_begin(1);
	ky_capture_cut(&capture);
	for (uint32_t i = 0; i < capture.chunk_count; i++)
		quarantined += capture.states[i] == KY_CHUNK_QUARANTINED;
	assert_int_equal(quarantined, 1);
	assert_int_equal(capture.quarantined, 1);
	assert_int_equal(capture.header->quarantined_chunks, 1);
	/* It may still write: the memory stays. */
	*line = (struct kymo_record){.kind = KYMO_KIND_SPAN, .lines = 1};
	ky_writer_commit(1, 1);
	close_capture();
}

/* It is at its slot and at the header, to count a loss. */
static void a_writer_without_a_chunk_that_does_not_leave_keeps_the_memory(void **state)
{
	(void)state;
	open_capture();
	assert_int_equal(emit(1, 1), KYMO_OK);
	ky_writer_self->busy = 1;
	ky_writer_self->chunk = 0;
	ky_capture_cut(&capture);
	assert_int_equal(capture.quarantined, 1);
	assert_int_equal(capture.header->quarantined_chunks, 0);
	ky_writer_leave(ky_writer_self);
	close_capture();
}

static int child_is_clean(void)
{
	uint64_t before = capture.header->lease_sequence;

	if (ky_gate_word() != KYMO_GATE_UNDECIDED || ky_gate()->capture)
		return 1;
	if (emit(7, 7) != KYMO_ERROR_STATE)
		return 2;
	if (ky_gate_word() != KYMO_GATE_OFF)
		return 3;
	return capture.header->lease_sequence == before ? 0 : 4;
}

static void a_forked_child_does_not_write_into_its_parents_capture(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	open_capture();
	assert_int_equal(emit(1, 1), KYMO_OK);
	pid = fork();
	if (pid == 0)
		_exit(child_is_clean());
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(emit(1, 2), KYMO_OK);
	ky_capture_cut(&capture);
	assert_int_equal(visit_records(NULL), 2);
	close_capture();
}

static volatile sig_atomic_t handled;

static void emit_in_handler(int number)
{
	(void)number;
	handled++;
	emit(2, 0);
}

static void *send_signals(void *context)
{
	pthread_t target = *(pthread_t *)context;

	for (int i = 0; i < 2000; i++) {
		pthread_kill(target, SIGUSR1);
		sched_yield();
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void a_storm_of_signals_loses_nothing_uncounted(void **state)
{
	struct sigaction action = {.sa_handler = emit_in_handler, .sa_flags = SA_RESTART};
	uint64_t offered = 0, nested;
	pthread_t self = pthread_self(), sender;

	(void)state;
	open_capture();
	stop = 0;
	handled = 0;
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&sender, NULL, send_signals, &self);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		emit(1, 0);
		offered++;
	}
	pthread_join(sender, NULL);
	ky_capture_cut(&capture);
	nested = sum_slots().nested + capture.header->lost_nested_unowned;
	assert_int_equal(visit_records(NULL) + nested + sum_slots().full,
			 offered + (uint64_t)handled);
	close_capture();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_out_as_they_went_in),
		cmocka_unit_test(nothing_is_recorded_while_the_gate_is_off),
		cmocka_unit_test(a_full_pool_loses_the_newest_and_counts_it),
		cmocka_unit_test(a_chunk_that_is_freed_is_used_again),
		cmocka_unit_test(a_nested_record_is_counted_and_does_no_harm),
		cmocka_unit_test(a_record_of_many_lines_is_in_one_chunk),
		cmocka_unit_test(what_a_filter_or_a_limit_leaves_out_is_counted),
		cmocka_unit_test(ended_threads_give_their_chunk_and_slot_on),
		cmocka_unit_test(a_cut_under_load_is_exact),
		cmocka_unit_test(a_writer_that_does_not_leave_is_quarantined),
		cmocka_unit_test(
			a_writer_without_a_chunk_that_does_not_leave_keeps_the_memory),
		cmocka_unit_test(a_forked_child_does_not_write_into_its_parents_capture),
		cmocka_unit_test(a_storm_of_signals_loses_nothing_uncounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
