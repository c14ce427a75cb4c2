/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What recording costs, beside the floor: two readings of the TSC and one store of 64
 * bytes into a warm ring. Floor and Kymo alternate in one process; each line is one JSON
 * object with the median of the rounds and its ratio to the floor's median.
 *
 *     floor            2 readings, 64 bytes stored
 *     mark_span        kymo_mark_begin + kymo_mark_end2 with two values
 *     mark_values      the same by kymo_mark_end_values
 *     table_record     one record with a source's own times, through the host table
 *     table_batch8     the same, eight in one call: per record
 *     mark_off         kymo_mark_begin + kymo_mark_end with the gate off
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <kymo/kymo.h>

#define ROUNDS_MAX    64
#define RING_LINES    16384u /* 1 MiB */
#define FIRST_RECORDS 2000   /* of a round, not timed: lease, names, first chunk */

static unsigned int rounds = 15;
static unsigned int records = 50000; /* below what prepare has warmed */

static const struct kymo_host *host;
static struct kymo_source_host *self;
static uint16_t source_type;

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void must(int32_t status, const char *what, const struct kymo_error *error)
{
	if (status == KYMO_OK)
		return;
	fprintf(stderr, "hot_path: cannot %s: %s\n", what, error->message);
	exit(1);
}

/* ---- A source that does nothing but hand us the host table ---- */

static int32_t create(const struct kymo_host *table, struct kymo_source_host *own,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	(void)error;
	host = table;
	self = own;
	source_type = numbers->types[0];
	*source = own;
	return KYMO_OK;
}

static int32_t start(void *source, struct kymo_error *error)
{
	(void)source;
	(void)error;
	return KYMO_OK;
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	(void)source;
	(void)deadline_ns;
	return KYMO_OK;
}

static const struct kymo_type_desc kernel_type = {
	.struct_size = sizeof(kernel_type),
	.shapes = KYMO_SHAPE_SPAN,
	.side = KYMO_SIDE_ACCELERATOR,
	.name = "kernel",
};
static const struct kymo_type_desc *const types[] = {&kernel_type, NULL};
static const struct kymo_source_ops ops = {
	.struct_size = sizeof(ops),
	.create = create,
	.start = start,
	.stop = stop,
};
static const struct kymo_source_desc source = {
	.struct_size = sizeof(source),
	.name = "bench",
	.description = "hands out the host table",
	.types = types,
	.ops = &ops,
};
static const struct kymo_source_desc *const sources[] = {&source, NULL};
static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "bench",
	.version = KYMO_VERSION_STRING,
	.license = "BSD-3-Clause",
	.sources = sources,
};

/* ---- What is measured; each does `count` and returns nothing ---- */

#if defined(__x86_64__)
#include <x86intrin.h>

static struct kymo_record *ring;

static void do_floor(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
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

static uint32_t name;
static uint16_t key0, key1;

static void do_mark_span(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		uint64_t begin = kymo_mark_begin();

		kymo_mark_end2(begin, name, key0, i, key1, i);
	}
}

static void do_mark_values(unsigned int count)
{
	struct kymo_value values[] = {{.key = key0, .type = KYMO_VALUE_UINT64},
				      {.key = key1, .type = KYMO_VALUE_UINT64}};

	for (unsigned int i = 0; i < count; i++) {
		uint64_t begin = kymo_mark_begin();

		values[0].u64 = values[1].u64 = i;
		kymo_mark_end_values(begin, name, values, 2);
	}
}

static void do_mark_off(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		uint64_t begin = kymo_mark_begin();

		__asm__ volatile("" ::: "memory");
		kymo_mark_end(begin, name);
	}
}

static void do_table_record(unsigned int count)
{
	union kymo_line line = {.record = {
					.kind = KYMO_KIND_SPAN,
					.lines = 1,
					.type = source_type,
					.name = name,
				}};

	for (unsigned int i = 0; i < count; i++) {
		line.record.begin = line.record.end = i;
		host->emit(self, &line, 1);
	}
}

static void do_table_batch8(unsigned int count)
{
	union kymo_line lines[8];

	for (unsigned int i = 0; i < 8; i++)
		lines[i] = (union kymo_line){.record = {
						     .kind = KYMO_KIND_SPAN,
						     .lines = 1,
						     .type = source_type,
						     .name = name,
					     }};
	for (unsigned int i = 0; i < count; i += 8) {
		lines[0].record.begin = i;
		host->emit(self, lines, 8);
	}
}

/* ---- Measuring ---- */

/* ns per record of one run, in a session of its own unless `idle`. */
static double run(void (*what)(unsigned int), int idle)
{
	struct kymo_session *session = NULL;
	struct kymo_error error;
	uint64_t begin, end;

	if (!idle) {
		must(kymo_session_create(&session, NULL, &error), "create", &error);
		must(kymo_session_start(session, &error), "start", &error);
		what(FIRST_RECORDS);
	}
	begin = now_ns();
	what(records);
	end = now_ns();
	if (session)
		must(kymo_session_stop(session, &error), "stop", &error);
	kymo_session_destroy(session);
	return (double)(end - begin) / records;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, unsigned int count)
{
	qsort(values, count, sizeof(*values), compare);
	return values[count / 2];
}

int main(void)
{
	static const struct {
		const char *name;
		void (*what)(unsigned int);
		int idle;
	} cases[] = {
#if defined(__x86_64__)
		{"floor", do_floor, 1},
#endif
		{"mark_span", do_mark_span, 0},
		{"mark_values", do_mark_values, 0},
		{"table_record", do_table_record, 0},
		{"table_batch8", do_table_batch8, 0},
		{"mark_off", do_mark_off, 1},
	};
	const size_t case_count = sizeof(cases) / sizeof(cases[0]);
	static double ns[sizeof(cases) / sizeof(cases[0])][ROUNDS_MAX];
	const struct kymo_host *table;
	struct kymo_error error;
	double floor_ns = 0;

	if (getenv("KYMO_BENCH_QUICK"))
		rounds = 3;
#if defined(__x86_64__)
	ring = aligned_alloc(4096, RING_LINES * sizeof(*ring));
	if (!ring)
		return 1;
	do_floor(RING_LINES);
#endif
	must(kymo_agent_attach_v1(&plugin, &table, &error), "attach", &error);
	name = kymo_mark_intern("span", 4);
	key0 = kymo_mark_key("first", KYMO_VALUE_UINT64, NULL);
	key1 = kymo_mark_key("second", KYMO_VALUE_UINT64, NULL);
	for (unsigned int round = 0; round < rounds; round++)
		for (size_t i = 0; i < case_count; i++)
			ns[i][round] = run(cases[i].what, cases[i].idle);
	for (size_t i = 0; i < case_count; i++) {
		double value = median(ns[i], rounds);

		if (i == 0)
			floor_ns = value;
		printf("{\"bench\": \"%s\", \"ns\": %.2f, \"min_ns\": %.2f, "
		       "\"ratio_to_floor\": %.3f, \"rounds\": %u, \"records\": %u}\n",
		       cases[i].name, value, ns[i][0], value / floor_ns, rounds, records);
	}
	return 0;
}
