/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What beginning and ending a session costs. Each line is one JSON object with medians of
 * the rounds; the floor is mmap and touching of what prepare warms, 4 MiB.
 *
 *     session_empty    prepare + start, from start to the first mark, stop, destroy
 *     session_full     the same with 10 million records in it, of 640 MiB
 *     session_cycles   1000 sessions one after another: growth of resident memory
 *     session_bound    resident memory at its highest, of a session that is given twice
 *                      what its buffer holds, and what that is above the bound without
 *                      its room for names, of which there are few: a constant
 *     session_source   the same as session_empty with a source that hands in 100,000
 *                      records when it is told to stop: its own drain, whose floor is
 *                      emitting them, and with one that has nothing
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kymo/kymo.h>

#define ROUNDS_MAX   32
#define WARM_BYTES   ((size_t)4 << 20)
#define PAGE_BYTES   4096u
#define RECORD_BYTES 64u
#define NAMES_LEAST  ((uint64_t)8 << 20) /* of a bound, else an eighth; see session.h */

static unsigned int rounds = 5;
static uint64_t records = 10000000;
static unsigned int cycles = 1000;

struct times {
	double floor_us, begin_us, first_us, stop_us, destroy_us;
};

static double now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void must(int32_t status, const char *what, const struct kymo_error *error)
{
	if (status == KYMO_OK)
		return;
	fprintf(stderr, "session: cannot %s: %s\n", what, error->message);
	exit(1);
}

