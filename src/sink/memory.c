/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Traces wait by name to be taken. The list of names only grows and has no lock: places
 * are pushed by compare-and-swap, traces go in and out of them by exchange, so a forked
 * child finds it whole.
 */
#include "sink/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "sink/keep.h"

#define BATCH 512u /* events that are replayed at once */

struct place {
	struct place *next;
	char *name;
	struct kymo_trace *trace; /* NULL: taken */
};

static struct place *places;

/* A trace under way. */
struct memory_sink {
	char *name;               /* NULL: it is to be taken from here */
	struct kymo_trace *trace; /* NULL: it is in its place, or taken */
};

static int32_t no_memory(struct kymo_error *error)
{
	return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
			    "no memory left to keep the trace in");
}

/* ---- Places ---- */

static struct kymo_trace *swap(struct place *place, struct kymo_trace *trace)
{
	/* What is in the trace is seen by whoever takes it. */
	return __atomic_exchange_n(&place->trace, trace, __ATOMIC_ACQ_REL);
}

/* The name is taken over if that succeeds. */
static int32_t put(char *name, struct kymo_trace *trace, struct kymo_error *error)
{
	struct place *place = __atomic_load_n(&places, __ATOMIC_ACQUIRE);

	while (place && strcmp(place->name, name) != 0)
		place = place->next;
	if (place) {
		kymo_trace_destroy(swap(place, trace));
		free(name);
		return KYMO_OK;
	}
	place = malloc(sizeof(*place));
	if (!place)
		return no_memory(error);
	*place = (struct place){
		.next = __atomic_load_n(&places, __ATOMIC_RELAXED),
		.name = name,
		.trace = trace,
	};
	while (!__atomic_compare_exchange_n(&places, &place->next, place, 0,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return KYMO_OK;
}

/* ---- The sink ---- */

static void memory_close(void *sink)
{
	struct memory_sink *memory = sink;

	kymo_trace_destroy(memory->trace);
	free(memory->name);
	free(memory);
}

void *ky_memory_open(const char *name, size_t size)
{
	struct memory_sink *memory = calloc(1, sizeof(*memory));

	if (!memory)
		return NULL;
	memory->trace = calloc(1, sizeof(*memory->trace));
	if (name)
		memory->name = strndup(name, size);
	if (memory->trace && (memory->name || !name))
		return memory;
	memory_close(memory);
	return NULL;
}

struct kymo_trace *ky_memory_take_from(void *sink)
{
	struct memory_sink *memory = sink;
	struct kymo_trace *trace = memory->trace;

	memory->trace = NULL;
	return trace;
}

static int32_t memory_open(struct kymo_str path, const struct kymo_sink_options *options,
			   void **out, struct kymo_error *error)
{
	(void)options;
	*out = ky_memory_open(path.size ? path.data : "", path.size);
	return *out ? KYMO_OK : no_memory(error);
}

static int32_t judge(const struct memory_sink *memory, struct kymo_error *error)
{
	return memory->trace->has_failed ? no_memory(error) : KYMO_OK;
}

static int32_t memory_begin(void *sink, const struct kymo_trace_header *header,
			    struct kymo_error *error)
{
	struct memory_sink *memory = sink;

	ky_keep_header(memory->trace, header);
	return judge(memory, error);
}

static int32_t memory_batch(void *sink, const struct kymo_trace_event *const *events,
			    size_t count, struct kymo_error *error)
{
	struct memory_sink *memory = sink;

	for (size_t i = 0; i < count && !memory->trace->has_failed; i++)
		ky_keep_event(memory->trace, events[i]);
	return judge(memory, error);
}

static int32_t memory_end(void *sink, const struct kymo_trace_end *end,
			  struct kymo_sink_result *result, struct kymo_error *error)
{
	struct memory_sink *memory = sink;
	const struct kymo_trace_ledger *ledger = end->ledger;
	const struct kymo_sink_result whole = {
		.struct_size = sizeof(whole),
		.events = ledger->spans + ledger->instants + ledger->counters,
	};
	int32_t status;

	ky_keep_end(memory->trace, end);
	status = judge(memory, error);
	if (status == KYMO_OK && memory->name) {
		status = put(memory->name, memory->trace, error);
		if (status == KYMO_OK) {
			memory->name = NULL;
			memory->trace = NULL;
		}
	}
	if (status != KYMO_OK)
		return status;
	ky_result_write(result, &whole, sizeof(whole));
	return KYMO_OK;
}

static void memory_abort(void *sink)
{
	(void)sink; /* close drops it */
}

static const struct kymo_sink_ops memory_ops = {
	.struct_size = sizeof(memory_ops),
	.open = memory_open,
	.begin = memory_begin,
	.batch = memory_batch,
	.end = memory_end,
	.abort = memory_abort,
	.close = memory_close,
};

const struct kymo_sink_desc ky_memory_sink = {
	.struct_size = sizeof(ky_memory_sink),
	.protocol = "memory",
	.description = "kept in the memory of this process",
	.ops = &memory_ops,
};

int32_t ky_memory_replay(const struct kymo_trace *trace, const struct kymo_sink_ops *ops,
			 void *sink, struct kymo_sink_result *result,
			 struct kymo_error *error)
{
	int32_t status = ops->begin(sink, trace->header, error);

	for (size_t at = 0; at < trace->event_count && status >= KYMO_OK; at += BATCH) {
		const size_t left = trace->event_count - at;

		status = ops->batch(sink, trace->events.at + at,
				    left < BATCH ? left : BATCH, error);
	}
	if (status >= KYMO_OK)
		status = ops->end(sink, trace->end, result, error);
	if (status < KYMO_OK)
		ops->abort(sink);
	return status;
}

int32_t kymo_trace_take(const char *name, struct kymo_trace **out,
			struct kymo_error *error)
{
	struct place *place = __atomic_load_n(&places, __ATOMIC_ACQUIRE);

	if (!out || !name)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "no name, or no place for the trace");
	/* Two threads at once may have made two places of one name. */
	for (*out = NULL; place && !*out; place = place->next)
		if (strcmp(place->name, name) == 0)
			*out = swap(place, NULL);
	if (*out)
		return KYMO_OK;
	return ky_error_set(error, KYMO_ERROR_NOT_FOUND,
			    "there is no trace at memory://%s", name);
}

void kymo_trace_destroy(struct kymo_trace *trace)
{
	if (!trace)
		return;
	ky_keep_fini(trace);
	free(trace);
}

const struct kymo_trace_header *kymo_trace_header_of(const struct kymo_trace *trace)
{
	return trace ? trace->header : NULL;
}

const struct kymo_trace_end *kymo_trace_end_of(const struct kymo_trace *trace)
{
	return trace ? trace->end : NULL;
}

const struct kymo_trace_event *kymo_trace_event_at(const struct kymo_trace *trace,
						   size_t index)
{
	return trace && index < trace->event_count ? trace->events.at[index] : NULL;
}

size_t kymo_trace_event_count(const struct kymo_trace *trace)
{
	return trace ? trace->event_count : 0;
}

size_t kymo_trace_track_count(const struct kymo_trace *trace)
{
	return trace ? trace->track_count : 0;
}

const struct kymo_trace_track *kymo_trace_track_at(const struct kymo_trace *trace,
						   size_t index)
{
	return trace && index < trace->track_count ? trace->tracks[index] : NULL;
}

static const struct kymo_trace_event *find_event(const struct ky_keep_events *events,
						 uint64_t index)
{
	return index < events->room ? events->at[index] : NULL;
}

const struct kymo_trace_event *kymo_trace_linked(const struct kymo_trace *trace,
						 const struct kymo_trace_event *event)
{
	if (!trace || !event)
		return NULL;
	if (event->flags & KYMO_RECORD_ORIGIN)
		return find_event(&trace->launched, event->correlation);
	return find_event(&trace->launches, event->launch_correlation
						    ? event->launch_correlation
						    : event->correlation);
}
