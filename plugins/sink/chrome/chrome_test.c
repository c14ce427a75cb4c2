/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink as its host sees it: a small trace with one of each thing is compared with
 * golden.json, byte by byte; what that can't show has cases of its own.
 *
 * After a wanted change: KYMO_GOLDEN_WRITE=1, run, and read the difference.
 */
#include <kymo/sink.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define FIRST        INT64_C(5000000000)

static char folder[64], golden_path[4096];

/* ---- A trace ---- */

/* The second has the pid of the first: another container. */
static const struct kymo_trace_process processes[] = {
	{.struct_size = sizeof(processes[0]),
	 .index = 0,
	 .pid = 4242,
	 .name = {"vector-add", 10},
	 .exe = {"/usr/bin/vector-add", 19},
	 .command_line = {"./vector-add --name \"a\nb\"", 25},
	 .host = {"vm", 2},
	 .boot_id = {"b007", 4},
	 .rank = 3,
	 .world_size = 8},
	{.struct_size = sizeof(processes[0]),
	 .index = 1,
	 .pid = 4242,
	 .name = {"child", 5},
	 .host = {"box", 3},
	 .rank = -1,
	 .world_size = -1},
};

static const struct kymo_trace_value device_values[] = {
	{.key = {"totalGlobalMem", 14},
	 .unit = {"bytes", 5},
	 .type = KYMO_VALUE_UINT64,
	 .u64 = 16ull << 30},
	{.key = {"rank", 4}, .type = KYMO_VALUE_INT64, .i64 = 9},
};

static const struct kymo_trace_device device = {
	.struct_size = sizeof(device),
	.process = &processes[0],
	.native = 0x7f0012345678,
	.name = {"Model \"X\"", 9},
	.kind = {"GPU", 3},
	.uuid = {"00-11", 5},
	.source = {"vendor", 6},
	.value_count = COUNT(device_values),
	.values = device_values,
};

static const struct kymo_trace_track tracks[] = {
	{.struct_size = sizeof(tracks[0]),
	 .index = 0,
	 .kind = KYMO_TRACK_THREAD,
	 .native = 4242,
	 .process = &processes[0],
	 .name = {"main", 4}},
	{.struct_size = sizeof(tracks[0]),
	 .index = 1,
	 .kind = KYMO_TRACK_QUEUE,
	 .native = UINT64_MAX - 1,
	 .number = 1,
	 .process = &processes[0],
	 .device = &device},
	{.struct_size = sizeof(tracks[0]),
	 .index = 2,
	 .kind = KYMO_TRACK_QUEUE,
	 .lane = 1,
	 .native = UINT64_MAX - 1,
	 .number = 1,
	 .process = &processes[0],
	 .device = &device},
	{.struct_size = sizeof(tracks[0]),
	 .index = 3,
	 .kind = KYMO_TRACK_COUNTER,
	 .process = &processes[0],
	 .device = &device,
	 .name = {"power rail", 10}},
	{.struct_size = sizeof(tracks[0]),
	 .index = 4,
	 .kind = KYMO_TRACK_THREAD,
	 .native = UINT64_C(140737351776064), /* a pthread_t: too large for a tid */
	 .process = &processes[1]},
	{.struct_size = sizeof(tracks[0]),
	 .index = 5,
	 .kind = KYMO_TRACK_COUNTER,
	 .process = &processes[0],
	 .device = &device,
	 .name = {"power rail 2", 12}},
};

static const struct kymo_trace_type types[] = {
	{.struct_size = sizeof(types[0]),
	 .index = 0,
	 .activity_type = 7,
	 .is_static = 1,
	 .source = {"vendor", 6},
	 .name = {"runtime", 7},
	 .category = {"runtime", 7}},
	{.struct_size = sizeof(types[0]),
	 .index = 1,
	 .activity_type = 5,
	 .is_static = 1,
	 .source = {"vendor", 6},
	 .name = {"kernel", 6},
	 .category = {"kernel", 6}},
	{.struct_size = sizeof(types[0]),
	 .index = 2,
	 .activity_type = 70001,
	 .shapes = KYMO_SHAPE_COUNTER,
	 .side = KYMO_SIDE_ACCELERATOR,
	 .source = {"vendor", 6},
	 .name = {"power", 5},
	 .category = {"vendor.power", 12}},
};

