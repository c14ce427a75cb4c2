/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to activities at the moments when a recording begins and ends. */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "session/host.h"
#include "session/source.h"

#include "support/test.h"

#include "session/test_recording.h"

#define THREADS 4
#define NUMBERS 64 /* of each thread in each round */

#if defined(HAS_THREAD_SANITIZER)
#define ROUNDS 50
#else
#define ROUNDS 1000
#endif

static const struct kymo_source_desc desc = {.struct_size = sizeof(desc), .name = "npu"};

static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin), .name = "npu", .version = "1.0"};

static struct kymo_source_host *host;
static uint16_t type;
static pthread_barrier_t barrier;
static int32_t answers[THREADS][NUMBERS];
static uint32_t halfway; /* so many threads have emitted half of theirs */
static uint64_t written_in_all, refused_in_all;

static void *emit_numbers(void *context)
{
	const uintptr_t thread = (uintptr_t)context;

	pthread_barrier_wait(&barrier);
	for (uint32_t i = 0; i < NUMBERS; i++) {
		const union kymo_line line = {
			.record = {.kind = KYMO_KIND_SPAN,
				   .lines = 1,
				   .type = type,
				   .begin = 1,
				   .end = 2,
				   .correlation = thread * NUMBERS + i},
		};

		answers[thread][i] = ky_host_table()->emit(host, &line, 1);
		if (i == NUMBERS / 2)
			__atomic_add_fetch(&halfway, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void wait_until_halfway(void)
{
	while (!__atomic_load_n(&halfway, __ATOMIC_RELAXED))
		sched_yield();
}

/* How often each number is in the capture. */
static void count_numbers(uint32_t counts[THREADS * NUMBERS])
{
	for (uint32_t i = 0; i < recording->capture.chunk_count; i++) {
		const struct ky_chunk_header *header =
			(const void *)ky_capture_chunk(&recording->capture, i);
		const struct kymo_record *lines = (const void *)(header + 1);

		for (uint32_t line = 0; line < header->head; line++)
			if (lines[line].kind == KYMO_KIND_SPAN)
				counts[lines[line].correlation]++;
	}
}

/* What the ledger has of those that were not written. */
static uint64_t count_refused(void)
{
	const struct ky_capture *capture = &recording->capture;
	const struct ky_capture_header *header = capture->header;
	uint64_t count = header->filtered_unowned + header->lost_full_unowned +
			 header->lost_nested_unowned;

	for (uint32_t i = 0; i < header->writer_count; i++)
		count += capture->slots[i].filtered + capture->slots[i].lost_full +
			 capture->slots[i].lost_nested;
	return count + capture->sources[host->number].lost[KYMO_LOST_LATE];
}

/*
 * From warm-up to recording to the cut, with the threads at it all the time. On one CPU
 * they might all run before a switch, or behind it: so some rounds wait for them.
 */
static void run_round(uint32_t round)
{
	uint32_t counts[THREADS * NUMBERS] = {0};
	pthread_t threads[THREADS];
	const int is_early = round % 8 == 1;
	uint64_t refused = 0;

	halfway = 0;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, emit_numbers, (void *)i), 0);
	if (is_early)
		ky_gate_resume();
	pthread_barrier_wait(&barrier);
	for (uint32_t i = 0; i < round % 7; i++)
		ky_host_table()->now();
	if (is_early || round % 8 == 2)
		wait_until_halfway();
	if (!is_early)
		ky_gate_resume();
	if (round % 3 != 0)
		usleep(round % 5);
	ky_gate_shut();
	ky_capture_cut(&recording->capture);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);

	count_numbers(counts);
	for (size_t i = 0; i < THREADS * NUMBERS; i++) {
		const int is_written = answers[i / NUMBERS][i % NUMBERS] == KYMO_OK;

		if (counts[i] != (uint32_t)is_written)
			fail_msg("round %u: number %zu is there %u times, emit gave %d",
				 round, i, counts[i], answers[i / NUMBERS][i % NUMBERS]);
		refused += (uint64_t)!is_written;
	}
	assert_int_equal(count_refused(), refused);
	refused_in_all += refused;
	written_in_all += THREADS * NUMBERS - refused;
}

static void each_activity_is_in_exactly_one_session_or_in_the_ledger(void **state)
{
	const struct kymo_type_desc dma = {.struct_size = sizeof(dma), .name = "dma"};

	(void)state;
	assert_int_equal(pthread_barrier_init(&barrier, NULL, THREADS + 1), 0);
	host = ky_host_create(&plugin, &desc, 1);
	assert_non_null(host);
	assert_int_equal(ky_host_table()->type(host, &dma, &type), KYMO_OK);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		begin_recording();
		ky_gate_pause();
		host->epoch = round + 1;
		ky_host_open(host);
		run_round(round);
		ky_host_close(host);
		end_recording();
	}
	pthread_barrier_destroy(&barrier);
	/* The threads were on both sides of the switches. */
	assert_true(written_in_all > ROUNDS && refused_in_all > ROUNDS);
	print_message("%llu written, %llu refused\n", (unsigned long long)written_in_all,
		      (unsigned long long)refused_in_all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_activity_is_in_exactly_one_session_or_in_the_ledger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
