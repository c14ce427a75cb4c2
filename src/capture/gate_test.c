/* SPDX-License-Identifier: BSD-3-Clause */
/* Leases across what the gate does: pauses, and children that decide anew. */
#include "capture/gate.h"

#include "support/test.h"

#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/test_emit.h"

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

static int32_t emit(void)
{
	const struct kymo_record line = {.kind = KYMO_KIND_SPAN, .lines = 1};

	return test_emit(&line);
}

static uint64_t count_written(void)
{
	uint64_t written = 0;

	for (uint32_t i = 0; i < capture.header->writer_count; i++)
		written += capture.slots[i].written;
	return written;
}

/* ---- The decision ---- */

/* In a child nothing is decided; other threads must not see it decided before it is. */
static int child_takes_and_opens(void)
{
	const struct ky_capture_setup setup = {
		.budget = KY_BUDGET_MIN,
		.ticks = KY_TICKS_MONOTONIC,
		.overflow = KY_OVERFLOW_DROP,
	};

	if (ky_capture_make_private(&setup, &capture, NULL) != KYMO_OK ||
	    ky_gate_take(&capture) != KYMO_OK)
		return 1;
	if (kymo_gate[0] != KYMO_GATE_UNDECIDED || ky_gate_word() != KYMO_GATE_UNDECIDED)
		return 2;
	ky_gate_resume();
	return kymo_gate[0] == KYMO_GATE_ON && emit() == KYMO_OK ? 0 : 3;
}

static void a_gate_that_is_being_decided_is_undecided_until_it_is_open(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	open_capture();
	pid = fork();
	if (pid == 0)
		_exit(child_takes_and_opens());
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	close_capture();
}

/* ---- Pauses ---- */

/* As a thread sees it that looked at the word just before the pause began. */
static void pause_behind_the_word(void)
{
	ky_gate_pause();
	__atomic_store_n(&ky_gate()->word, KYMO_GATE_ON, __ATOMIC_RELEASE);
}

static void *emit_in_a_pause(void *context)
{
	(void)context;
	emit();
	ky_writer_filtered(0);
	emit();
	return NULL;
}

static void a_thread_whose_first_record_meets_a_pause_gets_no_lease(void **state)
{
	pthread_t thread;

	(void)state;
	open_capture();
	pause_behind_the_word();
	pthread_create(&thread, NULL, emit_in_a_pause, NULL);
	pthread_join(thread, NULL);
	assert_int_equal(capture.header->writer_count, 0);
	assert_int_equal(capture.header->filtered_unowned, 1);
	ky_gate_resume();
	assert_int_equal(emit(), KYMO_OK);
	ky_capture_cut(&capture);
	assert_int_equal(count_written(), 1);
	close_capture();
}

static void a_lease_outlives_a_pause(void **state)
{
	(void)state;
	open_capture();
	assert_int_equal(emit(), KYMO_OK);
	pause_behind_the_word();
	assert_int_not_equal(emit(), KYMO_OK);
	ky_gate_resume();
	assert_int_equal(emit(), KYMO_OK);
	ky_capture_cut(&capture);
	assert_int_equal(capture.header->writer_count, 1);
	assert_int_equal(count_written(), 2);
	close_capture();
}

static int has_emitted, is_paused;

static void *emit_and_end_in_a_pause(void *context)
{
	(void)context;
	emit();
	__atomic_store_n(&has_emitted, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&is_paused, __ATOMIC_ACQUIRE))
		sched_yield();
	return NULL;
}

static void what_ends_in_a_pause_gives_its_chunk_and_slot_on(void **state)
{
	pthread_t thread;

	(void)state;
	open_capture();
	for (int i = 0; i < 20; i++) {
		__atomic_store_n(&is_paused, 0, __ATOMIC_RELEASE);
		pthread_create(&thread, NULL, emit_and_end_in_a_pause, NULL);
		while (!__atomic_exchange_n(&has_emitted, 0, __ATOMIC_ACQUIRE))
			sched_yield();
		ky_gate_pause();
		__atomic_store_n(&is_paused, 1, __ATOMIC_RELEASE);
		pthread_join(thread, NULL);
		ky_gate_resume();
	}
	assert_int_equal(capture.header->writer_count, 1);
	ky_capture_cut(&capture);
	assert_int_equal(count_written(), 20);
	close_capture();
}

/* ---- Children ---- */

static int child_knows_its_threads(void)
{
	pthread_t thread;

	/* The first point of the child is on a thread that its parent did not have. */
	pthread_create(&thread, NULL, emit_in_a_pause, NULL);
	pthread_join(thread, NULL);
	open_capture();
	if (emit() != KYMO_OK)
		return 1;
	return capture.slots[0].tid == (uint32_t)getpid() ? 0 : 2;
}

static void a_child_has_thread_ids_of_its_own(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	open_capture();
	assert_int_equal(emit(), KYMO_OK);
	pid = fork();
	if (pid == 0)
		_exit(child_knows_its_threads());
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	close_capture();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_gate_that_is_being_decided_is_undecided_until_it_is_open),
		cmocka_unit_test(a_thread_whose_first_record_meets_a_pause_gets_no_lease),
		cmocka_unit_test(a_lease_outlives_a_pause),
		cmocka_unit_test(what_ends_in_a_pause_gives_its_chunk_and_slot_on),
		cmocka_unit_test(a_child_has_thread_ids_of_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