static const struct kymo_trace_process *const process_list[] = {&processes[0],
								&processes[1]};
static const struct kymo_trace_device *const device_list[] = {&device};
static const struct kymo_trace_type *const type_list[] = {&types[0], &types[1],
							  &types[2]};

static const struct kymo_trace_value metadata[] = {
	{.key = {"vendor_version", 14}, .type = KYMO_VALUE_STRING, .text = {"1.0", 3}},
	{.key = {"kymo", 4}, .type = KYMO_VALUE_BOOL, .u64 = 1},
};

static const struct kymo_trace_header header = {
	.struct_size = sizeof(header),
	.process_count = COUNT(process_list),
	.processes = process_list,
	.devices = device_list,
	.device_count = COUNT(device_list),
	.types = type_list,
	.type_count = COUNT(type_list),
	.metadata = metadata,
	.metadata_count = COUNT(metadata),
	.realtime_offset_ns = INT64_C(1795910400000000000), /* midnight, UTC */
	.first_ns = FIRST,
	.last_ns = FIRST + 9000,
	.command_line = {"./vector-add", 12},
};

static const struct kymo_trace_ledger ledger = {
	.struct_size = sizeof(ledger),
	.offered = 12,
	.accepted = 12,
	.written = 10,
	.full = 2,
	.spans = 4,
	.begins = 1,
};

static const struct kymo_trace_source sources[] = {
	{.struct_size = sizeof(sources[0]),
	 .state = KYMO_STATE_RECORDING,
	 .process = &processes[0],
	 .name = {"vendor", 6},
	 .written = 10,
	 .events = 9},
	{.struct_size = sizeof(sources[0]),
	 .state = KYMO_STATE_BUSY,
	 .name = {"other", 5},
	 .reason = {"held by \"tool\"", 14},
	 .remedy = {"end it", 6}},
};

static const struct kymo_trace_source *const source_list[] = {&sources[0], &sources[1]};

static const struct kymo_trace_clock device_clock = {
	.struct_size = sizeof(device_clock),
	.kind = KYMO_CLOCK_COUNTER,
	.process = &processes[0],
	.source = {"vendor", 6},
	.name = {"device", 6},
	.anchor_count = 12,
	.uncertainty_ns = 800,
};

static const struct kymo_trace_clock *const clock_list[] = {&device_clock};

static const struct kymo_trace_end trace_end = {
	.struct_size = sizeof(trace_end),
	.source_count = COUNT(source_list),
	.ledger = &ledger,
	.sources = source_list,
	.clocks = clock_list,
	.clock_count = COUNT(clock_list),
};

static const int64_t grid[] = {2, 1, 1};
static const struct kymo_str words[] = {{"a", 1}, {"b\"", 2}};

/* One of each type; keys that are taken already, twice, and larger than 2^53. */
static const struct kymo_trace_value kernel_values[] = {
	{.key = {"grid", 4},
	 .type = KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY,
	 .count = 3,
	 .i64_array = grid},
	{.key = {"bytes", 5},
	 .unit = {"bytes", 5},
	 .type = KYMO_VALUE_UINT64,
	 .u64 = 4096},
	{.key = {"bytes", 5}, .type = KYMO_VALUE_INT64, .i64 = -1},
	{.key = {"stream", 6}, .type = KYMO_VALUE_UINT64, .u64 = 7},
	{.key = {"handle", 6}, .type = KYMO_VALUE_UINT64, .u64 = UINT64_MAX},
	{.key = {"low", 3}, .type = KYMO_VALUE_INT64, .i64 = INT64_MIN},
	{.key = {"edge", 4}, .type = KYMO_VALUE_UINT64, .u64 = 1ull << 53},
	{.key = {"GB/s", 4}, .type = KYMO_VALUE_DOUBLE, .f64 = 0.1},
	{.key = {"nan", 3}, .type = KYMO_VALUE_DOUBLE, .f64 = NAN},
	{.key = {"ok", 2}, .type = KYMO_VALUE_BOOL, .u64 = 1},
	{.key = {"words", 5},
	 .type = KYMO_VALUE_STRING | KYMO_VALUE_ARRAY,
	 .count = 2,
	 .text_array = words},
	{.key = {"queued", 6}, .type = KYMO_VALUE_TIME, .i64 = FIRST + 1500},
	{.key = {"future", 6}, .type = 99},
};

