/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/emit.h"

#include <string.h>

#include "base/error.h"
#include "timeline/lines.h"
#include "timeline/records.h"
#include "timeline/values.h"

#define BATCH_EVENTS    256u
#define EVENTS_PER_STEP 5u /* room kept: an arrow, and two tracks beside queues */

struct batch {
	const struct ky_emit *emit;
	struct ky_lines *lines;
	struct ky_arena arena; /* texts and values of the events below */
	struct ky_values values;
	struct kymo_trace_event events[BATCH_EVENTS];
	const struct kymo_trace_event *list[BATCH_EVENTS]; /* as a sink is given them */
	size_t count;
	uint64_t last_arrow;
	struct kymo_error *error;
};

static int32_t no_memory(struct batch *batch)
{
	return ky_error_set(batch->error, KYMO_ERROR_NO_MEMORY,
			    "no memory for the events of a trace");
}

static int32_t flush(struct batch *batch)
{
	int32_t status = KYMO_OK;

	if (batch->count > 0)
		status = batch->emit->ops->batch(batch->emit->sink, batch->list,
						 batch->count, batch->error);
	batch->count = 0;
	ky_arena_reset(&batch->arena);
	return status;
}

static struct kymo_trace_event *add_event(struct batch *batch)
{
	struct kymo_trace_event *event = &batch->events[batch->count++];

	*event = (struct kymo_trace_event){.struct_size = sizeof(*event)};
	return event;
}

/* The shown track; announces it if it is new. NULL: no memory. */
static const struct kymo_trace_track *show_one(struct batch *batch, uint32_t index,
					       uint32_t lane)
{
	int is_new = 0;
	const struct kymo_trace_track *track =
		ky_model_show_track(batch->emit->model, index, lane, &is_new);

	if (track && is_new) {
		struct kymo_trace_event *event = add_event(batch);

		event->kind = KYMO_EVENT_TRACK;
		event->track = track;
	}
	return track;
}

/* A queue comes before what is beside it: its row is the one that sinks number by it. */
static const struct kymo_trace_track *show_track(struct batch *batch, uint32_t index,
						 uint32_t lane)
{
	const struct ky_model_track *queue =
		ky_model_track(batch->emit->model, index)->queue;

	if (queue && !show_one(batch, queue->trace.index, 0))
		return NULL;
	return show_one(batch, index, lane);
}

/* A type of a source's own is one, too, if it is shown as one. */
static uint32_t is_a(const struct kymo_trace_type *type, uint32_t number,
		     const char *category)
{
	return type->activity_type == number ||
	       (type->category.size == strlen(category) &&
		memcmp(type->category.data, category, type->category.size) == 0);
}

static void count_event(struct kymo_trace_ledger *ledger,
			const struct kymo_trace_event *event)
{
	if (event->flags & KYMO_EVENT_PROJECTED) {
		ledger->projected++;
		return;
	}
	switch (event->kind) {
	case KYMO_EVENT_INSTANT:
		ledger->instants++;
		break;
	case KYMO_EVENT_COUNTER:
		ledger->counters++;
		break;
	case KYMO_EVENT_SPAN:
		ledger->spans++;
		ledger->kernels += is_a(event->type, KY_TYPE_KERNEL, "kernel");
		ledger->copies += is_a(event->type, KY_TYPE_COPY, "gpu_memcpy");
		break;
	default:
		return;
	}
	if (event->flags & KYMO_RECORD_UNFINISHED)
		ledger->unfinished++;
}

static uint32_t event_kind(uint32_t record_kind)
{
	switch (record_kind) {
	case KYMO_KIND_INSTANT:
		return KYMO_EVENT_INSTANT;
	case KYMO_KIND_COUNTER:
		return KYMO_EVENT_COUNTER;
	case KYMO_KIND_GAP:
		return KYMO_EVENT_GAP;
	default:
		return KYMO_EVENT_SPAN; /* OPEN as well: it is one without its end */
	}
}

/* Its domain's name as the source said it, or nothing where there is no correlation. */
static void set_correlation(struct batch *batch, struct kymo_trace_event *event,
			    const struct ky_item *item)
{
	const struct kymo_str *domain;

	if (item->domain == 0)
		return;
	domain = batch->emit->model->domains.items[item->domain - 1];
	event->domain = *domain;
	event->native_correlation = item->value;
}

static int32_t changed(struct batch *batch)
{
	return ky_error_set(batch->error, KYMO_ERROR_IO,
			    "the capture changed while it was read");
}

/* It has the annotation's name, but nothing that would be found twice. */
static int32_t resolve_projected(struct batch *batch, struct kymo_trace_event *event,
				 const struct ky_capture_type *type,
				 const struct kymo_record *first, uint32_t lines)
{
	if (!type->projected)
		return changed(batch);
	event->type = type->projected;
	event->flags = KYMO_EVENT_PROJECTED;
	event->name = ky_record_name(&batch->values, first, lines, type->type);
	return batch->values.status == KYMO_OK ? KYMO_OK : no_memory(batch);
}

