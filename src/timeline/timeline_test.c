/* SPDX-License-Identifier: BSD-3-Clause */
/* From a capture to what a sink gets. */
#include "timeline/timeline.h"

#include "support/test.h"
#include "timeline/trace_setup.h"

static void an_empty_capture_gives_an_empty_trace(void **state)
{
	struct setup s = begin();
	struct memory_sink sink;

	(void)state;
	s.build->line_count = 0;
	sink = run(&s);
	assert_int_equal(sink.count, 0);
	assert_int_equal(sink.header.first_ns, sink.header.last_ns);
	assert_int_equal(sink.ledger.offered, 0);
	assert_string_equal(sink.processes, "program(1001)[program -x] ");
	memory_free(&sink);
}

static void no_reader_at_all_gives_an_empty_trace(void **state)
{
	struct memory_sink sink = run_files(NULL, 0);

	(void)state;
	assert_int_equal(sink.header.process_count, 0);
	memory_free(&sink);
}

static void spans_come_in_order_nested_or_on_further_lanes(void **state)
{
	static const struct {
		const char *what;
		uint64_t times[5][2];
		const char *expected;
	} rows[] = {
		{"disjoint", {{20, 30}, {10, 20}}, "501.0 10-20, 501.0 20-30"},
		{"nested, inner first", {{20, 30}, {10, 40}}, "501.0 10-40, 501.0 20-30"},
		{"equal", {{10, 40}, {10, 40}}, "501.0 10-40, 501.0 10-40"},
		{"same begin", {{10, 20}, {10, 40}}, "501.0 10-40, 501.0 10-20"},
		{"same end", {{10, 40}, {30, 40}}, "501.0 10-40, 501.0 30-40"},
		{"overlapping", {{10, 30}, {20, 40}}, "501.0 10-30, 501.1 20-40"},
		{"back on the first lane",
		 {{10, 30}, {20, 40}, {30, 50}},
		 "501.0 10-30, 501.1 20-40, 501.0 30-50"},
		{"three lanes",
		 {{10, 30}, {20, 40}, {25, 50}, {26, 28}},
		 "501.0 10-30, 501.1 20-40, 501.2 25-50, 501.0 26-28"},
		{"empty ones",
		 {{10, 30}, {30, 30}, {30, 30}, {30, 40}},
		 "501.0 10-30, 501.0 30-40, 501.0 30-30, 501.0 30-30"},
		{"run-long",
		 {{1, 1000}, {10, 20}, {500, 600}},
		 "501.0 1-1000, 501.0 10-20, 501.0 500-600"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct setup s = begin();
		struct memory_sink sink;
		char found[512];

		for (size_t j = 0; j < 5 && rows[i].times[j][0]; j++)
			add_span(&s, 0, rows[i].times[j][0], rows[i].times[j][1]);
		sink = run(&s);
		describe(&sink, found, sizeof(found));
		if (strcmp(found, rows[i].expected) != 0)
			fail_msg("%s: %s", rows[i].what, found);
		memory_free(&sink);
	}
}

static void of_spans_of_equal_times_the_one_told_last_is_around_the_other(void **state)
{
	struct setup s = begin();
	struct memory_sink sink;

	(void)state;
	build_record(s.build, KYMO_KIND_SPAN,
		     (struct kymo_record){.type = s.runtime,
					  .name = build_text(s.build, "inner"),
					  .begin = T(100),
					  .end = T(200)});
	build_record(s.build, KYMO_KIND_SPAN,
		     (struct kymo_record){.type = s.runtime,
					  .name = build_text(s.build, "outer"),
					  .begin = T(100),
					  .end = T(200)});
	sink = run(&s);
	assert_string_equal(memory_find(&sink, KYMO_EVENT_SPAN, 0)->name, "outer");
	assert_string_equal(memory_find(&sink, KYMO_EVENT_SPAN, 1)->name, "inner");
	assert_int_equal(memory_find(&sink, KYMO_EVENT_SPAN, 1)->track.lane, 0);
	memory_free(&sink);
}

static void values_are_resolved(void **state)
{
	struct setup s = begin();
	uint16_t text = build_key(s.build, "text", KYMO_VALUE_STRING);
	uint16_t grid = build_key(s.build, "grid", KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY);
	uint16_t queued = build_key(s.build, "queued", KYMO_VALUE_TIME);
	struct {
		struct ky_attribute attribute;
		uint64_t values[3];
		struct ky_attribute other;
		uint64_t value;
	} set = {{grid, 0, 3}, {4, 5, 6}, {s.bytes, 0, 0}, 77};
	uint32_t attributes =
		build_entry(s.build, KY_ENTRY_ATTRIBUTES, &set, sizeof(set));
	struct kymo_record lines[4] = {{.kind = KYMO_KIND_SPAN,
					.lines = 4,
					.type = s.runtime,
					.name = s.name,
					.begin = T(10),
					.end = T(20),
					.attributes = attributes,
					.key = {s.bytes, text},
					.value = {4096, s.name}}};
	struct kymo_record_more more = {.kind = KYMO_KIND_MORE,
					.used = 2,
					.key = {text, queued},
					.value = {9999, T(5)}};
	struct kymo_record_bytes bytes = {
		.kind = KYMO_KIND_BYTES,
		.used = 56,
		.key = text,
		.total = 58,
		.byte = "0123456789012345678901234567890123456789"
			"012345678901234"};
	const struct memory_event *event;
	struct memory_sink sink;

	(void)state;
	memcpy(&lines[1], &more, 64);
	bytes.byte[55] = '5';
	memcpy(&lines[2], &bytes, 64);
	memcpy(bytes.byte, "67", 2);
	bytes.used = 2;
	memcpy(&lines[3], &bytes, 64);
	build_lines(s.build, lines, 4);
	sink = run(&s);
	event = memory_find(&sink, KYMO_EVENT_SPAN, 0);
	assert_string_equal(event->name, "launch \"x\"\n");
	assert_string_equal(event->type, "runtime");
	assert_string_equal(
		event->values,
		"bytes=4096 text=launch \"x\"\n text=(unknown string 9999) "
		"queued=100000000005 "
		"text=0123456789012345678901234567890123456789012345678901234567 "
		"grid=4,5,6 bytes=77");
	memory_free(&sink);
}

static void instants_counters_and_gaps_are_events_of_their_own(void **state)
{
	struct setup s = begin();
	struct {
		struct ky_group_entry group;
		struct ky_counter_entry counters[2];
	} group = {
		{.track = s.queue, .name = build_text(s.build, "power"), .count = 2},
		{{.name = build_text(s.build, "watts"), .value_type = KYMO_VALUE_DOUBLE},
		 {.name = build_text(s.build, "mhz"), .value_type = KYMO_VALUE_UINT64}}};
	struct kymo_record_counter sample = {
		.kind = KYMO_KIND_COUNTER,
		.lines = 1,
		.type = s.runtime,
		.count = 2,
		.group = build_entry(s.build, KY_ENTRY_GROUP, &group, sizeof(group)),
		.begin = T(15),
		.end = T(15),
		.value = {0x4029000000000000 /* 12.5 */, 1500}};
	const struct memory_event *counter;
	struct memory_sink sink;

	(void)state;
	build_lines(s.build, &sample, 1);
	build_record(s.build, KYMO_KIND_INSTANT,
		     (struct kymo_record){.type = s.runtime, .begin = T(12), .end = 0});
	build_record(s.build, KYMO_KIND_GAP,
		     (struct kymo_record){.begin = T(30), .end = T(40)});
	sink = run(&s);
	counter = memory_find(&sink, KYMO_EVENT_COUNTER, 0);
	assert_string_equal(counter->name, "power");
	assert_string_equal(counter->values, "watts=12.5 mhz=1500");
	assert_int_equal(counter->track.kind, KYMO_TRACK_QUEUE);
	assert_int_equal(sink.seen[KYMO_EVENT_INSTANT], 1);
	assert_string_equal(memory_find(&sink, KYMO_EVENT_INSTANT, 0)->name, "runtime");
	assert_int_equal(sink.seen[KYMO_EVENT_GAP], 1);
	assert_int_equal(sink.ledger.counters, 1);
	assert_int_equal(sink.ledger.instants, 1);
	assert_int_equal(sink.ledger.spans, 0);
	assert_int_equal(sink.ledger.written, 3);
	memory_free(&sink);
}

static void device_times_are_converted_by_their_anchors(void **state)
{
	struct setup s = begin();
	/* A 40-bit counter at 1 GHz that is 1000 ns ahead and wraps. */
	const uint64_t mask = (1ull << 40) - 1, ahead = 1000;
	uint32_t clock = build_clock(s.build, KYMO_CLOCK_COUNTER, 40, 1000000000);
	uint32_t queue = build_queue(s.build, s.device, 9, clock);
	struct memory_sink sink;
	char found[256];

	(void)state;
	for (uint64_t at = 0; at <= BUILD_SECOND; at += BUILD_SECOND / 10)
		build_anchor(s.build, clock, (T(at) + ahead) & mask, T(at) - 50,
			     T(at) + 50);
	build_record(s.build, KYMO_KIND_SPAN,
		     (struct kymo_record){.track = queue,
					  .type = s.kernel,
					  .begin = (T(123456) + ahead) & mask,
					  .end = (T(133456) + ahead) & mask});
	build_record(s.build, KYMO_KIND_SPAN,
		     (struct kymo_record){.track = queue,
					  .type = s.kernel,
					  .flags = KYMO_RECORD_HOST_CLOCK,
					  .begin = T(200000),
					  .end = T(200001)});
	sink = run(&s);
	describe(&sink, found, sizeof(found));
	assert_string_equal(found, "9.0 123456-133456, 9.0 200000-200001");
	assert_string_equal(sink.clocks, "host:2:0 clock:1:11 ");
	/* Half an anchor's width, and as much for what might hide between two. */
	assert_in_range(sink.clock_uncertainty[1], 40, 120);
	memory_free(&sink);
}

static void launches_and_what_they_launched_are_joined(void **state)
{
	struct setup s = begin();
	const struct memory_event *arrow, *second, *launch;
	struct memory_sink sink;

	(void)state;
	add_correlated(&s, 0, 100, KYMO_RECORD_ORIGIN, 7);
	add_correlated(&s, s.queue, 150, KYMO_RECORD_TARGET, 7);
	add_correlated(&s, s.queue, 250, KYMO_RECORD_TARGET, 7);
	add_correlated(&s, 0, 300, 0, 8);
	sink = run(&s);
	assert_int_equal(sink.ledger.arrows, 2);
	launch = memory_find(&sink, KYMO_EVENT_SPAN, 0);
	assert_true(launch->event.correlation > 0);
	assert_int_equal(launch->event.native_correlation, 7);
	assert_string_equal(launch->domain, "fake.command");
	assert_int_equal(memory_find(&sink, KYMO_EVENT_SPAN, 1)->event.correlation,
			 launch->event.correlation);
	second = memory_find(&sink, KYMO_EVENT_SPAN, 2);
	assert_int_equal(second->event.launch_correlation, launch->event.correlation);
	assert_int_not_equal(second->event.correlation, launch->event.correlation);
	arrow = memory_find(&sink, KYMO_EVENT_ARROW, 1);
	assert_string_equal(arrow->name, "ac2g");
	assert_int_equal(arrow->event.from_ns, T(100));
	assert_int_equal(arrow->event.begin_ns, T(250));
	assert_int_equal(arrow->from_track.native, 501);
	assert_int_equal(arrow->track.native, 0x7f0000001234);
	memory_free(&sink);
}

static void arrows_lead_to_the_lanes_of_their_ends(void **state)
{
	struct setup s = begin();
	const struct memory_event *arrow;
	struct memory_sink sink;

	(void)state;
	add_span(&s, 0, 95, 105);
	add_correlated(&s, 0, 100, KYMO_RECORD_ORIGIN, 7);
	add_span(&s, s.queue, 145, 155);
	add_correlated(&s, s.queue, 150, KYMO_RECORD_TARGET, 7);
	sink = run(&s);
	arrow = memory_find(&sink, KYMO_EVENT_ARROW, 0);
	assert_int_equal(arrow->from_track.lane, 1);
	assert_int_equal(arrow->track.lane, 1);
	memory_free(&sink);
}

static void links_make_arrows_of_their_own_kind(void **state)
{
	struct setup s = begin();
	uint16_t kind = build_link_kind(s.build, "fwdbwd");
	struct kymo_record_link link = {.kind = KYMO_KIND_LINK,
					.lines = 1,
					.link_kind = kind,
					.from_domain = s.domain,
					.to_domain = s.domain,
					.from = 1,
					.to = 2};
	const struct memory_event *arrow;
	struct memory_sink sink;

	(void)state;
	build_lines(s.build, &link, 1); /* before its ends are there */
	add_correlated(&s, 0, 100, 0, 1);
	add_correlated(&s, 0, 200, 0, 2);
	link.to = 99;
	build_lines(s.build, &link, 1);
	link.from = 2;
	link.to = 1;
	build_lines(s.build, &link, 1);
	sink = run(&s);
	arrow = memory_find(&sink, KYMO_EVENT_ARROW, 0);
	assert_string_equal(arrow->name, "fwdbwd");
	assert_int_equal(arrow->event.from_ns, T(100));
	assert_int_equal(arrow->event.begin_ns, T(200));
	assert_int_equal(sink.ledger.arrows, 1);
	assert_int_equal(sink.ledger.arrows_no_launch, 1);
	assert_int_equal(sink.ledger.arrows_backward, 1);
	memory_free(&sink);
}

static void equal_values_are_joined_as_far_as_their_domain_reaches(void **state)
{
	static const struct {
		uint32_t scope;
		uint64_t arrows;
	} rows[] = {{KYMO_DOMAIN_SOURCE, 0},
		    {KYMO_DOMAIN_PROCESS, 0},
		    {KYMO_DOMAIN_GLOBAL, 1}};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct setup s = begin();
		struct memory_sink sink;

		s.domain = build_domain(s.build, s.source, "ring", rows[i].scope);
		add_correlated(&s, 0, 100, KYMO_RECORD_ORIGIN, 7);
		build_finish(s.build, T(BUILD_SECOND));
		build_capture(s.build, 2); /* another process */
		s.source = build_source(s.build, "fake");
		s.runtime = build_type(s.build, s.source, "runtime", 7);
		s.domain = build_domain(s.build, s.source, "ring", rows[i].scope);
		build_lease(s.build, build_thread(s.build, 601, "other"), T(0));
		add_correlated(&s, 0, 200, KYMO_RECORD_TARGET, 7);
		sink = run(&s);
		assert_int_equal(sink.ledger.arrows, rows[i].arrows);
		assert_int_equal(sink.ledger.arrows_no_launch, 1 - rows[i].arrows);
		assert_int_equal(sink.header.process_count, 2);
		if (rows[i].arrows)
			assert_string_equal(memory_find(&sink, KYMO_EVENT_ARROW, 0)->name,
					    "launch");
		memory_free(&sink);
	}
}