static const struct kymo_trace_value power_first[] = {
	{.key = {"W", 1}, .type = KYMO_VALUE_DOUBLE, .f64 = 71.5},
	{.key = {"A", 1}, .type = KYMO_VALUE_INT64, .i64 = 6},
};
static const struct kymo_trace_value power_hole[] = {
	{.key = {"W", 1}, .type = KYMO_VALUE_DOUBLE, .f64 = INFINITY},
	{.key = {"A", 1}, .type = KYMO_VALUE_UINT64, .u64 = UINT64_MAX},
};

static const struct kymo_trace_event events[] = {
	{.kind = KYMO_EVENT_TRACK, .track = &tracks[0]},
	{.kind = KYMO_EVENT_SPAN,
	 .track = &tracks[0],
	 .type = &types[0],
	 .name = {"launch\n\"x\"\0\xff", 12},
	 .begin_ns = FIRST,
	 .end_ns = FIRST + 2001,
	 .correlation = 1,
	 .domain = {"vendor.command", 14},
	 .native_correlation = UINT64_MAX},
	{.kind = KYMO_EVENT_TRACK, .track = &tracks[1]},
	{.kind = KYMO_EVENT_SPAN,
	 .track = &tracks[1],
	 .type = &types[1],
	 .name = {"add<float>", 10},
	 .begin_ns = FIRST + 3000,
	 .end_ns = FIRST + 5000,
	 .correlation = 1,
	 .domain = {"vendor.command", 14},
	 .native_correlation = 77,
	 .values = kernel_values,
	 .value_count = COUNT(kernel_values)},
	{.kind = KYMO_EVENT_ARROW,
	 .track = &tracks[1],
	 .name = {"ac2g", 4},
	 .begin_ns = FIRST + 3000,
	 .arrow_id = 1,
	 .from_track = &tracks[0],
	 .from_ns = FIRST},
	{.kind = KYMO_EVENT_ARROW, /* backwards */
	 .track = &tracks[1],
	 .name = {"ac2g", 4},
	 .begin_ns = FIRST + 3000,
	 .arrow_id = 2,
	 .from_track = &tracks[0],
	 .from_ns = FIRST + 3001},
	{.kind = KYMO_EVENT_TRACK, .track = &tracks[2]},
	{.kind = KYMO_EVENT_SPAN,
	 .flags = KYMO_RECORD_UNFINISHED | KYMO_RECORD_ERROR | KYMO_RECORD_END_BY_RULE,
	 .track = &tracks[2],
	 .type = &types[1],
	 .begin_ns = FIRST + 4000,
	 .end_ns = FIRST + 9000,
	 .correlation = 2,
	 .launch_correlation = 1},
	{.kind = KYMO_EVENT_INSTANT,
	 .track = &tracks[0],
	 .type = &types[0],
	 .name = {"moment", 6},
	 .begin_ns = FIRST + 4000,
	 .end_ns = FIRST + 4000},
	{.kind = KYMO_EVENT_COUNTER,
	 .track = &tracks[3],
	 .type = &types[2],
	 .name = {"power", 5},
	 .begin_ns = FIRST + 4000,
	 .end_ns = FIRST + 4000,
	 .values = power_first,
	 .value_count = COUNT(power_first)},
	{.kind = KYMO_EVENT_COUNTER,
	 .track = &tracks[3],
	 .type = &types[2],
	 .name = {"power", 5},
	 .begin_ns = FIRST + 5000,
	 .end_ns = FIRST + 5000,
	 .values = power_hole,
	 .value_count = COUNT(power_hole)},
	{.kind = KYMO_EVENT_COUNTER, /* the same name elsewhere, with a hole at first */
	 .track = &tracks[5],
	 .type = &types[2],
	 .name = {"power", 5},
	 .begin_ns = FIRST + 5000,
	 .end_ns = FIRST + 5000,
	 .values = power_hole,
	 .value_count = COUNT(power_hole)},
	{.kind = KYMO_EVENT_COUNTER,
	 .track = &tracks[5],
	 .type = &types[2],
	 .name = {"power", 5},
	 .begin_ns = FIRST + 6000,
	 .end_ns = FIRST + 6000,
	 .values = power_first,
	 .value_count = COUNT(power_first)},
	{.kind = KYMO_EVENT_GAP,
	 .track = &tracks[4],
	 .type = &types[0],
	 .name = {"paused", 6},
	 .begin_ns = FIRST + 6000,
	 .end_ns = FIRST + 8000},
	{.kind = KYMO_EVENT_GAP,
	 .track = &tracks[4],
	 .begin_ns = FIRST + 8000,
	 .end_ns = FIRST + 8000},
	{.kind = KYMO_EVENT_SPAN, /* never drawn: backwards */
	 .track = &tracks[0],
	 .type = &types[0],
	 .begin_ns = FIRST + 8000,
	 .end_ns = FIRST + 7000},
	{.kind = 99, .track = &tracks[0], .begin_ns = FIRST, .end_ns = FIRST},
};

