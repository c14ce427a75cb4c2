/* SPDX-License-Identifier: BSD-3-Clause */
#include "thread_table.h"

#include <string.h>

#include "source.h"

#define PLACES 8192u /* a power of two, 192 KiB that are touched as they are used */
#define FULL   (PLACES / 4 * 3)

static struct {
	uint32_t count;
	struct perf_thread places[PLACES];
} table;

/* The count last: who is forked in between finds that there is something to clear. */
void perf_threads_reset(void)
{
	if (table.count == 0)
		return;
	memset(table.places, 0, sizeof(table.places));
	table.count = 0;
}

static struct perf_thread *find_place(uint32_t tid)
{
	uint32_t i = tid * 2654435761u % PLACES;

	while (table.places[i].tid != tid && table.places[i].tid != 0)
		i = (i + 1) % PLACES;
	return &table.places[i];
}

struct perf_thread *perf_thread_find(uint32_t tid)
{
	struct perf_thread *thread = find_place(tid);

	if (thread->tid != 0)
		return thread;
	if (table.count == FULL) {
		perf_threads_reset();
		thread = find_place(tid);
	}
	table.count++;
	thread->tid = tid;
	perf_source.host->thread_track(perf_source.self, tid, perf_source.clock,
				       &thread->track);
	return thread;
}

void perf_threads_off_cpu(void (*each)(struct perf_thread *thread))
{
	for (uint32_t i = 0; table.count > 0 && i < PLACES; i++)
		if (table.places[i].out_ns != 0)
			each(&table.places[i]);
}

static void lose(struct perf_thread *thread)
{
	thread->out_ns = 0;
}

void perf_threads_lose(void)
{
	perf_threads_off_cpu(lose);
}