static void what_was_open_at_the_end_is_shown_as_unfinished(void **state)
{
	struct setup s = begin();
	const struct memory_event *first, *inner, *in_parent;
	struct memory_sink sink;

	(void)state;
	build_record(
		s.build, KYMO_KIND_OPEN,
		(struct kymo_record){.type = s.runtime, .name = s.name, .begin = T(10)});
	add_span(&s, 0, 10, 40); /* completes the first */
	build_record(
		s.build, KYMO_KIND_OPEN,
		(struct kymo_record){.type = s.runtime, .name = s.name, .begin = T(20)});
	build_record(
		s.build, KYMO_KIND_OPEN,
		(struct kymo_record){.type = s.runtime, .name = s.name, .begin = T(50)});
	build_record(
		s.build, KYMO_KIND_OPEN,
		(struct kymo_record){.type = s.runtime, .name = s.name, .begin = T(60)});
	sink = run(&s);
	assert_int_equal(sink.seen[KYMO_EVENT_SPAN], 4);
	assert_int_equal(sink.ledger.unfinished, 3);
	in_parent = memory_find(&sink, KYMO_EVENT_SPAN, 1);
	assert_int_equal(in_parent->event.begin_ns, T(20));
	assert_int_equal(in_parent->event.end_ns, T(40));
	assert_true(in_parent->event.flags & KYMO_RECORD_UNFINISHED);
	first = memory_find(&sink, KYMO_EVENT_SPAN, 2);
	inner = memory_find(&sink, KYMO_EVENT_SPAN, 3);
	assert_int_equal(first->event.end_ns, T(BUILD_SECOND));
	assert_int_equal(inner->event.end_ns, T(BUILD_SECOND));
	assert_int_equal(inner->track.lane, 0);
	memory_free(&sink);
}