/* ---- Helpers ---- */

static const struct kymo_sink_ops *ops(void)
{
	return kymo_plugin_entry_v1()->sinks[0]->ops;
}

static void *open_sink(const char *path, const char *compat)
{
	const struct kymo_sink_options options = {
		.struct_size = sizeof(options),
		.compat = {compat, strlen(compat)},
	};
	struct kymo_error error = {0};
	void *sink;

	if (ops()->open((struct kymo_str){path, strlen(path)}, &options, &sink, &error) !=
	    KYMO_OK)
		fail_msg("%s", error.message);
	return sink;
}

/* Hands over a list of events as a timeline does, which has pointers to them. */
static int32_t write_batch(void *sink, const struct kymo_trace_event *list, size_t count,
			   struct kymo_error *error)
{
	struct kymo_trace_event sized[32];
	const struct kymo_trace_event *pointers[32];

	assert_in_range(count, 0, COUNT(sized));
	for (size_t i = 0; i < count; i++) {
		sized[i] = list[i];
		sized[i].struct_size = sizeof(sized[i]);
		pointers[i] = &sized[i];
	}
	return ops()->batch(sink, pointers, count, error);
}

/* The whole life of a sink; its result. */
static struct kymo_sink_result write_trace(const char *path, const char *compat,
					   const struct kymo_trace_header *head,
					   const struct kymo_trace_event *list,
					   size_t count)
{
	struct kymo_sink_result result = {.struct_size = sizeof(result)};
	struct kymo_error error = {0};
	void *sink = open_sink(path, compat);

	assert_int_equal(ops()->begin(sink, head, &error), KYMO_OK);
	assert_int_equal(write_batch(sink, list, count, &error), KYMO_OK);
	assert_int_equal(ops()->end(sink, &trace_end, &result, &error), KYMO_OK);
	ops()->close(sink);
	return result;
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *data;
	long size;

	if (!file)
		fail_msg("cannot open %s", path);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	data = calloc(1, (size_t)size + 1);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, (size_t)size, file), size);
	fclose(file);
	return data;
}

static void assert_has(const char *data, const char *part)
{
	if (!strstr(data, part))
		fail_msg("not found: %s\nin: %.6000s", part, data);
}

