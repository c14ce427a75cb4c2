/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests: a sink that keeps what it is given and checks what every sink may rely on -
 * order, nesting, announced tracks, arrows after both ends, fresh numbers. Include
 * "support/test.h" before.
 */
#ifndef KYMO_TIMELINE_MEMORY_SINK_H
#define KYMO_TIMELINE_MEMORY_SINK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/timeline.h"

struct memory_event {
	struct kymo_trace_event event; /* its pointers are not to be followed */
	struct kymo_trace_track track, from_track;
	uint32_t base; /* index of the track's lane 0 */
	char name[96], domain[48], type[48];
	char values[512]; /* "key=value key=value" */
};

struct memory_row {
	int64_t ends[600];
	size_t depth;
};

struct memory_sink {
	struct memory_event *events; /* kept if `keep` */
	size_t count, capacity;
	int keep, quiet; /* quiet: checks nothing, for input that means nothing */
	struct kymo_trace_header header;
	struct kymo_trace_ledger ledger;
	struct kymo_trace_end end;
	char sources[512], clocks[512], processes[512], metadata[512];
	int64_t rank; /* of the first process */
	uint64_t clock_uncertainty[8];
	struct memory_row *rows; /* per announced track */
	size_t row_count;
	int64_t last_begin, last_end;
	uint64_t last_arrow, seen[8];
	uint64_t source_events; /* of all sources */
	int begun, ended, aborted;
	size_t fail_at_batch, batches; /* 0: never */
};

static inline void memory_copy(char *out, size_t room, struct kymo_str text)
{
	size_t size = text.size < room - 1 ? text.size : room - 1;

	if (size > 0)
		memcpy(out, text.data, size);
	out[size] = '\0';
}

static inline void memory_value(char *out, size_t room,
				const struct kymo_trace_value *value)
{
	size_t used = strlen(out);
	char key[64], text[128] = "";
	uint32_t type = value->type & ~KYMO_VALUE_ARRAY;

	memory_copy(key, sizeof(key), value->key);
	for (uint32_t i = 0; i < (value->count ? value->count : 1) && i < 4; i++) {
		int is_array = (value->type & KYMO_VALUE_ARRAY) != 0;
		struct kymo_str string = {NULL, 0};
		char part[64] = "";

		if (is_array && value->count == 0)
			break;
		if (type == KYMO_VALUE_STRING || type == KYMO_VALUE_CODE) {
			string = is_array ? value->text_array[i] : value->text;
			memory_copy(part, sizeof(part), string);
		} else if (type == KYMO_VALUE_DOUBLE) {
			snprintf(part, sizeof(part), "%g",
				 is_array ? value->f64_array[i] : value->f64);
		} else {
			snprintf(
				part, sizeof(part), "%lld",
				(long long)(is_array ? value->i64_array[i] : value->i64));
		}
		if (i > 0)
			strncat(text, ",", sizeof(text) - strlen(text) - 1);
		strncat(text, part, sizeof(text) - strlen(text) - 1);
	}
	snprintf(out + used, room - used, "%s%s=%s", used ? " " : "", key, text);
}

static inline int32_t memory_begin(void *context, const struct kymo_trace_header *header,
				   struct kymo_error *error)
{
	struct memory_sink *sink = context;

	(void)error;
	assert_false(sink->begun);
	sink->begun = 1;
	sink->header = *header;
	sink->last_begin = INT64_MIN;
	for (uint32_t i = 0; i < header->process_count; i++) {
		size_t used = strlen(sink->processes);
		char name[64], line[64];

		assert_int_equal(header->processes[i]->index, i);
		if (i == 0)
			sink->rank = header->processes[i]->rank;
		memory_copy(name, sizeof(name), header->processes[i]->name);
		memory_copy(line, sizeof(line), header->processes[i]->command_line);
		snprintf(sink->processes + used, sizeof(sink->processes) - used,
			 "%s(%llu)[%s] ", name,
			 (unsigned long long)header->processes[i]->pid, line);
	}
	for (size_t i = 0; i < header->device_count; i++)
		assert_int_equal(header->devices[i]->index, i);
	for (size_t i = 0; i < header->type_count; i++)
		assert_int_equal(header->types[i]->index, i);
	for (size_t i = 0; i < header->metadata_count; i++)
		memory_value(sink->metadata, sizeof(sink->metadata),
			     &header->metadata[i]);
	return KYMO_OK;
}

static inline void memory_check_nesting(struct memory_sink *sink,
					const struct kymo_trace_event *event)
{
	struct memory_row *row = &sink->rows[event->track->index];

	while (row->depth > 0 && row->ends[row->depth - 1] <= event->begin_ns)
		row->depth--;
	if (row->depth > 0)
		assert_true(event->end_ns <= row->ends[row->depth - 1]);
	assert_true(row->depth < 512);
	row->ends[row->depth++] = event->end_ns;
}

