/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace in memory: what a sink gets, kept, walked through, and saved later. */
#define _GNU_SOURCE /* mkdtemp */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <kymo/kymo.h>
#include <kymo/timeline.h>

#include "folder.h"
#include "memory_sink.h"
#include "support/test.h"

static char capture[PATH_MAX];

/* Spans with values of several kinds. */
static int make_capture(void **state)
{
	static const uint64_t shape[] = {2, 3, 4};
	struct kymo_session *session = NULL;
	struct kymo_error error = {0};
	uint16_t shape_key, name_key, ratio_key;

	if (make_folder(state) != 0)
		return -1;
	snprintf(capture, sizeof(capture), "%s", in_folder("trace.kymo"));
	if (kymo_session_create(&session, NULL, &error) != KYMO_OK ||
	    kymo_session_start(session, &error) != KYMO_OK) {
		print_error("%s\n", error.message);
		return -1;
	}
	shape_key = kymo_mark_key("shape", KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY, "");
	name_key = kymo_mark_key("file", KYMO_VALUE_STRING, "");
	ratio_key = kymo_mark_key("ratio", KYMO_VALUE_DOUBLE, "%");
	for (int i = 0; i < 100; i++) {
		const struct kymo_value values[] = {
			{.key = shape_key,
			 .type = KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY,
			 .count = 3,
			 .array = shape},
			{.key = name_key,
			 .type = KYMO_VALUE_STRING,
			 .u64 = kymo_mark_intern("a\"b", 3)},
			{.key = ratio_key, .type = KYMO_VALUE_DOUBLE, .f64 = i / 3.0},
		};
		uint64_t outer = kymo_mark_begin(), inner = kymo_mark_begin();

		kymo_mark_end_values(inner, kymo_mark_intern("inner", 5), values, 3);
		kymo_mark_end(outer, kymo_mark_intern("outer", 5));
	}
	if (kymo_session_stop(session, &error) != KYMO_OK ||
	    kymo_session_save(session, capture, NULL, NULL, &error) != KYMO_OK) {
		print_error("%s\n", error.message);
		return -1;
	}
	kymo_session_destroy(session);
	return 0;
}

static int remove_capture(void **state)
{
	unlink(capture);
	return remove_folder(state);
}

static struct kymo_trace *load(void)
{
	const char *path = capture;
	struct kymo_trace *trace = NULL;
	struct kymo_error error = {0};

