/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens in the program's threads: calls, what they are part of, and overhead. */
#include <string.h>

#include "decode.h"
#include "name.h"
#include "place.h"
#include "region.h"

#define THREADS 256u /* a power of 2 */

/*
 * The last launch of the driver in each thread. If it was made by a call of the runtime,
 * that one's record comes next and has the same correlation: then it is the launch, as
 * the program knows it. So the driver's waits here for what comes next in its thread. By
 * the low bits of the thread; kind 0: none.
 */
static struct cupti_api waiting[THREADS];

static void emit(struct ky_batch *batch, const struct cupti_api *from, int is_inner)
{
	const int is_runtime = from->kind == CUPTI_KIND_RUNTIME;
	const struct ky_call call = ky_name_call(
		is_runtime ? CUPTI_DOMAIN_RUNTIME : CUPTI_DOMAIN_DRIVER, from->cbid);
	struct kymo_record *record = ky_batch_add(batch);

	*record = (struct kymo_record){
		.kind = KYMO_KIND_SPAN,
		.lines = 1,
		.flags = ky_batch_time_flags(batch, from->start, from->end),
		.track = ky_place_thread(from->thread_id),
		.type = ky_type_number(is_runtime ? KY_TYPE_RUNTIME : KY_TYPE_DRIVER),
		.domain = ky_source.numbers->domains[0],
		.name = call.name,
		.begin = from->start,
		.end = from->end,
		.correlation = from->correlation_id,
	};
	if (call.is_launch && !is_inner)
		record->flags |= KYMO_RECORD_ORIGIN;
	ky_batch_value(batch, record, KY_KEY_CBID, from->cbid);
	if (from->return_value != 0) {
		record->flags |= KYMO_RECORD_ERROR;
		ky_batch_value(batch, record, KY_KEY_ERROR,
			       (uint64_t)(int64_t)(int32_t)from->return_value);
	}
	ky_event_call(batch, from);
}

void ky_decode_call(struct ky_batch *batch, const struct cupti_api *from)
{
	struct cupti_api *last = &waiting[from->thread_id & (THREADS - 1)];

	if (last->kind != 0) {
		emit(batch, last,
		     last->thread_id == from->thread_id &&
			     last->correlation_id == from->correlation_id);
		last->kind = 0;
	}
	if (from->kind == CUPTI_KIND_DRIVER && ky_source.wants[KY_TYPE_RUNTIME] &&
	    from->correlation_id != 0)
		*last = *from;
	else
		emit(batch, from, 0);
}

void ky_call_end(struct ky_batch *batch, uint64_t until)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		if (waiting[i].kind == 0 || waiting[i].end > until)
			continue;
		emit(batch, &waiting[i], 0);
		waiting[i].kind = 0;
	}
}

void ky_call_forget(void)
{
	memset(waiting, 0, sizeof(waiting));
}

void ky_decode_external(struct ky_batch *batch, const struct cupti_external *from)
{
	const uint16_t domain = ky_region_domain(from->external_kind);
	struct kymo_record_link *link;

	if (domain == 0)
		return;
	link = (struct kymo_record_link *)(void *)ky_batch_add(batch);
	*link = (struct kymo_record_link){
		.kind = KYMO_KIND_LINK,
		.lines = 1,
		.link_kind = ky_source.numbers->link_kinds[0],
		.from_domain = domain,
		.to_domain = ky_source.numbers->domains[0],
		.from = from->external_id,
		.to = from->correlation_id,
	};
}

void ky_decode_overhead(struct ky_batch *batch, const struct cupti_overhead *from)
{
	struct kymo_record *record = ky_batch_add(batch);
	const int has_thread = from->object_kind == CUPTI_OBJECT_THREAD &&
			       from->object.thread.thread_id != 0;

	*record = (struct kymo_record){
		.kind = KYMO_KIND_SPAN,
		.lines = 1,
		.flags = ky_batch_time_flags(batch, from->start, from->end),
		.track = has_thread ? ky_place_thread(from->object.thread.thread_id)
				    : ky_place_overhead(),
		.type = ky_type_number(KY_TYPE_OVERHEAD),
		.name = ky_name_overhead(from->overhead_kind),
		.begin = from->start,
		.end = from->end,
	};
}