static double measure_floor(void)
{
	double begin = now_us(), end;
	uint8_t *memory = mmap(NULL, WARM_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return 0;
	for (size_t i = 0; i < WARM_BYTES; i += PAGE_BYTES)
		memory[i] = 1;
	end = now_us();
	munmap(memory, WARM_BYTES);
	return end - begin;
}

static void mark(uint64_t count)
{
	static uint32_t name;

	if (name == 0)
		name = kymo_mark_intern("mark", 4);
	for (uint64_t i = 0; i < count; i++)
		kymo_mark_end(kymo_mark_begin(), name);
}

static struct times run(uint64_t count)
{
	/* A quarter more than the records: leases, names and unfinished chunks. */
	const uint64_t size = count * RECORD_BYTES / 4 * 5 + ((uint64_t)64 << 20);
	struct kymo_session *session = NULL;
	struct times times = {.floor_us = measure_floor()};
	struct kymo_error error;
	double begin, end;

	must(kymo_session_create(&session, KYMO_SESSION_OPTIONS(.buffer_size = size),
				 &error),
	     "create", &error);
	begin = now_us();
	must(kymo_session_prepare(session, &error), "prepare", &error);
	must(kymo_session_start(session, &error), "start", &error);
	end = now_us();
	times.begin_us = end - begin;
	mark(1);
	times.first_us = now_us() - end;
	mark(count);
	begin = now_us();
	must(kymo_session_stop(session, &error), "stop", &error);
	times.stop_us = now_us() - begin;
	begin = now_us();
	kymo_session_destroy(session);
	times.destroy_us = now_us() - begin;
	return times;
}

static int compare(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* Of the member at `offset`. */
static double median(const struct times *all, size_t offset)
{
	double values[ROUNDS_MAX];

	for (unsigned int i = 0; i < rounds; i++)
		memcpy(&values[i], (const char *)&all[i] + offset, sizeof(double));
	qsort(values, rounds, sizeof(values[0]), compare);
	return values[rounds / 2];
}

static void print_times(const char *name, uint64_t count)
{
	struct times all[ROUNDS_MAX];
	struct rusage usage;
	double floor_us;

	for (unsigned int i = 0; i < rounds; i++)
		all[i] = run(count);
	getrusage(RUSAGE_SELF, &usage);
	floor_us = median(all, offsetof(struct times, floor_us));
	printf("{\"bench\": \"%s\", \"records\": %" PRIu64
	       ", \"floor_us\": %.0f, \"prepare_start_us\": %.0f, "
	       "\"prepare_start_ratio\": %.2f, \"first_record_us\": %.1f, "
	       "\"stop_us\": %.0f, \"destroy_us\": %.0f, \"peak_rss_mib\": %ld}\n",
	       name, count, floor_us, median(all, offsetof(struct times, begin_us)),
	       median(all, offsetof(struct times, begin_us)) / floor_us,
	       median(all, offsetof(struct times, first_us)),
	       median(all, offsetof(struct times, stop_us)),
	       median(all, offsetof(struct times, destroy_us)), usage.ru_maxrss / 1024);
	fflush(stdout);
}

static long resident_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long size = 0, resident = 0;

	if (file && fscanf(file, "%ld %ld", &size, &resident) != 2)
		resident = 0;
	if (file)
		fclose(file);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void print_cycles(void)
{
	long before, after;

	for (unsigned int i = 0; i < 10; i++)
		run(1000);
	before = resident_kib();
	for (unsigned int i = 0; i < cycles; i++)
		run(1000);
	after = resident_kib();
	printf("{\"bench\": \"session_cycles\", \"sessions\": %u, \"rss_before_kib\": "
	       "%ld, "
	       "\"rss_growth_kib\": %ld}\n",
	       cycles, before, after - before);
}

/* ---- The bound, in a child: what a process had at its highest never falls ---- */

static void fill(uint64_t bound)
{
	struct kymo_session *session = NULL;
	struct kymo_error error;

	must(kymo_session_create(&session, KYMO_SESSION_OPTIONS(.buffer_size = bound),
				 &error),
	     "create", &error);
	must(kymo_session_start(session, &error), "start", &error);
	mark(2 * bound / RECORD_BYTES);
	must(kymo_session_stop(session, &error), "stop", &error);
	kymo_session_destroy(session);
}

static void print_bound(uint64_t bound)
{
	const uint64_t names = bound / 8 > NAMES_LEAST ? bound / 8 : NAMES_LEAST;
	struct rusage usage;
	long before = resident_kib();
	pid_t child = fork();

	if (child == 0) {
		fill(bound);
		getrusage(RUSAGE_SELF, &usage);
		printf("{\"bench\": \"session_bound\", \"bound_kib\": %" PRIu64
		       ", \"names_kib\": %" PRIu64
		       ", \"highest_kib\": %ld, \"constant_kib\": %ld}\n",
		       bound / 1024, names / 1024, usage.ru_maxrss - before,
		       usage.ru_maxrss - before - (long)((bound - names) / 1024));
		fflush(stdout);
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

/* ---- A source ---- */

static struct {
	const struct kymo_host *host;
	struct kymo_source_host *self;
	union kymo_line line;
	uint64_t held; /* to be handed in at the next stop */
	double drain_us;
} device;

static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	(void)source, (void)error;
	device.host = host;
	device.self = self;
	device.line = (union kymo_line){.record = {
						.kind = KYMO_KIND_SPAN,
						.lines = 1,
						.type = numbers->types[0],
					}};
	return KYMO_OK;
}

static int32_t start(void *source, struct kymo_error *error)
{
	(void)source, (void)error;
	return KYMO_OK;
}

static void emit(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		device.line.record.begin = device.line.record.end = device.host->now();
		device.host->emit(device.self, &device.line, 1);
	}
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	const double begin = now_us();

	(void)source, (void)deadline_ns;
	emit(device.held);
	device.drain_us = now_us() - begin;
	return KYMO_OK;
}

static const struct kymo_type_desc type = {.struct_size = sizeof(type), .name = "dma"};
static const struct kymo_type_desc *const types[] = {&type, NULL};
static const struct kymo_source_ops ops = {
	.struct_size = sizeof(ops), .create = create, .start = start, .stop = stop};
static const struct kymo_source_desc source = {
	.struct_size = sizeof(source), .name = "device", .types = types, .ops = &ops};
static const struct kymo_source_desc *const sources[] = {&source, NULL};
static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.name = "device",
	.version = "1",
	.license = "BSD-3-Clause",
	.sources = sources,
};

static double median_of(double *values)
{
	qsort(values, rounds, sizeof(values[0]), compare);
	return values[rounds / 2];
}

static void print_source(uint64_t count)
{
	double begin_us[ROUNDS_MAX], stop_us[ROUNDS_MAX], drain_us[ROUNDS_MAX];
	double floor_us[ROUNDS_MAX];

	device.held = count;
	for (unsigned int i = 0; i < rounds; i++) {
		struct kymo_session *session = NULL;
		struct kymo_error error;
		double now = now_us();

		must(kymo_session_create(&session, NULL, &error), "create", &error);
		must(kymo_session_start(session, &error), "start", &error);
		begin_us[i] = now_us() - now;
		now = now_us();
		emit(count);
		floor_us[i] = now_us() - now;
		now = now_us();
		must(kymo_session_stop(session, &error), "stop", &error);
		stop_us[i] = now_us() - now;
		drain_us[i] = device.drain_us;
		kymo_session_destroy(session);
	}
	printf("{\"bench\": \"session_source\", \"held\": %" PRIu64
	       ", \"floor_us\": %.0f, \"prepare_start_us\": %.0f, \"stop_us\": %.0f, "
	       "\"drain_us\": %.0f}\n",
	       count, median_of(floor_us), median_of(begin_us), median_of(stop_us),
	       median_of(drain_us));
	fflush(stdout);
}

int main(void)
{
	const struct kymo_host *host;

	if (getenv("KYMO_BENCH_QUICK")) {
		rounds = 3;
		records = 100000;
		cycles = 50;
	}
	print_bound((uint64_t)64 << 20);
	print_bound((uint64_t)256 << 20);
	print_bound((uint64_t)1 << 30);
	print_times("session_empty", 0);
	print_cycles();
	print_times("session_full", records);
	must(kymo_agent_attach_v1(&plugin, &host, NULL), "attach",
	     &(struct kymo_error){0});
	print_source(0);
	print_source(100000);
	return 0;
}