	if (kymo_trace_load(&path, 1, &trace, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	return trace;
}

static void it_has_every_event_in_the_order_of_a_sink(void **state)
{
	const char *path = capture;
	struct kymo_trace *trace = load();
	struct memory_sink sink = {0};
	const size_t count = kymo_trace_event_count(trace);
	size_t at = 0;

	(void)state;
	assert_int_equal(
		kymo_timeline_export_to(&path, 1, &memory_ops, &sink, NULL, NULL),
		KYMO_OK);
	assert_true(count > 200);
	for (size_t i = 0; i < count; i++) {
		const struct kymo_trace_event *event = kymo_trace_event_at(trace, i);
		const struct memory_event *other = &sink.events[at];

		assert_ptr_equal(event->track,
				 kymo_trace_track_at(trace, event->track->index));
		if (event->kind == KYMO_EVENT_TRACK)
			continue;
		assert_true(at++ < sink.count);
		assert_int_equal(event->kind, other->kind);
		assert_int_equal(event->begin_ns, other->begin_ns);
		assert_int_equal(event->end_ns, other->end_ns);
		assert_int_equal(event->value_count, other->value_count);
		assert_int_equal(event->track->index, other->track);
		assert_int_equal(event->name.size, other->name_size);
		assert_memory_equal(event->name.data, other->name, event->name.size);
	}
	assert_int_equal(at, sink.count);
	assert_null(kymo_trace_event_at(trace, count));
	assert_null(kymo_trace_track_at(trace, kymo_trace_track_count(trace)));
	assert_memory_equal(kymo_trace_end_of(trace)->ledger, &sink.ledger,
			    sizeof(sink.ledger));
	assert_int_equal(kymo_trace_header_of(trace)->process_count, 1);
	memory_free(&sink);
	kymo_trace_destroy(trace);
}

static size_t read_file(const char *path, char **out)
{
	FILE *file = fopen(path, "re");
	size_t size = 0;

	assert_non_null(file);
	*out = malloc(64u << 20);
	assert_non_null(*out);
	size = fread(*out, 1, 64u << 20, file);
	fclose(file);
	unlink(path);
	return size;
}

static void saved_later_it_is_the_same_file(void **state)
{
	const char *path = capture;
	struct kymo_sink_result result = {.struct_size = sizeof(result)};
	struct kymo_trace *trace = load();
	char *direct, *later, target[PATH_MAX];
	size_t direct_size, later_size;

	(void)state;
	snprintf(target, sizeof(target), "%s", in_folder("trace.json"));
	assert_int_equal(kymo_timeline_export(&path, 1, target, NULL, NULL, NULL),
			 KYMO_OK);
	direct_size = read_file(target, &direct);
	assert_int_equal(kymo_trace_save(trace, target, NULL, &result, NULL), KYMO_OK);
	/* An existing file is kept, as by any export. */
	assert_int_equal(kymo_trace_save(trace, target, NULL, NULL, NULL),
			 KYMO_ERROR_EXISTS);
	assert_int_equal(kymo_trace_save(trace, "x.kymo", NULL, NULL, NULL),
			 KYMO_ERROR_UNSUPPORTED);
	later_size = read_file(target, &later);
	assert_int_equal(result.bytes, later_size);
	assert_int_equal(direct_size, later_size);
	assert_memory_equal(direct, later, direct_size);
	free(direct);
	free(later);
	kymo_trace_destroy(trace);
}

/* What it was made of is gone: under a sanitizer a text that is borrowed is found out. */
static void all_texts_of_its_types_are_its_own(void **state)
{
	struct kymo_session *session = NULL;
	const struct kymo_trace_header *header;
	struct kymo_trace *trace = NULL;
	uint32_t number, found = 0;
	uint16_t type;

	(void)state;
	assert_int_equal(
		kymo_activity_type_register("trainer", "phase", NULL, &number, NULL),
		KYMO_OK);
	assert_int_equal(kymo_mark_type(number, &type, NULL), KYMO_OK);
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	kymo_mark_instant_typed(type, kymo_mark_intern("one", 3), NULL, 0);
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_trace(session, &trace, NULL), KYMO_OK);
	kymo_session_destroy(session);
	header = kymo_trace_header_of(trace);
	for (size_t i = 0; i < header->type_count; i++) {
		const struct kymo_trace_type *kept = header->types[i];

		if (kept->activity_type != number)
			continue;
		found++;
		assert_int_equal(kept->plugin.size, 7);
		assert_memory_equal(kept->plugin.data, "trainer", 7);
		assert_int_equal(kept->full_name.size, 13);
		assert_memory_equal(kept->full_name.data, "trainer.phase", 13);
	}
	assert_int_equal(found, 1);
	kymo_trace_destroy(trace);
}

static void a_session_gives_its_trace_and_stays_as_it_is(void **state)
{
	struct kymo_session *session = NULL;
	struct kymo_trace *trace = (struct kymo_trace *)1;
	uint64_t begin;

	(void)state;
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_trace(session, &trace, NULL), KYMO_ERROR_STATE);
	assert_null(trace);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	begin = kymo_mark_begin();
	kymo_mark_end(begin, kymo_mark_intern("once", 4));
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(kymo_session_trace(session, &trace, NULL), KYMO_OK);
		/* Its track, and it. */
		assert_int_equal(kymo_trace_event_count(trace), 2);
		assert_memory_equal(kymo_trace_event_at(trace, 1)->name.data, "once", 4);
		kymo_trace_destroy(trace);
	}
	kymo_session_destroy(session);
	kymo_trace_destroy(NULL);
}

/* What a trace says, without its times: all but the times of a run is the same. */
static void tell(const struct kymo_trace *trace, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < kymo_trace_event_count(trace); i++) {
		const struct kymo_trace_event *event = kymo_trace_event_at(trace, i);

		used += (size_t)snprintf(
			out + used, size - used, "%u %u %.*s %zu", event->kind,
			event->track->index, (int)event->name.size,
			event->name.size ? event->name.data : "", event->value_count);
		for (size_t j = 0; j < event->value_count; j++)
			used += (size_t)snprintf(out + used, size - used, " %.*s=%d",
						 (int)event->values[j].key.size,
						 event->values[j].key.data,
						 (int)event->values[j].i64);
		used += (size_t)snprintf(out + used, size - used, "\n");
		assert_true(used < size);
	}
}

