/* SPDX-License-Identifier: BSD-3-Clause */
/* A million records take bounded memory, and no record is lost on the way. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "capture/build_capture.h"
#include "support/test.h"
#include "timeline/memory_sink.h"
#include "timeline/timeline.h"

#define T(ns)        (BUILD_ATTACH + (ns))
#define RECORDS      1000000ull
#define MEMORY_KIB   (160u << 10) /* the sorters' and the cache's 112 MiB, and the rest */
#define STEP_NS      1000ull
#define OPEN_RECORDS 100u /* spans that last as long as the run */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MEMORY_IS_REAL 0
#elif defined(__has_feature)
#define MEMORY_IS_REAL \
	(!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer))
#else
#define MEMORY_IS_REAL 1
#endif

/*
 * Writes what is built so far to the file and forgets it, so that this stays small too.
 */
static void write_out(struct build *build, FILE *file)
{
	assert_int_equal(fwrite(build->file.data, 1, build->file.size, file),
			 build->file.size);
	build->file.size = 0;
}

/* Four threads that launch, and a queue whose kernels come out of order by a little. */
static void build_million(struct build *build, FILE *file)
{
	uint32_t source = build_source(build, "fake");
	uint16_t runtime = build_type(build, source, "runtime", 7);
	uint16_t kernel = build_type(build, source, "kernel", 5);
	uint16_t domain = build_domain(build, source, "command", KYMO_DOMAIN_SOURCE);
	uint32_t queue = build_queue(build, build_device(build, source, 0), 9, 0);
	uint64_t done = 0;
	uint32_t threads[4];

	for (uint64_t i = 0; i < 4; i++)
		threads[i] = build_thread(build, 100 + i, NULL);
	build_lease(build, threads[0], T(0));
	for (; done < OPEN_RECORDS; done++)
		build_record(build, KYMO_KIND_SPAN,
			     (struct kymo_record){.type = runtime,
						  .begin = T(done),
						  .end = T(RECORDS * STEP_NS - done)});
	for (uint64_t i = 0; done < RECORDS; i++) {
		uint64_t at = T(OPEN_RECORDS + i / 4 * STEP_NS);
		uint16_t flags = done % 2 ? KYMO_RECORD_TARGET : KYMO_RECORD_ORIGIN;

		if (i % 1000 == 0) {
			build_lease(build, threads[i / 1000 % 4], at);
			write_out(build, file);
		}
		build_record(
			build, KYMO_KIND_SPAN,
			(struct kymo_record){.track = done % 2 ? queue : 0,
					     .type = done % 2 ? kernel : runtime,
					     .flags = i % 4 < 2 ? flags : 0,
					     .domain = i % 4 < 2 ? domain : 0,
					     .correlation = i % 4 < 2 ? 1 + i / 4 : 0,
					     .begin = at + (i % 4) * 10 + i % 3,
					     .end = at + (i % 4) * 10 + i % 3 + 5});
		done++;
	}
	build_finish(build, T(RECORDS * STEP_NS + BUILD_SECOND));
	write_out(build, file);
}

/* A group of four counters, sampled over and over. */
static void build_million_samples(struct build *build, FILE *file)
{
	uint32_t source = build_source(build, "fake");
	uint32_t queue = build_queue(build, build_device(build, source, 0), 9, 0);
	struct {
		struct ky_group_entry group;
		struct ky_counter_entry counters[4];
	} group = {.group = {.track = queue, .count = 4}};
	struct kymo_record_counter sample = {
		.kind = KYMO_KIND_COUNTER,
		.lines = 1,
		.type = build_type(build, source, "gpu_pm_counter", 28),
		.count = 4,
	};
	uint32_t thread = build_thread(build, 100, NULL);

	for (uint32_t i = 0; i < 4; i++)
		group.counters[i] = (struct ky_counter_entry){
			.name = build_text(build, i % 2 ? "busy" : "power"),
			.value_type = KYMO_VALUE_UINT64,
		};
	sample.group = build_entry(build, KY_ENTRY_GROUP, &group, sizeof(group));
	for (uint64_t i = 0; i < RECORDS; i++) {
		sample.begin = T(i * STEP_NS);
		sample.end = sample.begin + STEP_NS - 1;
		sample.value[i % 4] = i;
		if (i % 1000 == 0) {
			build_lease(build, thread, sample.begin);
			write_out(build, file);
		}
		build_lines(build, &sample, 1);
	}
	build_finish(build, T(RECORDS * STEP_NS + BUILD_SECOND));
	write_out(build, file);
}

static int are_spans(const struct memory_sink *sink)
{
	const struct kymo_trace_ledger *ledger = &sink->ledger;

	return ledger->spans == RECORDS && ledger->arrows > 0 &&
	       sink->seen[KYMO_EVENT_ARROW] == ledger->arrows &&
	       ledger->arrows + ledger->arrows_backward + ledger->arrows_no_launch >=
		       RECORDS / 4 - OPEN_RECORDS;
}

static int are_samples(const struct memory_sink *sink)
{
	return sink->ledger.counters == RECORDS &&
	       sink->seen[KYMO_EVENT_COUNTER] == RECORDS;
}

static int run_child(const char *path, int (*are_all)(const struct memory_sink *))
{
	struct memory_sink sink = {.keep = 0};
	struct kymo_error error = {0};
	struct rusage usage;
	struct ky_reader *reader;

	if (ky_reader_open(&reader, path, &error) != KYMO_OK ||
	    ky_timeline_run(&reader, 1, &memory_ops, &sink, NULL, NULL, &error) !=
		    KYMO_OK) {
		fprintf(stderr, "%s\n", error.message);
		return 1;
	}
	ky_reader_close(reader);
	getrusage(RUSAGE_SELF, &usage);
	if (MEMORY_IS_REAL && (uint64_t)usage.ru_maxrss > MEMORY_KIB) {
		fprintf(stderr, "%ld KiB of memory\n", usage.ru_maxrss);
		return 2;
	}
	if (sink.ledger.written != RECORDS || sink.ledger.untimed != 0 || !are_all(&sink))
		return 3;
	memory_free(&sink);
	return 0;
}

static void check_million(void (*build_all)(struct build *, FILE *),
			  int (*are_all)(const struct memory_sink *))
{
	struct build *build = build_new();
	char path[] = "/tmp/kymo-scale-XXXXXX";
	int fd = mkstemp(path), status;
	FILE *file = fdopen(fd, "w");
	pid_t child;

	assert_non_null(file);
	build_all(build, file);
	assert_int_equal(fclose(file), 0);
	build_free(build);
	child = fork();
	if (child == 0)
		_exit(run_child(path, are_all));
	assert_int_equal(waitpid(child, &status, 0), child);
	unlink(path);
	assert_int_equal(status, 0);
}

static void a_million_records_take_bounded_memory(void **state)
{
	(void)state;
	check_million(build_million, are_spans);
}

static void a_million_samples_of_counters_do_as_well(void **state)
{
	(void)state;
	check_million(build_million_samples, are_samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_million_records_take_bounded_memory),
		cmocka_unit_test(a_million_samples_of_counters_do_as_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
