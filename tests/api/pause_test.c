/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions that rest for a while, and such that keep the newest. */
#define _GNU_SOURCE /* mkdtemp */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <kymo/kymo.h>
#include <kymo/timeline.h>

#include "folder.h"
#include "memory_sink.h"
#include "support/test.h"

#define PAUSES 2000

static uint32_t name;

static void mark(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		uint64_t begin = kymo_mark_begin();

		kymo_mark_end(begin, kymo_mark_name(&name, "step"));
	}
}

static struct kymo_session *start(uint32_t overflow, uint64_t buffer_size)
{
	const struct kymo_session_options options = {
		.struct_size = sizeof(options),
		.overflow = overflow,
		.buffer_size = buffer_size,
	};
	struct kymo_session *session = NULL;
	struct kymo_error error = {0};

	assert_int_equal(kymo_session_create(&session, &options, NULL), KYMO_OK);
	if (kymo_session_start(session, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	return session;
}

/* Stops it if need be, reads it back and destroys it. */
static struct memory_sink finish(struct kymo_session *session)
{
	const char *path = in_folder("look.kymo");
	struct memory_sink sink = {0};
	struct kymo_error error = {0};

	kymo_session_stop(session, NULL);
	if (kymo_session_save(session, path, NULL, NULL, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	if (kymo_timeline_export_to(&path, 1, &memory_ops, &sink, NULL, &error) !=
	    KYMO_OK)
		fail_msg("%s", error.message);
	unlink(path);
	kymo_session_destroy(session);
	assert_int_equal(sink.ledger.accepted, sink.ledger.written + sink.ledger.full +
						       sink.ledger.cut +
						       sink.ledger.overwritten);
	return sink;
}

static size_t count_of(const struct memory_sink *sink, uint32_t kind)
{
	size_t count = 0;

	for (size_t i = 0; i < sink->count; i++)
		count += sink->events[i].kind == kind;
	return count;
}

static const struct memory_event *find(const struct memory_sink *sink, uint32_t kind)
{
	for (size_t i = 0; i < sink->count; i++)
		if (sink->events[i].kind == kind)
			return &sink->events[i];
	fail_msg("no event of kind %u", kind);
	return NULL;
}

static void nothing_is_recorded_while_it_is_paused_and_the_trace_says_so(void **state)
{
	struct kymo_session *session = start(0, 0);
	const struct memory_event *gap;
	struct memory_sink sink;

	(void)state;
	mark(3);
	assert_int_equal(kymo_session_pause(session, NULL), KYMO_OK);
	assert_true(kymo_mark_is_off());
	mark(5);
	usleep(2000);
	assert_int_equal(kymo_session_resume(session, NULL), KYMO_OK);
	assert_false(kymo_mark_is_off());
	mark(7);
	sink = finish(session);
	assert_int_equal(count_of(&sink, KYMO_EVENT_SPAN), 10);
	assert_int_equal(count_of(&sink, KYMO_EVENT_GAP), 1);
	gap = find(&sink, KYMO_EVENT_GAP);
	assert_string_equal(gap->name, "paused by the program");
	assert_true(gap->end_ns - gap->begin_ns >= 2000000);
	assert_int_equal(sink.ledger.full, 0);
	memory_free(&sink);
}

/* How often the words stand in the file, which is removed. */
static size_t count_words(const char *path, const char *words)
{
	static char text[1 << 18];
	FILE *file = fopen(path, "re");
	size_t count = 0;

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	unlink(path);
	for (const char *at = text; (at = strstr(at, words)); at++)
		count++;
	return count;
}

static void a_gap_is_no_event_whoever_counts(void **state)
{
	static const char *const names[] = {"a.json", "a.kymo"};
	struct kymo_session *session = start(0, 0);
	struct kymo_summary summary = {.struct_size = sizeof(summary)};
	struct kymo_sink_result result = {.struct_size = sizeof(result)};
	struct kymo_trace *trace = NULL;

	(void)state;
	mark(30);
	assert_int_equal(kymo_session_pause(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_resume(session, NULL), KYMO_OK);
	mark(30);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(kymo_session_save(session, in_folder(names[i]), NULL,
						   &summary, NULL),
				 KYMO_OK);
		assert_int_equal(summary.events, 60);
	}
	/* Of the trace in short, of the source, and of the sink. */
	assert_int_equal(count_words(in_folder("a.json"), "\"events\": 60,"), 3);
	unlink(in_folder("a.kymo"));
	assert_int_equal(kymo_session_trace(session, &trace, NULL), KYMO_OK);
	assert_int_equal(kymo_trace_end_of(trace)->sources[0]->events, 60);
	assert_int_equal(kymo_trace_save(trace, in_folder("b.json"), NULL, &result, NULL),
			 KYMO_OK);
	assert_int_equal(result.events, 60);
	unlink(in_folder("b.json"));
	assert_int_equal(kymo_trace_save(trace, "memory://b", NULL, &result, NULL),
			 KYMO_OK);
	assert_int_equal(result.events, 60);
	kymo_trace_destroy(trace);
	assert_int_equal(kymo_trace_take("b", &trace, NULL), KYMO_OK);
	kymo_trace_destroy(trace);
	kymo_session_destroy(session);
}

static void a_snapshot_at_rest_has_a_gap_up_to_then(void **state)
{
	struct kymo_session *session = start(0, 0);
	const char *path = in_folder("now.kymo");
	struct memory_sink sink = {0};
	const struct memory_event *gap;

	(void)state;
	mark(3);
	assert_int_equal(kymo_session_pause(session, NULL), KYMO_OK);
	usleep(20000);
	assert_int_equal(kymo_session_snapshot(session, path, 0, NULL, NULL, NULL),
			 KYMO_OK);
	assert_int_equal(
		kymo_timeline_export_to(&path, 1, &memory_ops, &sink, NULL, NULL),
		KYMO_OK);
	unlink(path);
	assert_int_equal(count_of(&sink, KYMO_EVENT_GAP), 1);
	gap = find(&sink, KYMO_EVENT_GAP);
	assert_true(gap->flags & KYMO_RECORD_UNFINISHED);
	assert_true(gap->end_ns - gap->begin_ns > 19000000);
	memory_free(&sink);
	/* It goes on, and then the gap is whole. */
	assert_int_equal(kymo_session_resume(session, NULL), KYMO_OK);
	sink = finish(session);
	assert_int_equal(count_of(&sink, KYMO_EVENT_GAP), 1);
	assert_false(find(&sink, KYMO_EVENT_GAP)->flags & KYMO_RECORD_UNFINISHED);
	memory_free(&sink);
}

static void a_session_can_be_stopped_while_it_is_paused(void **state)
{
	struct kymo_session *session = start(0, 0);
	struct memory_sink sink;

	(void)state;
	mark(3);
	assert_int_equal(kymo_session_pause(session, NULL), KYMO_OK);
	mark(5);
	sink = finish(session);
	assert_int_equal(count_of(&sink, KYMO_EVENT_SPAN), 3);
	assert_int_equal(count_of(&sink, KYMO_EVENT_GAP), 1);
	memory_free(&sink);
	/* And destroyed; the next one is not paused. */
	session = start(0, 0);
	assert_int_equal(kymo_session_pause(session, NULL), KYMO_OK);
	kymo_session_destroy(session);
	session = start(0, 0);
	mark(2);
	sink = finish(session);
	assert_int_equal(count_of(&sink, KYMO_EVENT_SPAN), 2);
	assert_int_equal(count_of(&sink, KYMO_EVENT_GAP), 0);
	memory_free(&sink);
}

static void calls_in_the_wrong_order_are_refused(void **state)
{
	struct kymo_session *session = NULL;
	struct kymo_error error;

	(void)state;
	assert_int_equal(kymo_session_pause(NULL, &error), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_pause(session, &error), KYMO_ERROR_STATE);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_resume(session, &error), KYMO_ERROR_STATE);
	assert_int_equal(kymo_session_pause(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_pause(session, &error), KYMO_ERROR_STATE);
	assert_non_null(strstr(error.message, "paused"));
	assert_int_equal(kymo_session_start(session, &error), KYMO_ERROR_STATE);
	assert_int_equal(kymo_session_resume(session, NULL), KYMO_OK);
	kymo_session_destroy(session);
}

static int must_end;

static void *mark_all_the_time(void *context)
{
	uint64_t *count = context;

	while (!__atomic_load_n(&must_end, __ATOMIC_RELAXED)) {
		uint64_t begin = kymo_mark_begin();

		if (begin == 0)
			continue;
		if (kymo_mark_end_values(begin, kymo_mark_name(&name, "step"), NULL, 0) ==
		    KYMO_OK)
			++*count;
	}
	return NULL;
}

static void pauses_under_load_lose_nothing(void **state)
{
	struct kymo_session *session = start(KYMO_OVERFLOW_OVERWRITE, 10u << 20);
	struct memory_sink sink;
	pthread_t threads[3];
	uint64_t counts[3] = {0};

	(void)state;
	must_end = 0;
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, mark_all_the_time, &counts[i]),
			0);
	for (int i = 0; i < 50; i++) {
		usleep(500);
		assert_int_equal(kymo_session_pause(session, NULL), KYMO_OK);
		usleep(500);
		assert_int_equal(kymo_session_resume(session, NULL), KYMO_OK);
	}
	__atomic_store_n(&must_end, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	sink = finish(session);
	/* Of each gap the begin and all of it. */
	assert_int_equal(sink.ledger.accepted,
			 counts[0] + counts[1] + counts[2] + 2 * 50);
	assert_int_equal(sink.ledger.cut, 0);
	memory_free(&sink);
}

static void *mark_once(void *context)
{
	(void)context;
	kymo_mark_instant(name);
	return NULL;
}

static void *begin_threads(void *context)
{
	pthread_t thread;

	(void)context;
	while (!__atomic_load_n(&must_end, __ATOMIC_RELAXED)) {
		assert_int_equal(pthread_create(&thread, NULL, mark_once, NULL), 0);
		pthread_join(thread, NULL);
	}
	return NULL;
}

static void threads_may_come_and_go_around_pauses(void **state)
{
	struct kymo_session *session = start(0, 0);
	struct memory_sink sink;
	pthread_t threads[2];

	(void)state;
	must_end = 0;
	kymo_mark_name(&name, "step");
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, begin_threads, NULL),
				 0);
	for (int i = 0; i < PAUSES; i++) {
		assert_int_equal(kymo_session_pause(session, NULL), KYMO_OK);
		assert_int_equal(kymo_session_resume(session, NULL), KYMO_OK);
	}
	__atomic_store_n(&must_end, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	sink = finish(session);
	assert_int_equal(count_of(&sink, KYMO_EVENT_GAP), PAUSES);
	assert_int_equal(sink.ledger.full, 0);
	memory_free(&sink);
}

static void the_newest_are_kept_where_the_oldest_are_overwritten(void **state)
{
	struct kymo_session *session = start(KYMO_OVERFLOW_OVERWRITE, 10u << 20);
	const uint64_t total = 200000;
	struct memory_sink sink;

	(void)state;
	mark(total);
	mark(1);
	sink = finish(session);
	assert_int_equal(sink.ledger.accepted, total + 1);
	assert_int_equal(sink.ledger.written, count_of(&sink, KYMO_EVENT_SPAN));
	assert_int_equal(sink.ledger.overwritten, total + 1 - sink.ledger.written);
	assert_true(sink.ledger.written > 10000);
	assert_int_equal(sink.ledger.full, 0);
	memory_free(&sink);
}

static void a_session_does_not_stream(void **state)
{
	struct kymo_session *session;
	struct kymo_error error;

	(void)state;
	assert_int_equal(kymo_session_create(
				 &session,
				 KYMO_SESSION_OPTIONS(.overflow = KYMO_OVERFLOW_STREAM),
				 &error),
			 KYMO_ERROR_UNSUPPORTED);
}

static void a_session_that_starts_paused_records_from_resume_on(void **state)
{
	const struct kymo_session_options options = {
		.struct_size = sizeof(options),
		.start_paused = 1,
	};
	struct kymo_session *session = NULL;
	struct memory_sink sink;

	(void)state;
	assert_int_equal(kymo_session_create(&session, &options, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	mark(3);
	assert_int_equal(kymo_session_pause(session, NULL), KYMO_ERROR_STATE);
	assert_int_equal(kymo_session_resume(session, NULL), KYMO_OK);
	mark(5);
	sink = finish(session);
	assert_int_equal(count_of(&sink, KYMO_EVENT_SPAN), 5);
	assert_int_equal(count_of(&sink, KYMO_EVENT_GAP), 1);
	memory_free(&sink);
}

/* ---- A source that looks at the gate while it goes on ---- */

static uint32_t went_on, was_off;

static int32_t create_source(const struct kymo_host *host, struct kymo_source_host *self,
			     const struct kymo_source_numbers *numbers, void **source,
			     struct kymo_error *error)
{
	(void)host, (void)self, (void)numbers, (void)source, (void)error;
	return KYMO_OK;
}

static int32_t start_source(void *source, struct kymo_error *error)
{
	(void)source, (void)error;
	return KYMO_OK;
}

static void pause_source(void *source, uint32_t paused)
{
	(void)source;
	if (paused)
		return;
	went_on++;
	was_off += (uint32_t)kymo_mark_is_off();
}

static int32_t stop_source(void *source, uint64_t deadline_ns)
{
	(void)source, (void)deadline_ns;
	return KYMO_OK;
}

static const struct kymo_source_ops ops = {
	.struct_size = sizeof(ops),
	.create = create_source,
	.start = start_source,
	.set_paused = pause_source,
	.stop = stop_source,
};
static const struct kymo_source_desc source = {
	.struct_size = sizeof(source), .name = "device", .ops = &ops};
static const struct kymo_source_desc *const sources[] = {&source, NULL};
static const struct kymo_plugin plugin = {
	.struct_size = sizeof(plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.name = "device",
	.version = "1",
	.license = "MIT",
	.sources = sources,
};

static void sources_record_before_a_program_finds_the_gate_open(void **state)
{
	struct kymo_session *session = start(0, 0);
	const struct kymo_host *host;

	(void)state;
	assert_int_equal(kymo_agent_attach_v1(&plugin, &host, NULL), KYMO_OK);
	assert_int_equal(kymo_session_pause(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_resume(session, NULL), KYMO_OK);
	assert_false(kymo_mark_is_off());
	assert_int_equal(went_on, 1);
	assert_int_equal(was_off, 1);
	kymo_session_destroy(session);
}

static struct kymo_session *start_range(const char *range)
{
	const struct kymo_session_options options = {
		.struct_size = sizeof(options),
		.capture_range = range,
	};
	struct kymo_session *session = NULL;
	struct kymo_error error = {0};

	if (kymo_session_create(&session, &options, &error) != KYMO_OK)
		return NULL;
	if (kymo_session_start(session, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	return session;
}

static void use_range(const char *text, uint64_t inside, uint64_t behind)
{
	uint32_t number = kymo_mark_intern(text, strlen(text));
	uint64_t begin = kymo_range_begin(number);

	mark(inside);
	kymo_range_end(begin, number);
	mark(behind);
}

static void a_session_records_the_ranges_that_were_chosen(void **state)
{
	struct kymo_session *session = start_range("mark:a,b,repeat:x,repeat:2");
	struct memory_sink sink;

	(void)state;
	assert_non_null(session);
	mark(3);
	use_range("another", 4, 4);
	use_range("a,b,repeat:x", 5, 4);
	use_range("a,b,repeat:x", 7, 4);
	use_range("a,b,repeat:x", 9, 4);
	assert_int_equal(kymo_session_pause(session, NULL), KYMO_ERROR_STATE);
	sink = finish(session);
	/* The ranges themselves are recorded as well. */
	assert_int_equal(count_of(&sink, KYMO_EVENT_SPAN), 1 + 5 + 1 + 7);
	/* Before each, and behind the last. */
	assert_int_equal(count_of(&sink, KYMO_EVENT_GAP), 3);
	memory_free(&sink);
}

static void a_range_within_the_range_does_not_end_it(void **state)
{
	struct kymo_session *session = start_range("mark:step");
	uint32_t number = kymo_mark_intern("step", 4);
	struct memory_sink sink;
	uint64_t begin;

	(void)state;
	begin = kymo_range_begin(number);
	use_range("step", 2, 3);
	kymo_range_end(begin, number);
	mark(9);
	sink = finish(session);
	assert_int_equal(count_of(&sink, KYMO_EVENT_SPAN), 1 + 1 + 2 + 3);
	memory_free(&sink);

	/* Nothing is left of it in the next one. */
	session = start(0, 0);
	use_range("step", 2, 3);
	sink = finish(session);
	assert_int_equal(count_of(&sink, KYMO_EVENT_SPAN), 1 + 2 + 3);
	assert_int_equal(count_of(&sink, KYMO_EVENT_GAP), 0);
	memory_free(&sink);
}

static void *use_ranges(void *unused)
{
	for (int i = 0; i < 500; i++)
		use_range("step", 1, 0);
	return unused;
}

static void ranges_of_many_threads_begin_one_after_the_other(void **state)
{
	struct kymo_session *session = start_range("mark:step,repeat:100");
	pthread_t threads[8];
	struct memory_sink sink;

	(void)state;
	for (int i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_ranges, NULL), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	sink = finish(session);
	assert_int_equal(count_of(&sink, KYMO_EVENT_GAP), 101);
	assert_true(count_of(&sink, KYMO_EVENT_SPAN) >= 200);
	memory_free(&sink);
}

static void a_range_that_makes_no_sense_is_refused(void **state)
{
	const struct kymo_session_options both = {
		.struct_size = sizeof(both),
		.capture_range = "mark:a",
		.start_paused = 1,
	};
	struct kymo_session *session = NULL;

	(void)state;
	assert_null(start_range("a"));
	assert_null(start_range("mark:"));
	assert_null(start_range("mark:a,repeat:0"));
	assert_null(start_range("mark:a,repeat:-1"));
	assert_null(start_range("mark:,repeat:1"));
	assert_int_equal(kymo_session_create(&session, &both, NULL), KYMO_ERROR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_that_starts_paused_records_from_resume_on),
		cmocka_unit_test(a_session_records_the_ranges_that_were_chosen),
		cmocka_unit_test(a_range_within_the_range_does_not_end_it),
		cmocka_unit_test(ranges_of_many_threads_begin_one_after_the_other),
		cmocka_unit_test(a_range_that_makes_no_sense_is_refused),
		cmocka_unit_test(
			nothing_is_recorded_while_it_is_paused_and_the_trace_says_so),
		cmocka_unit_test(a_gap_is_no_event_whoever_counts),
		cmocka_unit_test(a_snapshot_at_rest_has_a_gap_up_to_then),
		cmocka_unit_test(a_session_can_be_stopped_while_it_is_paused),
		cmocka_unit_test(calls_in_the_wrong_order_are_refused),
		cmocka_unit_test(pauses_under_load_lose_nothing),
		cmocka_unit_test(threads_may_come_and_go_around_pauses),
		cmocka_unit_test(the_newest_are_kept_where_the_oldest_are_overwritten),
		cmocka_unit_test(a_session_does_not_stream),
		/* The last: a process has its sources for ever. */
		cmocka_unit_test(sources_record_before_a_program_finds_the_gate_open),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