static void work(void)
{
	static uint32_t outer_name, inner_name;
	const uint16_t key = kymo_mark_key("number", KYMO_VALUE_INT64, "");

	for (int64_t i = 0; i < 50; i++) {
		const struct kymo_value value = {
			.key = key, .type = KYMO_VALUE_INT64, .i64 = i};
		uint64_t outer = kymo_mark_begin(), inner;

		/* So that each begins at a time of its own. */
		usleep(2);
		inner = kymo_mark_begin();
		kymo_mark_end_values(inner, kymo_mark_name(&inner_name, "inner"), &value,
				     1);
		kymo_mark_end(outer, kymo_mark_name(&outer_name, "outer"));
	}
}

static void a_request_gives_the_same_events_as_a_session(void **state)
{
	static char by_session[20000], by_request[20000];
	const struct kymo_request_options options = {
		.struct_size = sizeof(options),
		.iterations = 1,
		.duration_ms = 1,
		.path = "memory://on demand",
	};
	struct kymo_request_status status = {.struct_size = sizeof(status)};
	struct kymo_session *session = NULL;
	struct kymo_trace *trace;
	uint64_t id;

	(void)state;
	assert_int_equal(kymo_session_create(&session, NULL, NULL), KYMO_OK);
	assert_int_equal(kymo_session_start(session, NULL), KYMO_OK);
	work();
	assert_int_equal(kymo_session_stop(session, NULL), KYMO_OK);
	assert_int_equal(kymo_session_trace(session, &trace, NULL), KYMO_OK);
	tell(trace, by_session, sizeof(by_session));
	kymo_trace_destroy(trace);
	kymo_session_destroy(session);

	kymo_session_step();
	assert_int_equal(kymo_request_submit(&options, &id, NULL), KYMO_OK);
	for (int i = 0; i < 3; i++) {
		kymo_session_step();
		if (!kymo_mark_is_off())
			work();
	}
	assert_int_equal(kymo_request_wait(id, 20000, &status), KYMO_OK);
	assert_int_equal(status.state, KYMO_REQUEST_DONE);
	assert_int_equal(status.percent, 100);
	assert_int_equal(kymo_trace_take("on demand", &trace, NULL), KYMO_OK);
	tell(trace, by_request, sizeof(by_request));
	kymo_trace_destroy(trace);
	assert_string_equal(by_session, by_request);
	assert_non_null(strstr(by_session, "outer 0\n"));
	assert_non_null(strstr(by_session, "inner 1 number=49\n"));
}

static void wrong_arguments_are_refused(void **state)
{
	struct kymo_trace *trace = NULL;
	struct kymo_error error = {0};

	(void)state;
	assert_int_equal(kymo_session_trace(NULL, &trace, &error), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_session_trace(NULL, NULL, &error), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_trace_load(NULL, 0, &trace, &error), KYMO_ERROR_INVALID);
	assert_int_equal(kymo_trace_load(NULL, 0, NULL, &error), KYMO_ERROR_INVALID);
	assert_null(kymo_trace_header_of(NULL));
	assert_null(kymo_trace_end_of(NULL));
	assert_null(kymo_trace_track_at(NULL, 0));
	assert_null(kymo_trace_linked(NULL, NULL));
	assert_int_equal(kymo_trace_event_count(NULL), 0);
	assert_int_equal(kymo_trace_track_count(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_every_event_in_the_order_of_a_sink),
		cmocka_unit_test(saved_later_it_is_the_same_file),
		cmocka_unit_test(all_texts_of_its_types_are_its_own),
		cmocka_unit_test(a_session_gives_its_trace_and_stays_as_it_is),
		cmocka_unit_test(a_request_gives_the_same_events_as_a_session),
		cmocka_unit_test(wrong_arguments_are_refused),
	};

	return cmocka_run_group_tests(tests, make_capture, remove_capture);
}