static void a_failing_sink_is_aborted_and_its_reason_kept(void **state)
{
	struct setup s = begin();
	struct memory_sink sink = {.fail_at_batch = 2};
	struct kymo_error error = {0};
	struct ky_reader *reader;

	(void)state;
	for (uint64_t i = 0; i < 2000; i++)
		add_span(&s, 0, 10 + i, 11 + i);
	build_finish(s.build, 0);
	assert_int_equal(ky_reader_open(&reader, build_save(s.build), &error), KYMO_OK);
	assert_int_equal(
		ky_timeline_run(&reader, 1, &memory_ops, &sink, NULL, NULL, &error),
		KYMO_ERROR_IO);
	assert_true(sink.aborted);
	assert_string_equal(error.message, "sink is full");
	ky_reader_close(reader);
	build_free(s.build);
	memory_free(&sink);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_capture_gives_an_empty_trace),
		cmocka_unit_test(no_reader_at_all_gives_an_empty_trace),
		cmocka_unit_test(spans_come_in_order_nested_or_on_further_lanes),
		cmocka_unit_test(
			of_spans_of_equal_times_the_one_told_last_is_around_the_other),
		cmocka_unit_test(values_are_resolved),
		cmocka_unit_test(instants_counters_and_gaps_are_events_of_their_own),
		cmocka_unit_test(device_times_are_converted_by_their_anchors),
		cmocka_unit_test(launches_and_what_they_launched_are_joined),
		cmocka_unit_test(arrows_lead_to_the_lanes_of_their_ends),
		cmocka_unit_test(links_make_arrows_of_their_own_kind),
		cmocka_unit_test(equal_values_are_joined_as_far_as_their_domain_reaches),
		cmocka_unit_test(what_was_open_at_the_end_is_shown_as_unfinished),
		cmocka_unit_test(a_failing_sink_is_aborted_and_its_reason_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
