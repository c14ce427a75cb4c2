/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What registering an activity type costs: 10,000 new names, then each again. The floor
 * is making the names. `type_register once` does the first part alone, for callgrind:
 *
 *     valgrind --tool=callgrind --toggle-collect=kymo_activity_type_register \
 *         build/bench/bench_type_register once
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <kymo/activity_type.h>

#define NAMES 10000u

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void name_of(uint32_t i, char *out, size_t size)
{
	snprintf(out, size, "queue_wait_%u", i);
}

/* 0: not all could be registered. */
static uint64_t register_all(void)
{
	uint64_t begin = now_ns();

	for (uint32_t i = 0; i < NAMES; i++) {
		uint32_t id;
		char name[32];

		name_of(i, name, sizeof(name));
		if (kymo_activity_type_register("npu", name, NULL, &id, NULL) != KYMO_OK)
			return 0;
	}
	return now_ns() - begin;
}

static uint64_t make_names(void)
{
	uint64_t begin = now_ns();

	for (uint32_t i = 0; i < NAMES; i++) {
		char name[32];

		name_of(i, name, sizeof(name));
		__asm__ volatile("" ::"r"(name) : "memory");
	}
	return now_ns() - begin;
}

int main(int argc, char **argv)
{
	const uint64_t floor_ns = make_names();
	const uint64_t first_ns = register_all();
	uint64_t again_ns;

	if (first_ns == 0)
		return 1;
	if (argc > 1 && strcmp(argv[1], "once") == 0)
		return 0;
	again_ns = register_all();
	printf("{\"bench\": \"type_register\", \"names\": %u, \"first_ns\": %.1f, "
	       "\"again_ns\": %.1f, \"floor_ns\": %.1f, \"ratio\": %.2f}\n",
	       NAMES, (double)first_ns / NAMES, (double)again_ns / NAMES,
	       (double)floor_ns / NAMES, (double)first_ns / (double)floor_ns);
	return 0;
}
