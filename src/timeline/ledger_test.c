/* SPDX-License-Identifier: BSD-3-Clause */
/* What is not drawn is counted, and the counts add up. */
#include "timeline/ledger.h"

#include "support/test.h"
#include "timeline/trace_setup.h"

static void times_that_cannot_be_are_counted_and_not_drawn(void **state)
{
	static const struct {
		const char *what;
		uint64_t begin_ns, end_ns;
		uint16_t flags;
		uint64_t untimed, outside;
	} rows[] = {
		{"good", T(10), T(20), 0, 0, 0},
		{"zero", 0, 0, 0, 1, 0},
		{"no end", T(10), 0, 0, 1, 0},
		{"no begin", 0, T(10), 0, 1, 0},
		{"backwards", T(20), T(10), 0, 1, 0},
		{"flagged", T(10), T(20), KYMO_RECORD_UNTIMED, 1, 0},
		{"beyond the range", T(10), UINT64_MAX, 0, 1, 0},
		{"far before the attach", 1000, 2000, 0, 0, 1},
		{"a little before it", T(0) - BUILD_SECOND, T(10), 0, 0, 0},
		{"far after the end", T(3600 * BUILD_SECOND), T(3601 * BUILD_SECOND), 0,
		 0, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct setup s = begin();
		struct memory_sink sink;

		build_record(s.build, KYMO_KIND_SPAN,
			     (struct kymo_record){.type = s.runtime,
						  .flags = rows[i].flags,
						  .begin = rows[i].begin_ns,
						  .end = rows[i].end_ns});
		sink = run(&s);
		if (sink.ledger.untimed != rows[i].untimed ||
		    sink.ledger.out_of_window != rows[i].outside ||
		    sink.seen[KYMO_EVENT_SPAN] != 1 - rows[i].untimed - rows[i].outside)
			fail_msg("%s", rows[i].what);
		assert_int_equal(sink.ledger.written, 1 - rows[i].outside);
		assert_int_equal(sink.ledger.accepted, 1);
		memory_free(&sink);
	}
}

static void a_clock_without_anchors_gives_no_times(void **state)
{
	struct setup s = begin();
	uint32_t clock = build_clock(s.build, KYMO_CLOCK_COUNTER, 64, 1000000000);
	uint32_t queue = build_queue(s.build, s.device, 9, clock);
	struct memory_sink sink;

	(void)state;
	add_span(&s, queue, 10, 20);
	sink = run(&s);
	assert_int_equal(sink.ledger.untimed, 1);
	assert_int_equal(sink.seen[KYMO_EVENT_SPAN], 0);
	memory_free(&sink);
}

static void arrows_that_cannot_be_drawn_are_counted(void **state)
{
	struct setup s = begin();
	struct memory_sink sink;

	(void)state;
	add_correlated(&s, 0, 100, KYMO_RECORD_ORIGIN, 1); /* its target is before it */
	add_correlated(&s, s.queue, 90, KYMO_RECORD_TARGET, 1);
	add_correlated(&s, s.queue, 110, KYMO_RECORD_TARGET, 2); /* no launch */
	add_correlated(&s, 0, 120, KYMO_RECORD_ORIGIN | KYMO_RECORD_UNTIMED, 3);
	add_correlated(&s, s.queue, 130, KYMO_RECORD_TARGET, 3);
	add_correlated(&s, 0, 140, KYMO_RECORD_ORIGIN, 4);
	add_correlated(&s, s.queue, 150, KYMO_RECORD_TARGET | KYMO_RECORD_UNTIMED, 4);
	sink = run(&s);
	assert_int_equal(sink.ledger.arrows, 0);
	assert_int_equal(sink.ledger.arrows_backward, 1);
	assert_int_equal(sink.ledger.arrows_no_launch, 1);
	assert_int_equal(sink.ledger.arrows_untimed, 2);
	assert_int_equal(sink.ledger.untimed, 2);
	assert_int_equal(sink.seen[KYMO_EVENT_SPAN], 5);
	memory_free(&sink);
}

static void the_books_are_balanced(void **state)
{
	struct setup s = begin();
	struct ky_state_entry fate = {.source = 1, .state = KYMO_STATE_PARTLY};
	struct memory_sink sink;

	(void)state;
	add_span(&s, 0, 10, 20);
	add_span(&s, s.queue, 30, 40);
	build_record(
		s.build, KYMO_KIND_SPAN,
		(struct kymo_record){
			.type = s.copy, .track = s.queue, .begin = T(50), .end = T(60)});
	s.build->writers[0] = (struct ky_writer_slot){.accepted = 9,
						      .written = 5,
						      .lost_full = 3,
						      .lost_too_big = 1,
						      .lost_nested = 2,
						      .filtered = 7};
	s.build->writer_count = 1;
	s.build->header.lost_full_unowned = 1;
	s.build->header.cold_chunks = 4;
	s.build->header.quarantined_chunks = 6;
	s.build->header.names_not_kept = 5;
	s.build->sources[1].lost[KYMO_LOST_LATE] = 2;
	s.build->sources[1].lost[KYMO_LOST_VENDOR] = 40;
	fate.reason = build_text(s.build, "first");
	build_entry(s.build, KY_ENTRY_STATE, &fate, sizeof(fate));
	fate.reason = build_text(s.build, "last");
	build_entry(s.build, KY_ENTRY_STATE, &fate, sizeof(fate));
	sink = run(&s);
	assert_int_equal(sink.ledger.written, 3);
	assert_int_equal(sink.ledger.full, 4);
	assert_int_equal(sink.ledger.too_big, 1);
	assert_int_equal(sink.ledger.nested, 2);
	assert_int_equal(sink.ledger.late, 2);
	assert_int_equal(sink.ledger.cut, 2); /* five written, three found */
	assert_int_equal(sink.ledger.accepted, 3 + 4 + 1 + 2 + 2 + 2);
	assert_int_equal(sink.ledger.filtered, 7);
	assert_int_equal(sink.ledger.offered, 14 + 7);
	assert_int_equal(sink.ledger.source_exact, 40);
	assert_int_equal(sink.ledger.cold_chunks, 4);
	assert_int_equal(sink.ledger.quarantined_chunks, 6);
	assert_int_equal(sink.ledger.names_not_kept, 5);
	assert_int_equal(sink.ledger.kernels, 1);
	assert_int_equal(sink.ledger.copies, 1);
	assert_string_equal(sink.sources, "fake:2:3:42:last ");
	memory_free(&sink);
}

static void a_begin_is_a_record_but_no_event(void **state)
{
	struct setup s = begin();
	struct memory_sink sink;

	(void)state;
	build_record(s.build, KYMO_KIND_OPEN,
		     (struct kymo_record){.type = s.runtime, .begin = T(10)});
	add_span(&s, 0, 10, 20); /* of another name: that is not looked at */
	build_record(s.build, KYMO_KIND_OPEN,
		     (struct kymo_record){.type = s.runtime, .begin = T(30)});
	build_record(
		s.build, KYMO_KIND_SPAN,
		(struct kymo_record){.type = s.runtime, .begin = T(50), .end = T(40)});
	s.build->writers[0] = (struct ky_writer_slot){.accepted = 4, .written = 4};
	s.build->writer_count = 1;
	sink = run(&s);
	assert_int_equal(sink.ledger.written, 4);
	assert_int_equal(sink.ledger.accepted, 4);
	assert_int_equal(sink.ledger.begins, 1);
	assert_int_equal(sink.ledger.untimed, 1);
	assert_int_equal(sink.ledger.unfinished, 1);
	assert_int_equal(sink.seen[KYMO_EVENT_SPAN], 2);
	assert_string_equal(sink.sources, "fake:3:4:0: ");
	assert_int_equal(sink.source_events, 3);
	memory_free(&sink);
}

static void what_the_host_refused_had_been_handed_in(void **state)
{
	struct setup s = begin();
	struct memory_sink sink;

	(void)state;
	add_span(&s, 0, 10, 20);
	s.build->sources[1].invalid = 3;
	s.build->sources[2].invalid = 2;
	s.build->sources[2].lost[KYMO_LOST_LATE] = 4;
	s.build->writers[0] = (struct ky_writer_slot){.accepted = 1, .written = 1};
	s.build->writer_count = 1;
	sink = run(&s);
	assert_int_equal(sink.ledger.invalid, 5);
	assert_int_equal(sink.ledger.late, 4);
	assert_int_equal(sink.ledger.accepted, 10);
	assert_int_equal(sink.ledger.offered, 10);
	memory_free(&sink);
}

static void a_capture_that_ends_early_is_told(void **state)
{
	struct setup whole = begin(), endless = begin(), cut = begin();
	struct memory_sink sink;

	(void)state;
	add_span(&whole, 0, 10, 20);
	sink = run(&whole);
	assert_int_equal(sink.ledger.cut_captures, 0);
	assert_int_equal(sink.ledger.bad_bytes, 0);
	memory_free(&sink);

	add_span(&endless, 0, 10, 20);
	build_finish(endless.build, 0);
	sink = run_files(&endless.build, 1);
	assert_int_equal(sink.ledger.cut_captures, 1);
	assert_int_equal(sink.ledger.bad_bytes, 0);
	assert_int_equal(sink.seen[KYMO_EVENT_SPAN], 1);
	memory_free(&sink);

	add_span(&cut, 0, 10, 20);
	build_finish(cut.build, T(BUILD_SECOND));
	build_append(&cut.build->file, "half a block", 12);
	sink = run_files(&cut.build, 1);
	assert_int_equal(sink.ledger.cut_captures, 0);
	assert_int_equal(sink.ledger.bad_bytes, 12);
	memory_free(&sink);
}

static void malformed_lines_are_passed_over(void **state)
{
	struct setup s = begin();
	struct kymo_record_more orphan = {.kind = KYMO_KIND_MORE, .used = 200};
	struct memory_sink sink;

	(void)state;
	add_span(&s, 0, 10, 20);
	build_lines(s.build, &orphan, 1);
	build_lines(s.build, &(struct kymo_record){.kind = 0}, 1);
	build_lines(s.build, &(struct kymo_record){.kind = KYMO_KIND_PAD}, 1);
	build_lines(s.build, &(struct kymo_record){.kind = KYMO_KIND_SPAN, .lines = 0},
		    1);
	build_lines(s.build, &(struct kymo_record){.kind = 40, .lines = 1}, 1);
	add_span(&s, 0, 30, 40);
	build_lines(s.build, &(struct kymo_record){.kind = KYMO_KIND_SPAN, .lines = 9},
		    1);
	sink = run(&s);
	assert_int_equal(sink.seen[KYMO_EVENT_SPAN], 2);
	assert_int_equal(sink.ledger.written, 3); /* the kind of a later minor too */
	memory_free(&sink);
}

/*
 * A device whose clock is known to a microsecond and begins a kernel so long after its
 * launch. What was launched in the recording is kept, whatever the device's time says.
 */
static void kernels_before_their_launch_are_counted_within_the_clocks_error(void **state)
{
	static const struct {
		int64_t after_ns;
		uint64_t kernels, backward, before_launch, outside;
	} rows[] = {
		{500, 1, 0, 0, 0},          {-500, 1, 1, 0, 0}, /* nobody can tell */
		{-1500, 1, 1, 1, 0},        {-5000000000, 1, 1, 1, 0},
		{-50000000000, 0, 0, 0, 1}, /* cannot have happened here */
		{50000000000, 0, 0, 0, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct setup s = begin();
		uint32_t clock = build_clock(s.build, KYMO_CLOCK_COUNTER, 64, 1000000000);
		uint32_t queue = build_queue(s.build, s.device, 9, clock);
		uint64_t begin = T(100000) + (uint64_t)rows[i].after_ns;
		struct memory_sink sink;

		for (uint64_t at = 0; at <= 200000; at += 100000)
			build_anchor(s.build, clock, T(at), T(at) - 1000, T(at) + 1000);
		add_correlated(&s, 0, 100000, KYMO_RECORD_ORIGIN, 7);
		build_record(s.build, KYMO_KIND_SPAN,
			     (struct kymo_record){.track = queue,
						  .flags = KYMO_RECORD_TARGET,
						  .type = s.kernel,
						  .domain = s.domain,
						  .begin = begin,
						  .end = begin + 10,
						  .correlation = 7});
		sink = run(&s);
		assert_int_equal(sink.ledger.written, 2 - rows[i].outside);
		assert_int_equal(sink.ledger.kernels, rows[i].kernels);
		assert_int_equal(sink.ledger.arrows_backward, rows[i].backward);
		assert_int_equal(sink.ledger.before_launch, rows[i].before_launch);
		assert_int_equal(sink.ledger.untimed, 0);
		assert_int_equal(sink.ledger.arrows_untimed, rows[i].outside);
		assert_int_equal(sink.ledger.out_of_window, rows[i].outside);
		assert_int_equal(sink.ledger.launches_without_result, 0);
		memory_free(&sink);
	}
}

/*
 * In host ticks, which are CLOCK_MONOTONIC here; known to build_capture's anchors' error.
 */
static void what_ended_in_the_warm_up_is_not_of_the_recording(void **state)
{
	static const struct {
		uint64_t begin_ns, end_ns, outside;
	} rows[] = {
		{T(1000), T(400000), 1},
		{T(1000), T(600000), 0}, /* it goes on */
		{T(600000), T(700000), 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct setup s = begin();
		struct memory_sink sink;

		s.build->header.begin_ticks = T(500000);
		build_record(s.build, KYMO_KIND_SPAN,
			     (struct kymo_record){.type = s.runtime,
						  .begin = rows[i].begin_ns,
						  .end = rows[i].end_ns});
		sink = run(&s);
		assert_int_equal(sink.ledger.out_of_window, rows[i].outside);
		assert_int_equal(sink.seen[KYMO_EVENT_SPAN], 1 - rows[i].outside);
		assert_int_equal(sink.ledger.accepted, 1);
		memory_free(&sink);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ended_in_the_warm_up_is_not_of_the_recording),
		cmocka_unit_test(times_that_cannot_be_are_counted_and_not_drawn),
		cmocka_unit_test(a_clock_without_anchors_gives_no_times),
		cmocka_unit_test(arrows_that_cannot_be_drawn_are_counted),
		cmocka_unit_test(the_books_are_balanced),
		cmocka_unit_test(a_begin_is_a_record_but_no_event),
		cmocka_unit_test(what_the_host_refused_had_been_handed_in),
		cmocka_unit_test(a_capture_that_ends_early_is_told),
		cmocka_unit_test(malformed_lines_are_passed_over),
		cmocka_unit_test(
			kernels_before_their_launch_are_counted_within_the_clocks_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
