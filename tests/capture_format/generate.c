/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a .kymo file through Kymo's own capture, leases and spool: `generate FILE
 * COUNT`. Two captures of every kind of record, by threads that come and go, in the
 * smallest memory there is, drained while they write. What a thread finds no room for it
 * hands in again, so that losses are counted but no record is missing. Prints how many
 * records of each kind it wrote.
 */
#include "generate.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "capture/lease.h"
#include "capture/spool.h"
#include "capture/test_emit.h"
#include "record/dictionary.h"

#define THREADS        3u /* at one time */
#define ROUNDS         5u /* of threads that end, so that chunks are given on */
#define SECOND_DIVISOR 20u

static const struct timespec moment = {0, 100000};

struct writer {
	pthread_t thread;
	struct make make;
	uint64_t wanted;
};

static uint32_t writers_left;

/* test_emit counts what has no room; then the drain is waited for. */
static void emit(const union kymo_line *lines)
{
	while (test_emit(&lines->record) != KYMO_OK)
		nanosleep(&moment, NULL);
}

static void *write_records(void *context)
{
	struct writer *writer = context;
	union kymo_line lines[KYMO_RECORD_LINES_MAX];

	for (uint64_t i = 0; i < writer->wanted; i++) {
		make_record(&writer->make, lines);
		emit(lines);
		if (i % 1000 == 0)
			ky_writer_filtered(writer->make.things->source);
		if (i % 5000 == 0)
			ky_writer_too_big();
	}
	__atomic_fetch_sub(&writers_left, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* So that there are losses to be counted. */
static void wait_until_full(const struct ky_capture *capture)
{
	while (!__atomic_load_n(&capture->empty_at, __ATOMIC_RELAXED))
		nanosleep(&moment, NULL);
}

static int32_t run_round(struct ky_spool_capture *spooled, struct ky_capture *capture,
			 const struct things *things, uint64_t count, uint64_t seed,
			 uint64_t *counts)
{
	struct writer writers[THREADS];
	struct kymo_error error;
	uint32_t freed = 0, step = 0;
	int32_t status = KYMO_OK;

	memset(writers, 0, sizeof(writers));
	writers_left = THREADS;
	for (uint32_t i = 0; i < THREADS; i++) {
		writers[i].wanted = count / THREADS + (i < count % THREADS);
		writers[i].make = (struct make){.things = things,
						.random = seed * THREADS + i + 1,
						.ticks = seed << 32};
		if (pthread_create(&writers[i].thread, NULL, write_records,
				   &writers[i]) != 0)
			abort();
	}
	if (count > 3 * (uint64_t)capture->chunk_count * KY_CHUNK_LINES)
		wait_until_full(capture);
	while (__atomic_load_n(&writers_left, __ATOMIC_ACQUIRE) > 0) {
		ky_capture_host_anchor(capture);
		ky_capture_anchor(capture, things->clock, seed, 1, 2, 0);
		status = step++ % 8 ? ky_spool_drain(spooled, &freed, &error)
				    : ky_spool_snapshot(spooled, &error);
		if (status != KYMO_OK)
			exit(1); /* the writers would wait for ever */
		nanosleep(&moment, NULL);
	}
	for (uint32_t i = 0; i < THREADS; i++) {
		pthread_join(writers[i].thread, NULL);
		for (uint32_t kind = 0; kind < MADE_KINDS; kind++)
			counts[kind] += writers[i].make.counts[kind];
	}
	return status;
}

static int32_t write_capture(struct ky_spool *spool, uint64_t number, uint64_t count,
			     struct kymo_error *error)
{
	const struct ky_capture_setup setup = {
		.budget = KY_BUDGET_MIN,
		.ticks = KY_TICKS_MONOTONIC,
		.overflow = KY_OVERFLOW_STREAM,
		.session = FILE_SESSION,
		.capture = number,
	};
	struct ky_spool_capture *spooled = NULL;
	uint64_t counts[MADE_KINDS] = {0};
	struct ky_capture capture;
	struct things things;
	int32_t status = ky_capture_make_private(&setup, &capture, error);

	if (status != KYMO_OK)
		return status;
	ky_capture_identify(&capture, 0);
	status = ky_dictionary_mirror(capture.dictionary, capture.dictionary_size,
				      &capture.header->dictionary_tail,
				      &capture.header->names_not_kept);
	if (status == KYMO_OK)
		status = ky_gate_open(&capture);
	if (status == KYMO_OK)
		status = ky_spool_add(spool, &capture, number, &spooled, error);
	if (status == KYMO_OK) {
		make_things(&things);
		capture.sources[things.source].lost[KYMO_LOST_LATE] = number;
		capture.sources[0].overwritten = 1; /* as if */
		for (uint64_t i = 0; status == KYMO_OK && i < ROUNDS; i++)
			status = run_round(spooled, &capture, &things, count / ROUNDS,
					   number * ROUNDS + i, counts);
		ky_capture_cut(&capture);
		if (status == KYMO_OK)
			status = ky_spool_finish(spooled, KY_END_EXITED, error);
	}
	ky_dictionary_mirror(NULL, 0, NULL, NULL);
	print_counts(number, counts);
	return status;
}

int main(int argc, char **argv)
{
	const struct ky_spool_session session = {
		.session = FILE_SESSION,
		.overflow = KY_OVERFLOW_STREAM,
		.command_line = KYMO_STR("generate\0two words\0\0\"\n\xff"),
		.sources = KYMO_STR("fake,other"),
	};
	struct kymo_error error = {.status = 0};
	struct ky_spool *spool = NULL;
	uint64_t count;
	int32_t status;

	if (argc != 3) {
		fprintf(stderr, "usage: generate FILE COUNT\n");
		return 2;
	}
	count = strtoull(argv[2], NULL, 10);
	status = ky_spool_create(&spool, argv[1], &session, &error);
	if (status == KYMO_OK)
		status = write_capture(spool, 1, count - count / SECOND_DIVISOR, &error);
	if (status == KYMO_OK)
		status = write_capture(spool, 2, count / SECOND_DIVISOR, &error);
	ky_spool_close(spool);
	if (status != KYMO_OK)
		fprintf(stderr, "generate: %s\n", error.message);
	return status != KYMO_OK;
}
