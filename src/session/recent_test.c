/* SPDX-License-Identifier: BSD-3-Clause */
/* What ended before the window is counted instead of written. */
#include "support/test.h"

#include "session/recent.h"
#include "timeline/trace_setup.h"

/* Two launches of a kernel each, an instant and a pause before them. */
static struct setup make_capture(void)
{
	struct setup s = begin();

	build_record(s.build, KYMO_KIND_INSTANT,
		     (struct kymo_record){.type = s.runtime, .begin = T(20)});
	build_record(
		s.build, KYMO_KIND_GAP,
		(struct kymo_record){.type = s.runtime, .begin = T(30), .end = T(40)});
	add_correlated(&s, 0, 100, KYMO_RECORD_ORIGIN, 1);
	add_correlated(&s, s.queue, 150, KYMO_RECORD_TARGET, 1);
	add_correlated(&s, 0, 200, KYMO_RECORD_ORIGIN, 2);
	add_correlated(&s, s.queue, 250, KYMO_RECORD_TARGET, 2);
	build_finish(s.build, T(BUILD_SECOND));
	return s;
}

static struct memory_sink run_since(struct setup *s, int64_t since_ns)
{
	struct memory_sink sink = {.keep = 1};
	struct ky_recent window = {
		.ops = &memory_ops, .sink = &sink, .since_ns = since_ns};
	struct ky_reader *reader = NULL;
	struct kymo_error error = {0};

	if (ky_reader_open(&reader, build_save(s->build), &error) != KYMO_OK ||
	    ky_timeline_run(&reader, 1, &ky_recent_ops, &window, NULL, NULL, &error) !=
		    KYMO_OK)
		fail_msg("%s", error.message);
	assert_true(sink.ended);
	ky_recent_fini(&window);
	ky_reader_close(reader);
	build_free(s->build);
	return sink;
}

static void what_ended_before_it_is_counted_and_what_reaches_into_it_is_kept(void **state)
{
	struct setup s = make_capture();
	struct memory_sink sink = run_since(&s, (int64_t)T(155));
	const struct kymo_trace_ledger *ledger = &sink.ledger;
	char spans[256];

	(void)state;
	describe(&sink, spans, sizeof(spans));
	assert_string_equal(spans, "139637976732212.0 150-160, 501.0 200-210, "
				   "139637976732212.0 250-260");
	assert_int_equal(sink.seen[KYMO_EVENT_INSTANT], 0);
	assert_int_equal(sink.seen[KYMO_EVENT_GAP], 0);
	/* That of the first launch would have no begin. */
	assert_int_equal(sink.seen[KYMO_EVENT_ARROW], 1);
	assert_int_equal(ledger->arrows, 1);
	assert_int_equal(ledger->arrows_no_launch, 1);
	assert_int_equal(ledger->spans, 3);
	assert_int_equal(ledger->kernels, 2);
	assert_int_equal(ledger->instants, 0);
	assert_int_equal(ledger->written, 3);
	assert_int_equal(ledger->out_of_window, 3);
	assert_int_equal(ledger->written + ledger->out_of_window, ledger->accepted);
	assert_non_null(strstr(sink.sources, "fake:3:3:0"));
	assert_int_equal(sink.source_events, 3);
	memory_free(&sink);
}

static void a_window_behind_all_of_it_is_empty(void **state)
{
	struct setup s = make_capture();
	struct memory_sink sink = run_since(&s, (int64_t)T(1000));

	(void)state;
	assert_int_equal(sink.ledger.spans + sink.ledger.instants + sink.ledger.arrows,
			 0);
	assert_int_equal(sink.ledger.written, 0);
	assert_int_equal(sink.ledger.out_of_window, 6);
	memory_free(&sink);
}

/* Of an annotation, one of the two rows: that is no record, neither inside nor out. */
static void what_is_projected_is_left_out_as_what_it_is(void **state)
{
	for (uint64_t is_inside = 0; is_inside < 2; is_inside++) {
		struct setup s = begin();
		const struct kymo_record annotation = {
			.type = build_type(s.build, s.source, "user_annotation", 1),
			.begin = T(90),
			.end = T(130),
		};
		struct memory_sink sink;

		build_record(s.build, KYMO_KIND_SPAN, annotation);
		add_correlated(&s, 0, 100, KYMO_RECORD_ORIGIN, 1);
		add_correlated(&s, s.queue, 150, KYMO_RECORD_TARGET, 1);
		build_finish(s.build, T(BUILD_SECOND));
		sink = run_since(&s, (int64_t)(is_inside ? T(145) : T(1000)));
		assert_int_equal(sink.ledger.projected, is_inside);
		assert_int_equal(sink.ledger.spans, is_inside);
		assert_int_equal(sink.source_events, is_inside);
		assert_int_equal(sink.ledger.written, is_inside);
		assert_int_equal(sink.ledger.out_of_window, 3 - is_inside);
		memory_free(&sink);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			what_ended_before_it_is_counted_and_what_reaches_into_it_is_kept),
		cmocka_unit_test(a_window_behind_all_of_it_is_empty),
		cmocka_unit_test(what_is_projected_is_left_out_as_what_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
