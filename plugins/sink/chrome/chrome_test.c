/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink as its host sees it: a small trace with one of each thing is compared with
 * golden.json, byte by byte; what that can't show has cases of its own.
 *
 * After a wanted change: KYMO_GOLDEN_WRITE=1, run, and read the difference.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"

#include "test_trace.h"

static char folder[64], golden_path[4096];

static void a_trace_with_one_of_each_is_as_stored(void **state)
{
	const struct kymo_sink_result result =
		write_trace("golden.json", "", &header, events, COUNT(events));
	char *written = read_file("golden.json"), *golden;

	(void)state;
	assert_int_equal(result.bytes, strlen(written));
	assert_int_equal(result.events, 8); /* and two gaps */
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

static void nested_values_are_arrays_and_objects(void **state)
{
	static const int64_t two[] = {2, 3}, one[] = {INT64_MAX};
	static const struct kymo_trace_value shapes[] = {
		{.type = KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY,
		 .count = 2,
		 .i64_array = two},
		{.type = KYMO_VALUE_LIST},
		{.type = KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY,
		 .count = 1,
		 .i64_array = one},
	};
	static const struct kymo_trace_value members[] = {
		{.key = {"limit \"x\"", 9},
		 .type = KYMO_VALUE_STRING,
		 .text = {"WARPS\n", 6}},
		{.key = {"twice", 5}, .type = KYMO_VALUE_INT64, .i64 = 1},
		{.key = {"twice", 5}, .type = KYMO_VALUE_DICT},
	};
	static const struct kymo_trace_value values[] = {
		{.key = {"Input Dims", 10},
		 .type = KYMO_VALUE_LIST,
		 .count = 3,
		 .items = shapes},
		{.key = {"occupancy", 9},
		 .type = KYMO_VALUE_DICT,
		 .count = 3,
		 .items = members},
	};
	struct kymo_trace_event event = events[1];
	char *written;

	(void)state;
	event.values = values;
	event.value_count = 2;
	write_trace("a.json", "", &header, &event, 1);
	written = read_file("a.json");
	assert_has(written,
		   "\"Input Dims\": [[2, 3], [], [\"9223372036854775807\"]], "
		   "\"occupancy\": {\"limit \\\"x\\\"\": \"WARPS\\n\", \"twice\": 1, "
		   "\"twice (3)\": {}}");
	/* The integer that is a string is noted under the key of the whole. */
	assert_has(written, "\"big number keys\": [");
	assert_has(strstr(written, "\"big number keys\": ["), "\"Input Dims\"");
	free(written);
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
		TEST(nested_values_are_arrays_and_objects),
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
