/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens in the program's threads: calls, what they are part of, and overhead. */
#include "decode.h"
#include "name.h"
#include "place.h"
#include "region.h"

#define LAUNCH_SLOTS 4096u /* a power of 2 */

/*
 * A call of the runtime may be recorded again as the driver's call that it makes, with
 * the same correlation. The first one to come is the launch. By the low bits.
 */
static uint32_t launches[LAUNCH_SLOTS];

static int is_first(uint32_t correlation)
{
	uint32_t *last = &launches[correlation & (LAUNCH_SLOTS - 1)];
	const int is_new = *last != correlation;

	*last = correlation;
	return is_new;
}

void ky_decode_call(struct ky_batch *batch, const struct cupti_api *from)
{
	const int is_runtime = from->kind == CUPTI_KIND_RUNTIME;
	struct kymo_record *record = ky_batch_add(batch);

	*record = (struct kymo_record){
		.kind = KYMO_KIND_SPAN,
		.lines = 1,
		.flags = ky_batch_time_flags(batch, from->start, from->end),
		.track = ky_place_thread(from->thread_id),
		.type = ky_type_number(is_runtime ? KY_TYPE_RUNTIME : KY_TYPE_DRIVER),
		.name = ky_name_call(is_runtime ? CUPTI_DOMAIN_RUNTIME
						: CUPTI_DOMAIN_DRIVER,
				     from->cbid),
		.begin = from->start,
		.end = from->end,
	};
	if (from->correlation_id != 0 && is_first(from->correlation_id)) {
		record->flags |= KYMO_RECORD_ORIGIN;
		record->domain = ky_source.numbers->domains[0];
		record->correlation = from->correlation_id;
	}
	ky_batch_value(batch, record, KY_KEY_CBID, from->cbid);
	if (from->return_value != 0) {
		record->flags |= KYMO_RECORD_ERROR;
		ky_batch_value(batch, record, KY_KEY_ERROR,
			       (uint64_t)(int64_t)(int32_t)from->return_value);
	}
	ky_event_call(batch, from);
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
		.name = ky_name_text(ky_name_overhead_text(from->overhead_kind)),
		.begin = from->start,
		.end = from->end,
	};
}
