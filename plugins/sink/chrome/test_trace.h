/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small trace with one of each thing, and how a host gives it to the sink. To be
 * included behind "support/test.h".
 */
#ifndef KYMO_CHROME_TEST_TRACE_H
#define KYMO_CHROME_TEST_TRACE_H

#include <kymo/sink.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define FIRST        INT64_C(5000000000)

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
	 .plugin = {"vendor", 6},
	 .full_name = {"vendor.power", 12},
	 .flags = KYMO_TYPE_OPT_IN,
	 .kineto_id = 77,
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

#endif