static inline void memory_check(struct memory_sink *sink,
				const struct kymo_trace_event *event)
{
	if (event->kind == KYMO_EVENT_TRACK) {
		assert_int_equal(event->track->index, sink->row_count);
		sink->row_count++;
		sink->rows = realloc(sink->rows, sink->row_count * sizeof(*sink->rows));
		assert_non_null(sink->rows);
		sink->rows[sink->row_count - 1].depth = 0;
		return;
	}
	assert_true(event->track->index < sink->row_count);
	if (event->kind == KYMO_EVENT_ARROW) {
		assert_int_equal(event->arrow_id, ++sink->last_arrow);
		assert_true(event->from_track->index < sink->row_count);
		assert_true(event->from_ns <= event->begin_ns);
		assert_true(event->begin_ns <= sink->last_begin);
		return;
	}
	assert_non_null(event->type);
	assert_true(event->begin_ns >= sink->header.first_ns);
	assert_true(event->end_ns <= sink->header.last_ns);
	assert_true(event->begin_ns <= event->end_ns);
	assert_true(
		event->begin_ns > sink->last_begin ||
		(event->begin_ns == sink->last_begin && event->end_ns <= sink->last_end));
	sink->last_begin = event->begin_ns;
	sink->last_end = event->end_ns;
	if (event->kind == KYMO_EVENT_SPAN || event->kind == KYMO_EVENT_GAP)
		memory_check_nesting(sink, event);
}

static inline void memory_keep(struct memory_sink *sink,
			       const struct kymo_trace_event *event)
{
	struct memory_event *kept;

	if (sink->count == sink->capacity) {
		sink->capacity = sink->capacity * 2 + 64;
		sink->events =
			realloc(sink->events, sink->capacity * sizeof(*sink->events));
		assert_non_null(sink->events);
	}
	kept = &sink->events[sink->count++];
	memset(kept, 0, sizeof(*kept));
	kept->event = *event;
	kept->track = *event->track;
	kept->base = event->track->base->index;
	if (event->from_track)
		kept->from_track = *event->from_track;
	memory_copy(kept->name, sizeof(kept->name), event->name);
	memory_copy(kept->domain, sizeof(kept->domain), event->domain);
	if (event->type)
		memory_copy(kept->type, sizeof(kept->type), event->type->category);
	for (size_t i = 0; i < event->value_count; i++)
		memory_value(kept->values, sizeof(kept->values), &event->values[i]);
}

static inline int32_t memory_batch(void *context,
				   const struct kymo_trace_event *const *events,
				   size_t count, struct kymo_error *error)
{
	struct memory_sink *sink = context;

	assert_true(sink->begun && !sink->ended && !sink->aborted);
	if (++sink->batches == sink->fail_at_batch) {
		if (error)
			snprintf(error->message, sizeof(error->message), "sink is full");
		return KYMO_ERROR_IO;
	}
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(events[i]->struct_size, sizeof(*events[i]));
		memory_check(sink, events[i]);
		sink->seen[events[i]->kind]++;
		if (sink->keep)
			memory_keep(sink, events[i]);
	}
	return KYMO_OK;
}

static inline int32_t memory_end(void *context, const struct kymo_trace_end *end,
				 struct kymo_sink_result *result,
				 struct kymo_error *error)
{
	struct memory_sink *sink = context;

	(void)error;
	assert_true(sink->begun && !sink->ended && !sink->aborted);
	sink->ended = 1;
	sink->ledger = *end->ledger;
	sink->end = *end;
	for (uint32_t i = 0; i < end->source_count; i++) {
		const struct kymo_trace_source *source = end->sources[i];
		size_t used = strlen(sink->sources);
		char name[64], reason[64];

		memory_copy(name, sizeof(name), source->name);
		memory_copy(reason, sizeof(reason), source->reason);
		snprintf(sink->sources + used, sizeof(sink->sources) - used,
			 "%s:%u:%llu:%llu:%s ", name, source->state,
			 (unsigned long long)source->written,
			 (unsigned long long)source->lost, reason);
		sink->source_events += source->events;
	}
	for (size_t i = 0; i < end->clock_count && i < 8; i++) {
		size_t used = strlen(sink->clocks);
		char name[64];

		memory_copy(name, sizeof(name), end->clocks[i]->name);
		snprintf(sink->clocks + used, sizeof(sink->clocks) - used, "%s:%u:%llu ",
			 name, end->clocks[i]->kind,
			 (unsigned long long)end->clocks[i]->anchor_count);
		sink->clock_uncertainty[i] = end->clocks[i]->uncertainty_ns;
	}
	if (result)
		result->events = sink->seen[KYMO_EVENT_SPAN];
	return KYMO_OK;
}

static inline void memory_abort(void *context)
{
	struct memory_sink *sink = context;

	assert_false(sink->ended);
	sink->aborted = 1;
}

static const struct kymo_sink_ops memory_ops = {.struct_size = sizeof(memory_ops),
						.begin = memory_begin,
						.batch = memory_batch,
						.end = memory_end,
						.abort = memory_abort};

static inline void memory_free(struct memory_sink *sink)
{
	free(sink->events);
	free(sink->rows);
	memset(sink, 0, sizeof(*sink));
}

/* The n-th kept event of a kind, from 0; NULL if there are fewer. */
static inline const struct memory_event *memory_find(const struct memory_sink *sink,
						     uint32_t kind, size_t n)
{
	for (size_t i = 0; i < sink->count; i++) {
		if (sink->events[i].event.kind == kind && n-- == 0)
			return &sink->events[i];
	}
	return NULL;
}

#endif
