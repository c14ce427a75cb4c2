/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/recent.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Static numbers of activity types. */
#define TYPE_KERNEL 5u
#define TYPE_COPY   3u

void ky_recent_fini(struct ky_recent *window)
{
	free(window->by_type);
	window->by_type = NULL;
}

static int32_t window_begin(void *sink, const struct kymo_trace_header *header,
			    struct kymo_error *error)
{
	struct ky_recent *window = sink;

	window->header = header;
	window->by_type = calloc(header->type_count + 1, sizeof(*window->by_type));
	if (!window->by_type)
		return ky_error_no_memory(error);
	return window->ops->begin(window->sink, header, error);
}

static int is_inside(const struct ky_recent *window, const struct kymo_trace_event *event)
{
	switch (event->kind) {
	case KYMO_EVENT_TRACK:
		return 1;
	case KYMO_EVENT_ARROW:
		return event->from_ns >= window->since_ns &&
		       event->begin_ns >= window->since_ns;
	default:
		return event->end_ns >= window->since_ns;
	}
}

static void leave_out(struct ky_recent *window, const struct kymo_trace_event *event)
{
	struct kymo_trace_ledger *ledger = &window->left_out;

	if (event->kind == KYMO_EVENT_ARROW) {
		ledger->arrows++;
		return;
	}
	/* It is no record. */
	if (event->flags & KYMO_EVENT_PROJECTED) {
		ledger->projected++;
		return;
	}
	ledger->written++;
	window->by_type[event->type->index].written++;
	window->by_type[event->type->index].events += event->kind != KYMO_EVENT_GAP;
	ledger->instants += event->kind == KYMO_EVENT_INSTANT;
	ledger->counters += event->kind == KYMO_EVENT_COUNTER;
	if (event->kind != KYMO_EVENT_SPAN)
		return;
	ledger->spans++;
	ledger->kernels += event->type->activity_type == TYPE_KERNEL;
	ledger->copies += event->type->activity_type == TYPE_COPY;
}

/* Arrows are numbered anew once one has been left out. */
static int is_unchanged(const struct ky_recent *window,
			const struct kymo_trace_event *event)
{
	return is_inside(window, event) &&
	       (event->kind != KYMO_EVENT_ARROW || window->left_out.arrows == 0);
}

static int32_t hand_on_arrow(struct ky_recent *window,
			     const struct kymo_trace_event *event,
			     struct kymo_error *error)
{
	struct kymo_trace_event arrow = *event;
	const struct kymo_trace_event *one = &arrow;

	arrow.arrow_id -= window->left_out.arrows;
	return window->ops->batch(window->sink, &one, 1, error);
}

static int32_t window_batch(void *sink, const struct kymo_trace_event *const *events,
			    size_t count, struct kymo_error *error)
{
	struct ky_recent *window = sink;
	int32_t status = KYMO_OK;
	size_t at = 0;

	while (at < count && status == KYMO_OK) {
		size_t end = at;

		while (end < count && is_unchanged(window, events[end]))
			end++;
		if (end > at)
			status = window->ops->batch(window->sink, events + at, end - at,
						    error);
		else if (is_inside(window, events[end]))
			status = hand_on_arrow(window, events[end++], error);
		else
			leave_out(window, events[end++]);
		at = end;
	}
	return status;
}

static int is_of(const struct kymo_trace_type *type,
		 const struct kymo_trace_source *source)
{
	return type->source.size == source->name.size &&
	       memcmp(type->source.data, source->name.data, source->name.size) == 0;
}

/* Of several sources of one name what is left out is of whoever has as much. */
static void take_off(uint64_t *from, uint64_t *count)
{
	const uint64_t part = *count < *from ? *count : *from;

	*from -= part;
	*count -= part;
}

/* The source's copy without what is left out of it; each type is counted off once. */
static void correct_source(struct ky_recent *window, struct kymo_trace_source *source)
{
	for (size_t i = 0; i < window->header->type_count; i++) {
		struct ky_recent_count *count = &window->by_type[i];

		if (!is_of(window->header->types[i], source))
			continue;
		take_off(&source->events, &count->events);
		take_off(&source->written, &count->written);
	}
}

static void correct_ledger(const struct ky_recent *window,
			   struct kymo_trace_ledger *ledger)
{
	const struct kymo_trace_ledger *left_out = &window->left_out;

	ledger->written -= left_out->written;
	ledger->out_of_window += left_out->written;
	ledger->spans -= left_out->spans;
	ledger->instants -= left_out->instants;
	ledger->counters -= left_out->counters;
	ledger->kernels -= left_out->kernels;
	ledger->copies -= left_out->copies;
	ledger->projected -= left_out->projected;
	ledger->arrows -= left_out->arrows;
	ledger->arrows_no_launch += left_out->arrows;
}

static int32_t window_end(void *sink, const struct kymo_trace_end *end,
			  struct kymo_sink_result *result, struct kymo_error *error)
{
	struct ky_recent *window = sink;
	const size_t count = (size_t)end->source_count + 1;
	struct kymo_trace_ledger ledger = *end->ledger;
	struct kymo_trace_source *sources = calloc(count, sizeof(*sources));
	const struct kymo_trace_source **list = calloc(count, sizeof(*list));
	struct kymo_trace_end corrected = *end;
	int32_t status;

	if (!sources || !list) {
		status = ky_error_no_memory(error);
		goto out;
	}
	for (size_t i = 0; i < end->source_count; i++) {
		sources[i] = *end->sources[i];
		correct_source(window, &sources[i]);
		list[i] = &sources[i];
	}
	correct_ledger(window, &ledger);
	corrected.ledger = &ledger;
	corrected.sources = list;
	status = window->ops->end(window->sink, &corrected, result, error);
out:
	free(sources);
	free(list);
	return status;
}

static void window_abort(void *sink)
{
	struct ky_recent *window = sink;

	window->ops->abort(window->sink);
}

const struct kymo_sink_ops ky_recent_ops = {
	.struct_size = sizeof(ky_recent_ops),
	.begin = window_begin,
	.batch = window_batch,
	.end = window_end,
	.abort = window_abort,
};
