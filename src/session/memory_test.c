/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sink is told by a trace in memory what it would have been told by the timeline: a
 * teller writes down all of it, once from each.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kymo/timeline.h>

#include "capture/build_capture.h"
#include "sink/memory.h"
#include "support/test.h"

#define T(ns) (BUILD_ATTACH + (ns))

/* ---- A capture with some of everything ---- */

static void build_records(struct build *build, uint32_t queue, uint32_t group)
{
	struct kymo_record_more more = {.kind = KYMO_KIND_MORE,
					.used = 4,
					.key = {1, 2, 3, 4},
					.value = {9, 2, 1, T(3)}};
	struct kymo_record_bytes bytes = {
		.kind = KYMO_KIND_BYTES, .used = 16, .key = 5, .total = 16};
	struct kymo_record_values values = {.kind = KYMO_KIND_VALUES, .used = 1};
	struct kymo_record_counter counter = {.kind = KYMO_KIND_COUNTER,
					      .lines = 2,
					      .type = 1,
					      .count = 1,
					      .group = group,
					      .begin = T(50),
					      .end = T(50)};
	struct kymo_record span = {.kind = KYMO_KIND_SPAN,
				   .lines = 3,
				   .type = 1,
				   .domain = 1,
				   .name = 1,
				   .attributes = 1,
				   .key = {1, 2},
				   .value = {3, 2}};

	memcpy(bytes.byte, (const uint64_t[]){128, 4}, 16);
	/* Six launches, each of one thing, but for the last, of three. */
	for (uint64_t i = 0; i < 14; i++) {
		const int is_launched = i % 2 == 1 || i > 11;

		span.begin = T(100 + i * 10);
		span.end = T(100 + i * 10 + 15);
		span.correlation = i > 11 ? 6 : i / 2 + 1;
		span.flags = is_launched ? KYMO_RECORD_TARGET : KYMO_RECORD_ORIGIN;
		span.track = is_launched ? queue : 0;
		build_lines(build, &span, 1);
		build_lines(build, &more, 1);
		build_lines(build, &bytes, 1);
	}
	build_lines(build, &counter, 1);
	build_lines(build, &values, 1);
	build_record(build, KYMO_KIND_GAP,
		     (struct kymo_record){.type = 1, .begin = T(90), .end = T(95)});
}

static struct build *build_all(void)
{
	struct build *build = build_new();
	struct {
		struct ky_attribute attribute;
		uint64_t value[2];
	} set = {{5, 0, 2}, {6, 7}};
	/* A dictionary of a list with an empty one in it, and of a text. */
	struct {
		struct ky_attribute attribute;
		uint64_t words[9];
	} nested = {{6, 0, 9},
		    {KYMO_VALUE_DICT | 2ull << 32, 1, KYMO_VALUE_LIST | 2ull << 32,
		     KYMO_VALUE_LIST, KYMO_VALUE_INT64, 42, 2, KYMO_VALUE_STRING, 3}};
	struct {
		struct ky_group_entry group;
		struct ky_counter_entry counters[1];
	} group = {{.track = 1, .name = 1, .count = 1}, {{.name = 1, .value_type = 2}}};
	struct ky_state_entry fate = {.source = 1, .state = 3, .reason = 1};
	uint32_t source, device, clock, queue;

	build_session(build, "run\0", 4);
	source = build_source(build, "fake");
	build_type(build, source, "kernel", 5);
	build_domain(build, source, "command", KYMO_DOMAIN_SOURCE);
	build_key(build, "bytes", KYMO_VALUE_UINT64);
	build_key(build, "text", KYMO_VALUE_STRING);
	build_key(build, "value", KYMO_VALUE_DOUBLE);
	build_key(build, "time", KYMO_VALUE_TIME);
	build_key(build, "grid", KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY);
	build_key(build, "nested", KYMO_VALUE_NESTED);
	build_entry(build, KY_ENTRY_ATTRIBUTES, &set, sizeof(set));
	build_entry(build, KY_ENTRY_METADATA, &set, sizeof(set));
	build_entry(build, KY_ENTRY_METADATA, &nested, sizeof(nested));
	build_entry(build, KY_ENTRY_STATE, &fate, sizeof(fate));
	build_thread(build, 501, "main");
	device = build_device(build, source, 0);
	clock = build_clock(build, KYMO_CLOCK_COUNTER, 48, 1000000000);
	queue = build_queue(build, device, 9, clock);
	for (uint64_t i = 0; i < 6; i++)
		build_anchor(build, clock, T(i * 1000), T(i * 1000), T(i * 1000) + 20);
	build_lease(build, 1, T(0));
	build_records(build, queue,
		      build_entry(build, KY_ENTRY_GROUP, &group, sizeof(group)));
	build_finish(build, T(BUILD_SECOND));
	return build;
}

