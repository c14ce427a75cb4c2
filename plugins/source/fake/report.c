/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLACES 64u

static const char *const count_names[FAKE_COUNT_FAULTS] = {
	[FAKE_COUNT_SPAN] = "spans",
	[FAKE_COUNT_INSTANT] = "instants",
	[FAKE_COUNT_COUNTER] = "counters",
	[FAKE_COUNT_LINK] = "links",
	[FAKE_COUNT_OPEN] = "opens",
	[FAKE_COUNT_OTHER] = "others",
	[FAKE_COUNT_OK] = "ok",
	[FAKE_COUNT_NO_MEMORY] = "no_memory",
	[FAKE_COUNT_STATE] = "state",
	[FAKE_COUNT_INVALID] = "invalid",
	[FAKE_COUNT_LOST] = "lost",
};

static struct {
	_Alignas(64) atomic_ullong count[FAKE_COUNT_MAX];
} places[PLACES];

static atomic_uint next_place;
static _Thread_local uint32_t own_place; /* + 1 */

static char path_prefix[2048];
static const char *const *fault_names;
static pid_t owner;

void fake_report_add(enum fake_count count, uint64_t number)
{
	if (own_place == 0)
		own_place = 1 + atomic_fetch_add(&next_place, 1) % PLACES;
	atomic_fetch_add_explicit(&places[own_place - 1].count[count], number,
				  memory_order_relaxed);
}

static uint64_t sum_of(uint32_t count)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < PLACES; i++)
		sum += atomic_load_explicit(&places[i].count[count],
					    memory_order_relaxed);
	return sum;
}

void fake_report_write(void)
{
	char path[sizeof(path_prefix) + 16];
	FILE *file;

	if (owner == 0 || getpid() != owner)
		return;
	snprintf(path, sizeof(path), "%s.%d", path_prefix, (int)owner);
	file = fopen(path, "we");
	if (!file)
		return;
	fprintf(file, "{");
	for (uint32_t i = 0; i < FAKE_COUNT_FAULTS; i++)
		fprintf(file, "\"%s\": %" PRIu64 ", ", count_names[i], sum_of(i));
	fprintf(file, "\"faults\": {");
	for (uint32_t i = 0; fault_names[i]; i++)
		fprintf(file, "%s\"%s\": %" PRIu64, i ? ", " : "", fault_names[i],
			sum_of(FAKE_COUNT_FAULTS + i));
	fprintf(file, "}, \"pid\": %d}\n", (int)owner);
	fclose(file);
}

void fake_report_open(const char *path, const char *const *names)
{
	snprintf(path_prefix, sizeof(path_prefix), "%s", path);
	fault_names = names;
	if (owner == 0)
		atexit(fake_report_write);
	owner = getpid();
}

void fake_report_forked(void)
{
	memset(places, 0, sizeof(places));
	if (owner)
		owner = getpid();
}