/* ---- Cases ---- */

static void a_trace_with_one_of_each_is_as_stored(void **state)
{
	const struct kymo_sink_result result =
		write_trace("golden.json", "", &header, events, COUNT(events));
	char *written = read_file("golden.json"), *golden;

	(void)state;
	assert_int_equal(result.bytes, strlen(written));
	assert_int_equal(result.events, 10);
	assert_int_equal(result.invalid_utf8, 1);
	assert_int_equal(result.nul, 1);
	if (getenv("KYMO_GOLDEN_WRITE")) {
		FILE *file = fopen(golden_path, "wb");

		assert_non_null(file);
		assert_int_equal(fputs(written, file) >= 0, 1);
		assert_int_equal(fclose(file), 0);
	}
	golden = read_file(golden_path);
	if (strcmp(written, golden) != 0)
		fail_msg("differs from %s:\n%s", golden_path, written);
	free(written);
	free(golden);
}

static void a_trace_without_events_is_complete(void **state)
{
	struct kymo_trace_header empty = {.struct_size = sizeof(empty)};
	const struct kymo_sink_result result = write_trace("a.json", "", &empty, NULL, 0);
	char *written = read_file("a.json");

	(void)state;
	assert_int_equal(result.events, 0);
	assert_has(written, "\"deviceProperties\": [],\n  \"displayTimeUnit\": \"ms\"");
	assert_has(written, "\"Record Window End\"");
	assert_null(strstr(written, "distributedInfo"));
	assert_int_equal(written[strlen(written) - 1], '}');
	free(written);
}

