/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUDA's events, and the waits for them.
 *
 * CUPTI tells that an event was recorded, but mostly not when: the record is then dated
 * by the call that put it into its stream, which comes later and has the same
 * correlation. Until then it waits here.
 */
#include "cache.h"
#include "decode.h"
#include "name.h"
#include "place.h"

#define SLOTS 1024u /* a power of 2 */

/* Events that wait for their call, by the low bits of the correlation; 0: free. */
static struct pending {
	uint32_t correlation, device, context, stream, event;
} pending[SLOTS];

/* Where each event was recorded last. What collides is forgotten. */
static struct {
	uint32_t context, event, stream, correlation;
} recorded[SLOTS];

static uint32_t recorded_slot(uint32_t context, uint32_t event)
{
	return (uint32_t)(ky_cache_mix(context, event) >> 16) & (SLOTS - 1);
}

static void emit_event(struct ky_batch *batch, const struct pending *event, uint64_t time)
{
	static uint32_t name;
	struct kymo_record *record = ky_batch_add(batch);

	*record = (struct kymo_record){
		.kind = KYMO_KIND_INSTANT,
		.lines = 1,
		.flags = ky_batch_time_flags(batch, time, time),
		.track = ky_place_stream(event->device, event->stream, KY_ROW_STREAM),
		.type = ky_type_number(KY_TYPE_EVENT),
		.domain = ky_source.numbers->domains[0],
		.name = ky_name_once(&name, "cudaEvent"),
		.begin = time,
		.end = time,
		.correlation = event->correlation,
	};
	ky_batch_value(batch, record, KY_KEY_EVENT, event->event);
	ky_batch_value(batch, record, KY_KEY_CONTEXT, event->context);
}

void ky_decode_event(struct ky_batch *batch, const struct cupti_event *from)
{
	const uint32_t slot = recorded_slot(from->context_id, from->event_id);
	struct pending *place = &pending[from->correlation_id & (SLOTS - 1)];
	const int is_new = batch->version >= CUPTI_SINCE_12_8;
	const struct pending event = {
		.correlation = from->correlation_id,
		.device = is_new ? from->device_id
				 : ky_place_context_device(from->context_id),
		.context = from->context_id,
		.stream = from->stream_id,
		.event = from->event_id,
	};

	recorded[slot].context = from->context_id;
	recorded[slot].event = from->event_id;
	recorded[slot].stream = from->stream_id;
	recorded[slot].correlation = from->correlation_id;
	if (!ky_source.wants[KY_TYPE_EVENT])
		return;
	if (is_new && from->device_timestamp != 0) {
		emit_event(batch, &event, from->device_timestamp);
		return;
	}
	if (place->correlation != 0)
		emit_event(batch, place, 0);
	*place = event;
	if (event.correlation == 0)
		emit_event(batch, &event, 0);
}

void ky_event_call(struct ky_batch *batch, const struct cupti_api *call)
{
	struct pending *place = &pending[call->correlation_id & (SLOTS - 1)];

	if (KYMO_UNLIKELY(place->correlation == call->correlation_id &&
			  place->correlation != 0)) {
		emit_event(batch, place, call->end);
		place->correlation = 0;
	}
}

void ky_event_end(struct ky_batch *batch)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		if (pending[i].correlation != 0)
			emit_event(batch, &pending[i], 0);
		pending[i].correlation = 0;
	}
}

/* ---- Waits ---- */

static void add_wait(struct ky_batch *batch, struct kymo_record *record,
		     const struct cupti_sync *from)
{
	const uint32_t slot = recorded_slot(from->context_id, from->event_id);
	const int is_known = recorded[slot].event == from->event_id &&
			     recorded[slot].context == from->context_id &&
			     recorded[slot].correlation != 0;

	ky_batch_value(batch, record, KY_KEY_WAIT_STREAM,
		       is_known ? recorded[slot].stream : UINT64_MAX);
	ky_batch_value(batch, record, KY_KEY_WAIT_CORRELATION,
		       is_known ? recorded[slot].correlation : UINT64_MAX);
	ky_batch_value(batch, record, KY_KEY_WAIT_EVENT, from->event_id);
}

void ky_decode_sync(struct ky_batch *batch, const struct cupti_sync *from)
{
	struct kymo_record *record = ky_batch_add(batch);
	const uint32_t name = ky_name_sync(from->type);

	*record = (struct kymo_record){
		.kind = KYMO_KIND_SPAN,
		.lines = 1,
		.flags = ky_batch_time_flags(batch, from->start, from->end),
		.track = ky_place_stream(ky_place_context_device(from->context_id),
					 from->stream_id, KY_ROW_SYNC),
		.type = ky_type_number(KY_TYPE_SYNC),
		.domain = ky_source.numbers->domains[0],
		.name = name,
		.begin = from->start,
		.end = from->end,
		.correlation = from->correlation_id,
	};
	ky_batch_value(batch, record, KY_KEY_SYNC_KIND, name);
	ky_batch_value(batch, record, KY_KEY_CONTEXT, from->context_id);
	if (from->type == CUPTI_SYNC_EVENT || from->type == CUPTI_SYNC_STREAM_WAIT)
		add_wait(batch, record, from);
}

void ky_event_forget(void)
{
	memset(pending, 0, sizeof(pending));
	memset(recorded, 0, sizeof(recorded));
}