/* ---- The teller ---- */

static void tell_text(FILE *out, const char *what, struct kymo_str text)
{
	fprintf(out, " %s=\"%.*s\"", what, (int)text.size, text.size ? text.data : "");
}

static void tell_value(void *context, const struct kymo_trace_value *value)
{
	FILE *out = context;

	tell_text(out, "key", value->key);
	tell_text(out, "unit", value->unit);
	fprintf(out, " %#x[%u]", value->type, value->count);
	if (value->type == KYMO_VALUE_STRING)
		tell_text(out, "", value->text);
	else if (!(value->type & KYMO_VALUE_ARRAY))
		fprintf(out, "%" PRIu64, value->u64);
	for (uint32_t n = 0; n < value->count; n++)
		fprintf(out, " %" PRIu64, value->u64_array[n]);
}

static void tell_items(void *context, const struct kymo_trace_value *value)
{
	tell_text(context, "items of", value->key);
	fprintf(context, " %u[%u]", value->type, value->count);
}

static void tell_end_of_items(void *context, const struct kymo_trace_value *value)
{
	fprintf(context, " end of %u", value->type);
}

static void tell_values(FILE *out, const struct kymo_trace_value *values, size_t count)
{
	static const struct kymo_value_visitor visitor = {
		.value = tell_value, .begin = tell_items, .end = tell_end_of_items};

	for (size_t i = 0; i < count; i++)
		kymo_value_visit(&values[i], &visitor, out);
	fputc('\n', out);
}

static void tell_device(FILE *out, const struct kymo_trace_device *device)
{
	fprintf(out, "device %u %u %" PRIu64, device->index, device->process->index,
		device->native);
	tell_text(out, "name", device->name);
	tell_text(out, "source", device->source);
	tell_values(out, device->values, device->value_count);
}

static int32_t tell_begin(void *sink, const struct kymo_trace_header *header,
			  struct kymo_error *error)
{
	FILE *out = sink;

	(void)error;
	for (size_t i = 0; i < header->process_count; i++) {
		fprintf(out, "process %" PRIu64, header->processes[i]->pid);
		tell_text(out, "exe", header->processes[i]->exe);
		tell_text(out, "command", header->processes[i]->command_line);
	}
	for (size_t i = 0; i < header->device_count; i++)
		tell_device(out, header->devices[i]);
	for (size_t i = 0; i < header->type_count; i++)
		tell_text(out, "type", header->types[i]->name);
	tell_values(out, header->metadata, header->metadata_count);
	fprintf(out, "%" PRId64 " %" PRId64, header->first_ns, header->last_ns);
	tell_text(out, "run", header->command_line);
	return KYMO_OK;
}

static void tell_track(FILE *out, const struct kymo_trace_track *track)
{
	fprintf(out, " on %u.%u(%u) of %" PRIu64 " %s", track->index, track->lane,
		track->base->index, track->process->pid,
		track->device ? "device" : "host");
	tell_text(out, "track", track->name);
}

static int32_t tell_batch(void *sink, const struct kymo_trace_event *const *events,
			  size_t count, struct kymo_error *error)
{
	FILE *out = sink;

	(void)error;
	for (size_t i = 0; i < count; i++) {
		const struct kymo_trace_event *event = events[i];

		fprintf(out, "%u %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64,
			event->kind, event->begin_ns, event->end_ns, event->correlation,
			event->arrow_id);
		tell_track(out, event->track);
		if (event->from_track)
			tell_track(out, event->from_track);
		if (event->type)
			tell_text(out, "type", event->type->category);
		tell_text(out, "name", event->name);
		tell_text(out, "domain", event->domain);
		tell_values(out, event->values, event->value_count);
	}
	return KYMO_OK;
}