static void offsets_that_make_no_sense_still_give_a_trace(void **state)
{
	static const struct {
		int64_t first, offset;
	} cases[] = {
		{INT64_MAX, INT64_MAX}, {INT64_MIN, INT64_MIN}, {INT64_MIN, 0},
		{INT64_MIN, 1},         {0, INT64_MIN},         {-1, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		struct kymo_trace_header head = header;
		struct kymo_trace_event event = events[1];
		char *written;

		head.first_ns = head.last_ns = event.begin_ns = event.end_ns =
			cases[i].first;
		head.realtime_offset_ns = cases[i].offset;
		write_trace("a.json", "", &head, &event, 1);
		written = read_file("a.json");
		assert_null(strstr(written, "\"ts\": -"));
		assert_has(written, "\"ph\": \"X\"");
		free(written);
		unlink("a.json");
	}
}

static void the_base_is_midnight_also_before_1970(void **state)
{
	struct kymo_trace_header head = header;
	char *written;

	(void)state;
	head.realtime_offset_ns = -FIRST - 1000; /* 1 us before the epoch */
	write_trace("a.json", "", &head, events, 2);
	written = read_file("a.json");
	assert_has(written, "\"baseTimeNanoseconds\": -86400000000000,");
	assert_has(written, "\"ts\": 86399999999.000,");
	free(written);
}

static void several_ranks_have_no_distributed_info(void **state)
{
	struct kymo_trace_process other = processes[1];
	const struct kymo_trace_process *const list[] = {&processes[0], &other};
	struct kymo_trace_header head = header;
	char *written;

	(void)state;
	head.processes = list;
	other.rank = 4;
	write_trace("a.json", "", &head, NULL, 0);
	written = read_file("a.json");
	assert_null(strstr(written, "distributedInfo"));
	free(written);
	unlink("a.json");
	other.rank = processes[0].rank; /* a child of the same rank */
	write_trace("a.json", "", &head, NULL, 0);
	written = read_file("a.json");
	assert_has(written, "\"distributedInfo\": {\"backend\": \"\", \"rank\": 3, "
			    "\"world_size\": 8}");
	free(written);
}

static void tensorboard_gets_a_span_that_says_it_is_made_up(void **state)
{
	char *written;

	(void)state;
	write_trace("a.json", "tensorboard", &header, events, COUNT(events));
	written = read_file("a.json");
	assert_has(written, "\"cat\": \"cpu_op\"");
	assert_has(written, "\"synthetic\": true");
	assert_has(written, "\"synthetic events\": 2");
	free(written);
}

static void an_unknown_reader_is_refused_by_name(void **state)
{
	const struct kymo_sink_options options = {
		.struct_size = sizeof(options),
		.compat = {"nobody", 6},
	};
	struct kymo_error error;
	void *sink;

	(void)state;
	assert_int_equal(
		ops()->open((struct kymo_str){"a.json", 6}, &options, &sink, &error),
		KYMO_ERROR_UNSUPPORTED);
	assert_null(sink);
	assert_has(error.message, "\"nobody\"");
	assert_int_equal(access("a.json", F_OK), -1);
}

static void an_abort_leaves_nothing(void **state)
{
	struct kymo_error error;
	void *sink = open_sink("a.json", "");

	(void)state;
	assert_int_equal(ops()->begin(sink, &header, &error), KYMO_OK);
	assert_int_equal(write_batch(sink, events, COUNT(events), &error), KYMO_OK);
	ops()->abort(sink);
	ops()->close(sink);
	ops()->close(NULL);
	assert_int_equal(rmdir(folder), 0); /* it is empty */
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(chdir(folder), 0);
}

static void a_full_disk_fails_the_export_with_the_reason(void **state)
{
	struct kymo_sink_result result = {.struct_size = sizeof(result)};
	struct kymo_error error = {0};
	void *sink = open_sink("/dev/full", "");
	int32_t status;
	int i;

	(void)state;
	status = ops()->begin(sink, &header, &error);
	for (i = 0; i < 1000 && status == KYMO_OK; i++)
		status = write_batch(sink, events, COUNT(events), &error);
	assert_int_equal(status, KYMO_ERROR_IO);
	assert_has(error.message, "No space left on device; make room");
	assert_int_equal(ops()->end(sink, &trace_end, &result, &error), KYMO_ERROR_IO);
	ops()->close(sink);
}

static void a_track_of_no_process_is_an_error(void **state)
{
	const struct kymo_trace_track lost = {.struct_size = sizeof(lost), .index = 9};
	const struct kymo_trace_event event = {.kind = KYMO_EVENT_TRACK, .track = &lost};
	struct kymo_error error;
	void *sink = open_sink("a.json", "");

	(void)state;
	assert_int_equal(ops()->begin(sink, &header, &error), KYMO_OK);
	assert_int_equal(write_batch(sink, &event, 1, &error), KYMO_ERROR_INVALID);
	assert_has(error.message, "did not declare");
	ops()->abort(sink);
	ops()->close(sink);
}

static int enter_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/kymo-chrome-test-XXXXXX");
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
	(void)state;
	unlink("a.json");
	unlink("golden.json");
	return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static int find_golden(void **state)
{
	char source[] = __FILE__, *slash = strrchr(source, '/'), path[4200];

	(void)state;
	if (slash)
		*slash = '\0';
	snprintf(path, sizeof(path), "%s", slash ? source : ".");
	if (!realpath(path, golden_path))
		return -1;
	strncat(golden_path, "/golden.json",
		sizeof(golden_path) - strlen(golden_path) - 1);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_folder, leave_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_trace_with_one_of_each_is_as_stored),
		TEST(a_trace_without_events_is_complete),
		TEST(offsets_that_make_no_sense_still_give_a_trace),
		TEST(the_base_is_midnight_also_before_1970),
		TEST(several_ranks_have_no_distributed_info),
		TEST(tensorboard_gets_a_span_that_says_it_is_made_up),
		TEST(an_unknown_reader_is_refused_by_name),
		TEST(an_abort_leaves_nothing),
		TEST(a_full_disk_fails_the_export_with_the_reason),
		TEST(a_track_of_no_process_is_an_error),
	};

	return cmocka_run_group_tests(tests, find_golden, NULL);
}
