/* SPDX-License-Identifier: BSD-3-Clause */
#include "sink/keep.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define BLOCK_SIZE ((size_t)256 << 10)
#define ALIGNMENT  16

struct ky_keep_block {
	struct ky_keep_block *next;
	size_t used, room;
	_Alignas(ALIGNMENT) char data[];
};

/* Zeroed memory of the trace, or NULL. */
static void *allocate(struct kymo_trace *trace, size_t count, size_t size)
{
	struct ky_keep_block *block = trace->blocks;
	void *out;

	if (count == 0)
		return NULL;
	size = (count * size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (!block || block->room - block->used < size) {
		const size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;

		block = malloc(sizeof(*block) + room);
		if (!block) {
			trace->has_failed = 1;
			return NULL;
		}
		*block = (struct ky_keep_block){.next = trace->blocks, .room = room};
		trace->blocks = block;
	}
	out = block->data + block->used;
	block->used += size;
	return memset(out, 0, size);
}

static void *copy(struct kymo_trace *trace, const void *data, size_t count, size_t size)
{
	void *out = data ? allocate(trace, count, size) : NULL;

	return out ? memcpy(out, data, count * size) : NULL;
}

/* The array of pointers with twice the room, what is new being NULL; NULL: it stays. */
static void *grow(struct kymo_trace *trace, void *array, size_t *room, size_t least)
{
	const size_t wanted = *room * 2 > least ? *room * 2 : least + 64;
	void **grown = realloc(array, wanted * sizeof(void *));

	if (!grown) {
		trace->has_failed = 1;
		return NULL;
	}
	memset(grown + *room, 0, (wanted - *room) * sizeof(void *));
	*room = wanted;
	return grown;
}

/* ---- Texts ---- */

static struct kymo_str *find_slot(struct kymo_str *texts, size_t room,
				  struct kymo_str text)
{
	size_t at = (size_t)ky_hash(text.data, text.size, 0) & (room - 1);

	while (texts[at].data && (texts[at].size != text.size ||
				  memcmp(texts[at].data, text.data, text.size) != 0))
		at = (at + 1) & (room - 1);
	return &texts[at];
}

static int grow_texts(struct kymo_trace *trace)
{
	const size_t room = trace->text_room ? trace->text_room * 2 : 1024;
	struct kymo_str *texts = calloc(room, sizeof(*texts));

	if (!texts) {
		trace->has_failed = 1;
		return 0;
	}
	for (size_t i = 0; i < trace->text_room; i++)
		if (trace->texts[i].data)
			*find_slot(texts, room, trace->texts[i]) = trace->texts[i];
	free(trace->texts);
	trace->texts = texts;
	trace->text_room = room;
	return 1;
}

static struct kymo_str keep_text(struct kymo_trace *trace, struct kymo_str text)
{
	static const struct kymo_str none = {"", 0};
	struct kymo_str *slot;

	if (text.size == 0)
		return none;
	if (trace->text_count * 2 >= trace->text_room && !grow_texts(trace))
		return none;
	slot = find_slot(trace->texts, trace->text_room, text);
	if (slot->data)
		return *slot;
	slot->data = copy(trace, text.data, text.size, 1);
	if (!slot->data)
		return none;
	slot->size = text.size;
	trace->text_count++;
	return *slot;
}

/* ---- Values ---- */

static const struct kymo_str *keep_text_array(struct kymo_trace *trace,
					      const struct kymo_str *texts, size_t count)
{
	struct kymo_str *out = allocate(trace, count, sizeof(*out));

	for (size_t i = 0; out && i < count; i++)
		out[i] = keep_text(trace, texts[i]);
	return out;
}

static int is_text(uint32_t type)
{
	type &= ~KYMO_VALUE_ARRAY;
	return type == KYMO_VALUE_STRING || type == KYMO_VALUE_CODE;
}

static const struct kymo_trace_value *keep_values(struct kymo_trace *trace,
						  const struct kymo_trace_value *values,
						  size_t *count);

static void keep_value(struct kymo_trace *trace, struct kymo_trace_value *value)
{
	size_t count = value->count;

	value->key = keep_text(trace, value->key);
	value->unit = keep_text(trace, value->unit);
	if (value->type == KYMO_VALUE_LIST || value->type == KYMO_VALUE_DICT) {
		value->items = keep_values(trace, value->items, &count);
		value->count = (uint32_t)count;
		return;
	}
	if (!(value->type & KYMO_VALUE_ARRAY)) {
		if (is_text(value->type))
			value->text = keep_text(trace, value->text);
		return;
	}
	if (is_text(value->type))
		value->text_array =
			keep_text_array(trace, value->text_array, value->count);
	else
		value->u64_array = copy(trace, value->u64_array, value->count,
					sizeof(*value->u64_array));
	/* Without memory it is empty, not one that leads nowhere. */
	if (!value->u64_array)
		value->count = 0;
}

static const struct kymo_trace_value *keep_values(struct kymo_trace *trace,
						  const struct kymo_trace_value *values,
						  size_t *count)
{
	struct kymo_trace_value *out = copy(trace, values, *count, sizeof(*out));

	if (!out)
		*count = 0;
	for (size_t i = 0; i < *count; i++)
		keep_value(trace, &out[i]);
	return out;
}

/* ---- Header ---- */

static const struct kymo_trace_process *
keep_process(struct kymo_trace *trace, const struct kymo_trace_process *process)
{
	struct kymo_trace_process *out = copy(trace, process, 1, sizeof(*out));

	if (!out)
		return NULL;
	out->name = keep_text(trace, out->name);
	out->exe = keep_text(trace, out->exe);
	out->command_line = keep_text(trace, out->command_line);
	out->host = keep_text(trace, out->host);
	out->boot_id = keep_text(trace, out->boot_id);
	return out;
}

/* The copy of a process, of a device, of a type: they are numbered from 0. */
static const struct kymo_trace_process *
own_process(const struct kymo_trace *trace, const struct kymo_trace_process *process)
{
	return process ? trace->header->processes[process->index] : NULL;
}

static const struct kymo_trace_device *keep_device(struct kymo_trace *trace,
						   const struct kymo_trace_device *device)
{
	struct kymo_trace_device *out = copy(trace, device, 1, sizeof(*out));
	size_t count = device->value_count;

	if (!out)
		return NULL;
	out->process = own_process(trace, out->process);
	out->name = keep_text(trace, out->name);
	out->kind = keep_text(trace, out->kind);
	out->uuid = keep_text(trace, out->uuid);
	out->source = keep_text(trace, out->source);
	out->values = keep_values(trace, out->values, &count);
	out->value_count = (uint32_t)count;
	return out;
}

static const struct kymo_trace_type *keep_type(struct kymo_trace *trace,
					       const struct kymo_trace_type *type)
{
	struct kymo_trace_type *out = copy(trace, type, 1, sizeof(*out));

	if (!out)
		return NULL;
	out->source = keep_text(trace, out->source);
	out->name = keep_text(trace, out->name);
	out->category = keep_text(trace, out->category);
	out->plugin = keep_text(trace, out->plugin);
	out->full_name = keep_text(trace, out->full_name);
	return out;
}

void ky_keep_header(struct kymo_trace *trace, const struct kymo_trace_header *header)
{
	struct kymo_trace_header *out = copy(trace, header, 1, sizeof(*out));
	const struct kymo_trace_process **processes =
		allocate(trace, header->process_count, sizeof(void *));
	const struct kymo_trace_device **devices =
		allocate(trace, header->device_count, sizeof(void *));
	const struct kymo_trace_type **types =
		allocate(trace, header->type_count, sizeof(void *));

	if (trace->has_failed)
		return;
	trace->header = out;
	out->processes = processes;
	out->devices = devices;
	out->types = types;
	for (size_t i = 0; i < header->process_count; i++)
		processes[i] = keep_process(trace, header->processes[i]);
	for (size_t i = 0; i < header->device_count; i++)
		devices[i] = keep_device(trace, header->devices[i]);
	for (size_t i = 0; i < header->type_count; i++)
		types[i] = keep_type(trace, header->types[i]);
	out->metadata = keep_values(trace, out->metadata, &out->metadata_count);
	out->command_line = keep_text(trace, out->command_line);
}

/* ---- Events ---- */

static const struct kymo_trace_track *keep_track(struct kymo_trace *trace,
						 const struct kymo_trace_track *track)
{
	struct kymo_trace_track *out;

	if (!track)
		return NULL;
	if (track->index >= trace->track_room) {
		void *grown =
			grow(trace, trace->tracks, &trace->track_room, track->index);

		if (!grown)
			return NULL;
		trace->tracks = grown;
	}
	if (trace->tracks[track->index])
		return trace->tracks[track->index];
	out = copy(trace, track, 1, sizeof(*out));
	if (!out)
		return NULL;
	trace->tracks[track->index] = out;
	if (trace->track_count <= track->index)
		trace->track_count = (size_t)track->index + 1;
	out->process = own_process(trace, track->process);
	if (track->device)
		out->device = trace->header->devices[track->device->index];
	out->name = keep_text(trace, out->name);
	/* Lane 0 is its own base, so this goes one deep. */
	out->base = keep_track(trace, track->base);
	return out;
}

static void set_event(struct kymo_trace *trace, struct ky_keep_events *events,
		      uint64_t index, const struct kymo_trace_event *event)
{
	if (index >= events->room) {
		void *grown = grow(trace, events->at, &events->room, index);

		if (!grown)
			return;
		events->at = grown;
	}
	events->at[index] = event;
}

/* Correlations are numbers of the trace, dense from 1. */
static void note_correlation(struct kymo_trace *trace,
			     const struct kymo_trace_event *event)
{
	struct ky_keep_events *events =
		event->flags & KYMO_RECORD_ORIGIN ? &trace->launches : &trace->launched;

	if (event->correlation != 0 &&
	    (event->correlation >= events->room || !events->at[event->correlation]))
		set_event(trace, events, event->correlation, event);
}

void ky_keep_event(struct kymo_trace *trace, const struct kymo_trace_event *event)
{
	struct kymo_trace_event *out = copy(trace, event, 1, sizeof(*out));

	set_event(trace, &trace->events, trace->event_count, out);
	if (trace->has_failed)
		return;
	out->track = keep_track(trace, event->track);
	out->from_track = keep_track(trace, event->from_track);
	if (event->type)
		out->type = trace->header->types[event->type->index];
	out->name = keep_text(trace, out->name);
	out->domain = keep_text(trace, out->domain);
	out->values = keep_values(trace, out->values, &out->value_count);
	trace->event_count++;
	note_correlation(trace, out);
}

/* ---- End ---- */

static const struct kymo_trace_source *keep_source(struct kymo_trace *trace,
						   const struct kymo_trace_source *source)
{
	struct kymo_trace_source *out = copy(trace, source, 1, sizeof(*out));

	if (!out)
		return NULL;
	out->process = own_process(trace, source->process);
	out->name = keep_text(trace, out->name);
	out->reason = keep_text(trace, out->reason);
	out->remedy = keep_text(trace, out->remedy);
	return out;
}

static const struct kymo_trace_clock *keep_clock(struct kymo_trace *trace,
						 const struct kymo_trace_clock *clock)
{
	struct kymo_trace_clock *out = copy(trace, clock, 1, sizeof(*out));

	if (!out)
		return NULL;
	out->process = own_process(trace, clock->process);
	out->source = keep_text(trace, out->source);
	out->name = keep_text(trace, out->name);
	return out;
}

static const struct kymo_trace_writer *keep_writer(struct kymo_trace *trace,
						   const struct kymo_trace_writer *writer)
{
	struct kymo_trace_writer *out = copy(trace, writer, 1, sizeof(*out));

	if (out)
		out->process = own_process(trace, writer->process);
	return out;
}

void ky_keep_end(struct kymo_trace *trace, const struct kymo_trace_end *end)
{
	struct kymo_trace_end *out = copy(trace, end, 1, sizeof(*out));
	const struct kymo_trace_source **sources =
		allocate(trace, end->source_count, sizeof(void *));
	const struct kymo_trace_clock **clocks =
		allocate(trace, end->clock_count, sizeof(void *));
	const struct kymo_trace_writer **writers =
		allocate(trace, end->writer_count, sizeof(void *));

	if (trace->has_failed)
		return;
	trace->end = out;
	out->ledger = copy(trace, end->ledger, 1, sizeof(*end->ledger));
	out->sources = sources;
	out->clocks = clocks;
	out->writers = writers;
	for (size_t i = 0; i < end->source_count; i++)
		sources[i] = keep_source(trace, end->sources[i]);
	for (size_t i = 0; i < end->clock_count; i++)
		clocks[i] = keep_clock(trace, end->clocks[i]);
	for (size_t i = 0; i < end->writer_count; i++)
		writers[i] = keep_writer(trace, end->writers[i]);
}

void ky_keep_fini(struct kymo_trace *trace)
{
	while (trace->blocks) {
		struct ky_keep_block *block = trace->blocks;

		trace->blocks = block->next;
		free(block);
	}
	free(trace->texts);
	free(trace->tracks);
	free(trace->events.at);
	free(trace->launches.at);
	free(trace->launched.at);
	*trace = (struct kymo_trace){0};
}