static int32_t tell_end(void *sink, const struct kymo_trace_end *end,
			struct kymo_sink_result *result, struct kymo_error *error)
{
	FILE *out = sink;

	(void)result, (void)error;
	fwrite(end->ledger, sizeof(*end->ledger), 1, out);
	for (size_t i = 0; i < end->source_count; i++) {
		tell_text(out, "source", end->sources[i]->name);
		tell_text(out, "reason", end->sources[i]->reason);
		fprintf(out, " %u", end->sources[i]->state);
	}
	for (size_t i = 0; i < end->clock_count; i++)
		fprintf(out, "clock %" PRIu64, end->clocks[i]->anchor_count);
	return KYMO_OK;
}

static void tell_abort(void *sink)
{
	(void)sink;
	fail_msg("aborted");
}

static const struct kymo_sink_ops teller = {
	.struct_size = sizeof(teller),
	.begin = tell_begin,
	.batch = tell_batch,
	.end = tell_end,
	.abort = tell_abort,
};

static void memory_tells_what_the_timeline_does(void **state)
{
	struct build *build = build_all();
	const char *capture = build_save(build);
	struct kymo_trace *trace;
	char *first = NULL, *second = NULL;
	size_t first_size, second_size;
	FILE *out = open_memstream(&first, &first_size);

	(void)state;
	assert_int_equal(kymo_timeline_export_to(&capture, 1, &teller, out, NULL, NULL),
			 KYMO_OK);
	fclose(out);
	assert_int_equal(kymo_timeline_export(&capture, 1, "memory://", NULL, NULL, NULL),
			 KYMO_OK);
	build_free(build);
	assert_int_equal(kymo_trace_take("", &trace, NULL), KYMO_OK);
	out = open_memstream(&second, &second_size);
	assert_int_equal(ky_memory_replay(trace, &teller, out, NULL, NULL), KYMO_OK);
	fclose(out);
	kymo_trace_destroy(trace);
	assert_int_equal(first_size, second_size);
	assert_memory_equal(first, second, first_size);
	/* It was some of everything. */
	assert_non_null(strstr(first, "device 0 0"));
	assert_non_null(strstr(first, "[2] 128 4"));
	assert_non_null(strstr(first, "items of=\"nested\" 10[2]"));
	assert_non_null(
		strstr(first, " 9[0] end of 9 key=\"\" unit=\"\" 0x1[0]42 end of 9"));
	assert_non_null(strstr(first, "\n5 "));
	free(first);
	free(second);
}

static void a_launch_and_what_it_launched_lead_to_each_other(void **state)
{
	struct build *build = build_all();
	const char *capture = build_save(build);
	const struct kymo_trace_event *event;
	size_t launches = 0, launched = 0, others = 0;
	struct kymo_trace *trace;

	(void)state;
	assert_int_equal(kymo_trace_load(&capture, 1, &trace, NULL), KYMO_OK);
	build_free(build);
	for (size_t i = 0; (event = kymo_trace_event_at(trace, i)); i++) {
		const struct kymo_trace_event *other = kymo_trace_linked(trace, event);

		if (event->kind != KYMO_EVENT_SPAN) {
			assert_null(other);
			others++;
		} else if (event->flags & KYMO_RECORD_ORIGIN) {
			/* Of three the first; its clock is known to 20 ns. */
			assert_int_equal(other->begin_ns, event->begin_ns + 20);
			assert_ptr_equal(kymo_trace_linked(trace, other), event);
			launches++;
		} else {
			assert_int_equal(other->native_correlation,
					 event->native_correlation);
			assert_true(other->flags & KYMO_RECORD_ORIGIN);
			launched++;
		}
	}
	assert_int_equal(launches, 6);
	assert_int_equal(launched, 8);
	assert_true(others > 0);
	kymo_trace_destroy(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_launch_and_what_it_launched_lead_to_each_other),
		cmocka_unit_test(memory_tells_what_the_timeline_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
