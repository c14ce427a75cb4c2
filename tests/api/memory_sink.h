/* SPDX-License-Identifier: BSD-3-Clause */
/* A sink that keeps what it is told, to look at a trace from inside a test. */
#ifndef TEST_API_MEMORY_SINK_H
#define TEST_API_MEMORY_SINK_H

#include <stdlib.h>
#include <string.h>

#include <kymo/timeline.h>

struct memory_value {
	char key[64];
	uint32_t type, count;
	uint64_t u;
	char text[64];
	uint64_t array[256]; /* the first elements */
};

struct memory_event {
	uint32_t kind, flags, track, is_host;
	uint64_t tid;
	char name[128], type[64], source[64];
	size_t name_size;
	int64_t begin_ns, end_ns, from_ns;
	uint64_t correlation, launch, native; /* numbers of the trace, and the source's */
	char domain[64];
	size_t value_count;
	struct memory_value *values;
};

struct memory_sink {
	struct memory_event *events; /* without TRACK */
	size_t count;
	uint32_t process_count;
	uint64_t pid;
	struct kymo_trace_ledger ledger;
	char sources[256];  /* "name=state " each */
	char reasons[1024]; /* of these states, as far as there are any */
};

static inline void memory_text(char *out, size_t size, struct kymo_str text)
{
	size_t length = text.size < size - 1 ? text.size : size - 1;

	if (length > 0)
		memcpy(out, text.data, length);
	out[length] = '\0';
}

static inline int32_t memory_begin(void *context, const struct kymo_trace_header *header,
				   struct kymo_error *error)
{
	struct memory_sink *sink = context;

	(void)error;
	sink->process_count = header->process_count;
	if (header->process_count > 0)
		sink->pid = header->processes[0]->pid;
	return KYMO_OK;
}

static inline void memory_copy_value(struct memory_value *to,
				     const struct kymo_trace_value *from)
{
	memory_text(to->key, sizeof(to->key), from->key);
	to->type = from->type;
	to->count = from->count;
	if (from->type & KYMO_VALUE_ARRAY) {
		if (from->type != (KYMO_VALUE_STRING | KYMO_VALUE_ARRAY))
			for (uint32_t i = 0; i < from->count && i < 256; i++)
				to->array[i] = from->u64_array[i];
	} else if (from->type == KYMO_VALUE_STRING || from->type == KYMO_VALUE_CODE) {
		memory_text(to->text, sizeof(to->text), from->text);
	} else {
		to->u = from->u64;
	}
}

static inline void memory_copy_event(struct memory_event *to,
				     const struct kymo_trace_event *from)
{
	to->kind = from->kind;
	to->flags = from->flags;
	if (from->track) {
		to->track = from->track->index;
		to->is_host = !from->track->device;
		to->tid = from->track->native;
	}
	memory_text(to->name, sizeof(to->name), from->name);
	to->name_size = from->name.size;
	if (from->type) {
		memory_text(to->type, sizeof(to->type), from->type->name);
		memory_text(to->source, sizeof(to->source), from->type->source);
	}
	to->begin_ns = from->begin_ns;
	to->end_ns = from->end_ns;
	to->from_ns = from->from_ns;
	to->correlation = from->correlation;
	to->launch = from->launch_correlation;
	to->native = from->native_correlation;
	memory_text(to->domain, sizeof(to->domain), from->domain);
	to->value_count = from->value_count;
	to->values = calloc(from->value_count ? from->value_count : 1,
			    sizeof(struct memory_value));
	for (size_t i = 0; to->values && i < from->value_count; i++)
		memory_copy_value(&to->values[i], &from->values[i]);
}

static inline int32_t memory_batch(void *context,
				   const struct kymo_trace_event *const *events,
				   size_t count, struct kymo_error *error)
{
	struct memory_sink *sink = context;
	size_t size = (sink->count + count + 1) * sizeof(struct memory_event);

	(void)error;
	sink->events = realloc(sink->events, size);
	for (size_t i = 0; i < count; i++) {
		if (events[i]->kind == KYMO_EVENT_TRACK)
			continue;
		memset(&sink->events[sink->count], 0, sizeof(struct memory_event));
		memory_copy_event(&sink->events[sink->count++], events[i]);
	}
	return KYMO_OK;
}

static inline int32_t memory_end(void *context, const struct kymo_trace_end *end,
				 struct kymo_sink_result *result,
				 struct kymo_error *error)
{
	struct memory_sink *sink = context;

	(void)error;
	sink->ledger = *end->ledger;
	result->events = sink->count;
	for (uint32_t i = 0; i < end->source_count; i++) {
		size_t size = strlen(sink->sources);
		char name[64];

		memory_text(name, sizeof(name), end->sources[i]->name);
		snprintf(sink->sources + size, sizeof(sink->sources) - size, "%s=%u ",
			 name, end->sources[i]->state);
		size = strlen(sink->reasons);
		memory_text(sink->reasons + size, sizeof(sink->reasons) - size,
			    end->sources[i]->reason);
	}
	return KYMO_OK;
}

static inline void memory_abort(void *context)
{
	(void)context;
}

static const struct kymo_sink_ops memory_ops = {
	.struct_size = sizeof(memory_ops),
	.begin = memory_begin,
	.batch = memory_batch,
	.end = memory_end,
	.abort = memory_abort,
};

static inline void memory_free(struct memory_sink *sink)
{
	for (size_t i = 0; i < sink->count; i++)
		free(sink->events[i].values);
	free(sink->events);
	memset(sink, 0, sizeof(*sink));
}

#endif