/* The part that needs the record itself. */
static int32_t resolve(struct batch *batch, struct kymo_trace_event *event,
		       const struct ky_item *item)
{
	struct ky_values *values = &batch->values;
	const struct ky_capture_type *type;
	struct ky_model_capture *capture;
	const struct kymo_record *first;
	uint32_t lines;
	int32_t status = ky_lines_find(batch->lines, ky_place_line(item->when.place),
				       &capture, &first, &lines, batch->error);

	if (status != KYMO_OK)
		return status;
	if (first->kind != ky_place_kind(item->when.place))
		return changed(batch);
	values->capture = capture;
	values->clock = ky_record_clock(capture, first);
	values->near_ns = item->when.begin_ns;
	values->track = event->track;
	values->referred = 0;
	type = &capture->types[first->type < capture->type_count ? first->type : 0];
	if (ky_place_role(item->when.place) & KY_ROLE_PROJECTED)
		return resolve_projected(batch, event, type, first, lines);
	if (capture->has_references)
		status = ky_join_referred(batch->emit->join, &item->when,
					  &values->referred, batch->error);
	if (status != KYMO_OK)
		return status;
	event->type = type->type;
	event->flags = first->flags;
	if (first->kind == KYMO_KIND_OPEN)
		event->flags |= KYMO_RECORD_UNFINISHED;
	event->name = ky_record_name(values, first, lines, event->type);
	ky_record_values(values, first, lines);
	status = ky_values_take(values, &event->values, &event->value_count);
	return status == KYMO_OK ? KYMO_OK : no_memory(batch);
}

static int32_t make_room(struct batch *batch)
{
	return batch->count + EVENTS_PER_STEP > BATCH_EVENTS ? flush(batch) : KYMO_OK;
}

static int32_t emit_item(struct batch *batch, const struct ky_item *item, uint32_t lane)
{
	const struct kymo_trace_track *track = show_track(batch, item->track, lane);
	struct kymo_trace_event *event;
	int32_t status;

	if (!track)
		return no_memory(batch);
	event = add_event(batch);
	event->kind = event_kind(ky_place_kind(item->when.place));
	event->track = track;
	event->begin_ns = item->when.begin_ns;
	event->end_ns = item->when.end_ns;
	set_correlation(batch, event, item);
	status = resolve(batch, event, item);
	if (status == KYMO_OK)
		status = ky_join_number(batch->emit->join, &item->when,
					&event->correlation, &event->launch_correlation,
					batch->error);
	if (status == KYMO_OK)
		count_event(batch->emit->ledger, event);
	return status;
}

static int32_t emit_arrow(struct batch *batch, const struct ky_arrow *arrow)
{
	const struct kymo_trace_track *from =
		show_track(batch, arrow->from.track, arrow->from.lane);
	const struct kymo_trace_track *to =
		show_track(batch, arrow->to.track, arrow->to.lane);
	const struct kymo_str *name = batch->emit->model->arrow_names.items[arrow->name];
	struct kymo_trace_event *event;

	if (!from || !to)
		return no_memory(batch);
	event = add_event(batch);
	event->kind = KYMO_EVENT_ARROW;
	event->track = to;
	event->name = *name;
	event->begin_ns = event->end_ns = arrow->to_ns;
	event->arrow_id = ++batch->last_arrow;
	event->from_track = from;
	event->from_ns = arrow->from_ns;
	batch->emit->ledger->arrows++;
	return KYMO_OK;
}

static int32_t emit_arrows(struct batch *batch, const struct ky_item *item)
{
	for (;;) {
		struct ky_arrow arrow;
		int32_t status = ky_join_arrow(batch->emit->join, &item->when, &arrow,
					       batch->error);

		if (status == KYMO_OK)
			status = make_room(batch);
		if (status == KYMO_OK)
			status = emit_arrow(batch, &arrow);
		if (status != KYMO_OK)
			return status == KYMO_END ? KYMO_OK : status;
	}
}

static int32_t emit_all(struct batch *batch)
{
	const struct ky_emit *emit = batch->emit;
	int32_t status = ky_stream_begin(emit->stream, batch->error);

	while (status == KYMO_OK) {
		struct ky_item item;
		uint32_t lane;

		status = ky_stream_next(emit->stream, &item, &lane, batch->error);
		if (status == KYMO_OK)
			status = make_room(batch);
		if (status == KYMO_OK)
			status = emit_item(batch, &item, lane);
		if (status == KYMO_OK)
			status = emit_arrows(batch, &item);
	}
	/* Written, but there is no place where they could be drawn. */
	emit->ledger->untimed += emit->stream->crowded;
	return status == KYMO_END ? flush(batch) : status;
}

int32_t ky_emit_run(const struct ky_emit *emit, struct kymo_error *error)
{
	struct batch *batch = calloc(1, sizeof(*batch));
	int32_t status;

	if (!batch)
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
				    "no memory for the events of a trace");
	batch->emit = emit;
	batch->error = error;
	batch->values.arena = &batch->arena;
	batch->values.model = emit->model;
	for (size_t i = 0; i < BATCH_EVENTS; i++)
		batch->list[i] = &batch->events[i];
	status = ky_lines_create(&batch->lines, emit->model, error);
	if (status == KYMO_OK)
		status = emit_all(batch);
	ky_lines_destroy(batch->lines);
	ky_values_clear(&batch->values);
	ky_arena_clear(&batch->arena);
	free(batch);
	return status;
}
