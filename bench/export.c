/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an export costs: a capture of marks with two values each is put on a timeline for
 * a sink that does nothing, and written as JSON, beside the floor: the same bytes by
 * plain write(2) to a fresh file. Floor and exports alternate; each line is one JSON
 * object with the median of the rounds, in ns of CPU time a record.
 *
 *     timeline      kymo_timeline_export_to, a sink that does nothing
 *     export_json   kymo_timeline_export to a .json file; its ratio to the floor
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <kymo/kymo.h>
#include <kymo/timeline.h>

#define ROUNDS_MAX 16
#define BLOCK_SIZE (1u << 20)

static unsigned int rounds = 5;
static unsigned int records = 1000000;
static char folder[] = "/tmp/kymo-bench-XXXXXX";
static char capture[64], trace[64], plain[64];

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void must(int is_good, const char *what, const char *why)
{
	if (is_good)
		return;
	fprintf(stderr, "export: cannot %s: %s\n", what, why);
	exit(1);
}

static void make_capture(void)
{
	const struct kymo_session_options options = {
		.struct_size = sizeof(options),
		.buffer_size = (uint64_t)records * 80 + (64u << 20)};
	struct kymo_session *session = NULL;
	struct kymo_error error = {0};
	uint16_t first = 0, second = 0;
	uint32_t name = 0;

	must(kymo_session_create(&session, &options, &error) == KYMO_OK &&
		     kymo_session_start(session, &error) == KYMO_OK,
	     "start", error.message);
	first = kymo_mark_key("step", KYMO_VALUE_UINT64, NULL);
	second = kymo_mark_key("bytes", KYMO_VALUE_UINT64, "bytes");
	for (uint64_t i = 0; i < records; i++)
		kymo_mark_end2(kymo_mark_begin(), kymo_mark_name(&name, "step"), first, i,
			       second, i << 10);
	must(kymo_session_stop(session, &error) == KYMO_OK &&
		     kymo_session_save(session, capture, NULL, NULL, &error) == KYMO_OK,
	     "save", error.message);
	kymo_session_destroy(session);
}

/* ---- A sink that does nothing ---- */

static int32_t begin(void *sink, const struct kymo_trace_header *header,
		     struct kymo_error *error)
{
	(void)sink;
	(void)header;
	(void)error;
	return KYMO_OK;
}

static int32_t batch(void *sink, const struct kymo_trace_event *const *events,
		     size_t count, struct kymo_error *error)
{
	(void)events;
	(void)error;
	*(uint64_t *)sink += count;
	return KYMO_OK;
}

static int32_t end(void *sink, const struct kymo_trace_end *trace_end,
		   struct kymo_sink_result *result, struct kymo_error *error)
{
	(void)sink;
	(void)trace_end;
	(void)result;
	(void)error;
	return KYMO_OK;
}

static void give_up(void *sink)
{
	(void)sink;
}

/* ---- What is timed ---- */

static double run_timeline(void)
{
	static const struct kymo_sink_ops ops = {.struct_size = sizeof(ops),
						 .begin = begin,
						 .batch = batch,
						 .end = end,
						 .abort = give_up};
	const char *const captures[] = {capture};
	struct kymo_error error = {0};
	uint64_t events = 0, began = cpu_ns();

	must(kymo_timeline_export_to(captures, 1, &ops, &events, NULL, &error) == KYMO_OK,
	     "export", error.message);
	must(events >= records, "export", "records are missing");
	return (double)(cpu_ns() - began) / records;
}

static double run_json(void)
{
	const struct kymo_sink_options options = {.struct_size = sizeof(options),
						  .overwrite = 1};
	const char *const captures[] = {capture};
	struct kymo_error error = {0};
	uint64_t began = cpu_ns();

	must(kymo_timeline_export(captures, 1, trace, &options, NULL, &error) == KYMO_OK,
	     "export", error.message);
	return (double)(cpu_ns() - began) / records;
}

static double run_floor(void)
{
	static char block[BLOCK_SIZE];
	struct stat file = {0};
	uint64_t began;
	int fd;

	must(stat(trace, &file) == 0, "look at", trace);
	unlink(plain);
	began = cpu_ns();
	fd = open(plain, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	for (off_t left = file.st_size; left > 0; left -= BLOCK_SIZE)
		must(write(fd, block, BLOCK_SIZE) == BLOCK_SIZE, "write", plain);
	close(fd);
	return (double)(cpu_ns() - began) / records;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static double median(double *times)
{
	qsort(times, rounds, sizeof(*times), compare);
	return times[rounds / 2];
}

int main(void)
{
	double timeline[ROUNDS_MAX], json[ROUNDS_MAX], floors[ROUNDS_MAX], floor;

	if (getenv("KYMO_BENCH_QUICK")) {
		rounds = 1;
		records = 100000;
	}
	must(mkdtemp(folder) != NULL, "make", folder);
	snprintf(capture, sizeof(capture), "%s/a.kymo", folder);
	snprintf(trace, sizeof(trace), "%s/a.json", folder);
	snprintf(plain, sizeof(plain), "%s/plain", folder);
	make_capture();
	for (unsigned int i = 0; i < rounds; i++) {
		timeline[i] = run_timeline();
		json[i] = run_json();
		floors[i] = run_floor();
	}
	floor = median(floors);
	printf("{\"bench\": \"timeline\", \"ns\": %.1f, \"records\": %u}\n",
	       median(timeline), records);
	printf("{\"bench\": \"export_json\", \"ns\": %.1f, \"floor_ns\": %.1f, "
	       "\"ratio_to_floor\": %.2f, \"records\": %u}\n",
	       median(json), floor, json[rounds / 2] / floor, records);
	unlink(capture);
	unlink(trace);
	unlink(plain);
	rmdir(folder);
	return 0;
}
