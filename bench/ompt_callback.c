/* SPDX-License-Identifier: BSD-3-Clause */
/*
 *     ompt_callback PLUGIN
 *
 * What the OpenMP source adds to each callback of OMPT, beside the floor of hot_path: two
 * readings of the TSC and one store of 64 bytes. A runtime that does nothing calls it, so
 * nothing else is measured. Each line is one JSON object; `ns` is of one callback, and a
 * construct has as many as `callbacks` says. All alternate in one process; medians.
 *
 *     floor      2 readings, 64 bytes stored
 *     region     parallel_begin, implicit_task twice, parallel_end: 3 records
 *     loop       work twice: 1 record
 *     barrier    sync_region and sync_region_wait, twice each: 2 records
 *     mutex      mutex_acquire, mutex_acquired: 1 record
 *     task       task_create, task_schedule twice: 3 records
 *     transfer   target_data_op_emi twice: 2 records
 *     off        work twice, with nothing recorded
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <kymo/kymo.h>

#include "fake_runtime.h"

#define ROUNDS_MAX 64
#define RING_LINES 16384u /* 1 MiB */
#define FIRST      1000   /* of a round, not timed: lease, names, first chunk */

static unsigned int rounds = 15;
static unsigned int count = 15000; /* constructs of a round; below what is warm */

static union ky_ompt_data region, task, child;

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void must(int32_t status, const struct kymo_error *error)
{
	if (status == KYMO_OK)
		return;
	fprintf(stderr, "ompt_callback: %s\n", error->message);
	exit(1);
}

/* ---- What is measured ---- */

#if defined(__x86_64__)
#include <x86intrin.h>

static struct kymo_record *ring;

static void do_floor(unsigned int constructs)
{
	for (unsigned int i = 0; i < constructs; i++) {
		struct kymo_record *line = &ring[i % RING_LINES];
		uint64_t begin = __rdtsc();

		*line = (struct kymo_record){
			.kind = KYMO_KIND_SPAN,
			.lines = 1,
			.name = i,
			.begin = begin,
			.end = __rdtsc(),
			.value = {i, i},
		};
		__asm__ volatile("" ::"r"(line) : "memory");
	}
}
#endif

static void do_region(unsigned int constructs)
{
	for (unsigned int i = 0; i < constructs; i++) {
		PARALLEL_BEGIN(NULL, NULL, &region, 1, 1, &region);
		IMPLICIT_TASK(BEGIN, &region, &task, 1, 0, KY_OMPT_TASK_IMPLICIT);
		IMPLICIT_TASK(END, NULL, &task, 0, 0, KY_OMPT_TASK_IMPLICIT);
		PARALLEL_END(&region, NULL, 1, &region);
	}
}

static void do_loop(unsigned int constructs)
{
	for (unsigned int i = 0; i < constructs; i++) {
		WORK(KY_OMPT_WORK_LOOP, BEGIN, &region, &task, i, &region);
		WORK(KY_OMPT_WORK_LOOP, END, &region, &task, i, &region);
	}
}

static void do_barrier(unsigned int constructs)
{
	for (unsigned int i = 0; i < constructs; i++) {
		const int kind = KY_OMPT_SYNC_BARRIER_EXPLICIT;

		SYNC(kind, BEGIN, &region, &task, &region);
		WAIT(kind, BEGIN, &region, &task, &region);
		WAIT(kind, END, &region, &task, &region);
		SYNC(kind, END, &region, &task, &region);
	}
}

static void do_mutex(unsigned int constructs)
{
	for (unsigned int i = 0; i < constructs; i++) {
		ACQUIRE(KY_OMPT_MUTEX_CRITICAL, 0, 0, 1, &region);
		ACQUIRED(KY_OMPT_MUTEX_CRITICAL, 1, &region);
	}
}

static void do_task(unsigned int constructs)
{
	for (unsigned int i = 0; i < constructs; i++) {
		TASK_CREATE(&task, NULL, &child, KY_OMPT_TASK_EXPLICIT, 0, &region);
		TASK_SCHEDULE(&task, KY_OMPT_TASK_SWITCH, &child);
		TASK_SCHEDULE(&child, KY_OMPT_TASK_COMPLETE, &task);
	}
}

static void do_transfer(unsigned int constructs)
{
	for (unsigned int i = 0; i < constructs; i++) {
		const int operation = KY_OMPT_DATA_TO_DEVICE;

		DATA_EMI(BEGIN, NULL, NULL, NULL, operation, &task, 1, &child, 0, i,
			 &region);
		DATA_EMI(END, NULL, NULL, NULL, operation, &task, 1, &child, 0, i,
			 &region);
	}
}

/* ---- Measuring ---- */

static const struct {
	const char *name;
	void (*what)(unsigned int constructs);
	int callbacks, records, is_idle;
} cases[] = {
#if defined(__x86_64__)
	{"floor", do_floor, 1, 1, 1},
#endif
	{"region", do_region, 4, 3, 0},   {"loop", do_loop, 2, 1, 0},
	{"barrier", do_barrier, 4, 2, 0}, {"mutex", do_mutex, 2, 1, 0},
	{"task", do_task, 3, 3, 0},       {"transfer", do_transfer, 2, 2, 0},
	{"off", do_loop, 2, 0, 1},
};

#define CASE_COUNT (sizeof(cases) / sizeof(cases[0]))

/* ns per callback of one run, in a session of its own unless idle. */
static double run(size_t at)
{
	struct kymo_session *session = NULL;
	struct kymo_error error;
	uint64_t begin, end;

	if (!cases[at].is_idle) {
		must(kymo_session_create(&session, NULL, &error), &error);
		must(kymo_session_start(session, &error), &error);
		/* So that tasks and barriers lie in something, as they do. */
		PARALLEL_BEGIN(NULL, NULL, &region, 1, 1, &region);
		IMPLICIT_TASK(BEGIN, &region, &task, 1, 0, KY_OMPT_TASK_IMPLICIT);
		cases[at].what(FIRST);
	}
	begin = now_ns();
	cases[at].what(count);
	end = now_ns();
	if (session)
		must(kymo_session_stop(session, &error), &error);
	kymo_session_destroy(session);
	return (double)(end - begin) / count / cases[at].callbacks;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static double ns[CASE_COUNT][ROUNDS_MAX];
	union ky_ompt_data thread = {0};

	if (argc != 2)
		return 1;
	if (getenv("KYMO_BENCH_QUICK"))
		rounds = 3;
#if defined(__x86_64__)
	ring = aligned_alloc(4096, RING_LINES * sizeof(*ring));
	if (!ring)
		return 1;
	do_floor(RING_LINES);
#endif
	fake_start(argv[1], NULL);
	THREAD_BEGIN(KY_OMPT_THREAD_INITIAL, &thread);
	for (unsigned int round = 0; round < rounds; round++)
		for (size_t i = 0; i < CASE_COUNT; i++)
			ns[i][round] = run(i);
	for (size_t i = 0; i < CASE_COUNT; i++) {
		qsort(ns[i], rounds, sizeof(ns[i][0]), compare);
		printf("{\"bench\": \"ompt_%s\", \"ns\": %.2f, \"min_ns\": %.2f, "
		       "\"ratio_to_floor\": %.3f, \"callbacks\": %d, \"records\": %d, "
		       "\"rounds\": %u}\n",
		       cases[i].name, ns[i][rounds / 2], ns[i][0],
		       ns[i][rounds / 2] / ns[0][rounds / 2], cases[i].callbacks,
		       cases[i].records, rounds);
	}
	return 0;
}
