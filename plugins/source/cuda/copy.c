/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies, copies between devices, fills, and what unified memory does by itself. */
#include "cache.h"
#include "decode.h"
#include "name.h"
#include "place.h"

static struct ky_cache sets;

/* What all three have; those of a version that lacks a field are 0. */
struct transfer {
	uint64_t begin, end, bytes, node;
	uint32_t device, context, stream, correlation;
	uint32_t graph, channel, channel_type;
	/* Between devices only. */
	uint32_t is_peer, from_device, to_device, from_context, to_context;
};

static uint32_t put_peer(struct kymo_value *values, const struct transfer *transfer)
{
	values[0] = ky_value_number(KY_KEY_FROM_DEVICE, transfer->from_device);
	values[1] = ky_value_number(KY_KEY_IN_DEVICE, transfer->device);
	values[2] = ky_value_number(KY_KEY_TO_DEVICE, transfer->to_device);
	values[3] = ky_value_number(KY_KEY_FROM_CONTEXT, transfer->from_context);
	values[4] = ky_value_number(KY_KEY_IN_CONTEXT, transfer->context);
	values[5] = ky_value_number(KY_KEY_TO_CONTEXT, transfer->to_context);
	return 6;
}

static uint32_t make_set(const struct transfer *transfer)
{
	struct kymo_value values[12];
	uint32_t count = 0;

	ky_place_learn_context(transfer->context, transfer->device);
	values[count++] = ky_value_number(KY_KEY_CONTEXT, transfer->context);
	if (transfer->is_peer)
		count += put_peer(&values[count], transfer);
	if (transfer->channel_type != 0) {
		values[count++] = ky_value_number(KY_KEY_CHANNEL, transfer->channel);
		values[count++] =
			ky_value_number(KY_KEY_CHANNEL_TYPE,
					ky_channel_type_name(transfer->channel_type));
	}
	return ky_source.host->attributes(ky_source.self, values, count);
}

static uint32_t find_set(const struct transfer *transfer)
{
	const uint64_t words[KY_CACHE_WORDS] = {
		(uint64_t)transfer->context << 32 | transfer->device,
		(uint64_t)transfer->channel << 32 | transfer->channel_type,
		transfer->is_peer,
		(uint64_t)transfer->from_device << 32 | transfer->to_device,
		(uint64_t)transfer->from_context << 32 | transfer->to_context,
	};
	const uint64_t hash = ky_cache_hash(words);
	const struct ky_cached *known = ky_cache_get(&sets, hash, words);

	if (KYMO_UNLIKELY(!known))
		known = ky_cache_put(&sets, hash, words, make_set(transfer), 0);
	return known->number;
}

static void emit(struct ky_batch *batch, const struct transfer *transfer,
		 enum ky_type type, uint32_t name)
{
	struct kymo_record *record = ky_batch_add(batch);
	const uint16_t flags = ky_batch_time_flags(batch, transfer->begin, transfer->end);

	*record = (struct kymo_record){
		.kind = KYMO_KIND_SPAN,
		.lines = 1,
		.flags = KYMO_RECORD_TARGET | flags,
		.track = ky_place_stream(transfer->device, transfer->stream,
					 KY_ROW_STREAM),
		.type = ky_type_number(type),
		.domain = ky_source.numbers->domains[0],
		.name = name,
		.begin = transfer->begin,
		.end = transfer->end,
		.correlation = transfer->correlation,
		.attributes = find_set(transfer),
	};
	ky_batch_value(batch, record, KY_KEY_BYTES, transfer->bytes);
	if (!flags && transfer->end > transfer->begin)
		ky_batch_value(
			batch, record, KY_KEY_BANDWIDTH,
			kymo_double_bits((double)transfer->bytes /
					 (double)(transfer->end - transfer->begin)));
	if (transfer->graph != 0)
		ky_batch_value(batch, record, KY_KEY_GRAPH, transfer->graph);
	if (transfer->node != 0)
		ky_batch_value(batch, record, KY_KEY_GRAPH_NODE, transfer->node);
}

/* The fields that all three kinds of record have under the same names. */
#define TRANSFER_OF(record, version)                                                    \
	{                                                                               \
		.begin = (record)->start, .end = (record)->end,                         \
		.bytes = (record)->bytes, .node = (record)->graph_node_id,              \
		.device = (record)->device_id, .context = (record)->context_id,         \
		.stream = (record)->stream_id, .correlation = (record)->correlation_id, \
		.graph = (version) >= CUPTI_SINCE_11_1 ? (record)->graph_id : 0,        \
		.channel = (version) >= CUPTI_SINCE_11_6 ? (record)->channel_id : 0,    \
		.channel_type =                                                         \
			(version) >= CUPTI_SINCE_11_6 ? (record)->channel_type : 0,     \
	}

void ky_decode_copy(struct ky_batch *batch, const struct cupti_memcpy *from)
{
	const struct transfer transfer = TRANSFER_OF(from, batch->version);

	emit(batch, &transfer, KY_TYPE_COPY,
	     ky_name_copy(from->copy_kind, from->src_kind, from->dst_kind));
}

void ky_decode_peer(struct ky_batch *batch, const struct cupti_memcpy_peer *from)
{
	struct transfer transfer = TRANSFER_OF(from, batch->version);

	transfer.is_peer = 1;
	transfer.from_device = from->src_device_id;
	transfer.to_device = from->dst_device_id;
	transfer.from_context = from->src_context_id;
	transfer.to_context = from->dst_context_id;
	emit(batch, &transfer, KY_TYPE_COPY,
	     ky_name_copy(from->copy_kind, from->src_kind, from->dst_kind));
}

void ky_decode_fill(struct ky_batch *batch, const struct cupti_memset *from)
{
	const struct transfer transfer = TRANSFER_OF(from, batch->version);

	emit(batch, &transfer, KY_TYPE_FILL, ky_name_fill(from->memory_kind));
}

/*
 * The device that it came from or went to. Who fights for memory is a bit each: it is
 * told of the first one. A fault of the processor has none: the first device has it.
 */
static uint32_t unified_device(const struct cupti_unified *from)
{
	switch (from->counter_kind) {
	case CUPTI_UVM_BYTES_HTOD:
		return from->dst_id;
	case CUPTI_UVM_CPU_PAGE_FAULT:
		return 0;
	case CUPTI_UVM_THRASHING:
		return from->src_id ? (uint32_t)__builtin_ctz(from->src_id) : 0;
	default:
		return from->src_id;
	}
}

/* What these have for an end means nothing, by CUPTI's own word. */
static int is_moment(uint32_t counter_kind)
{
	return counter_kind == CUPTI_UVM_CPU_PAGE_FAULT ||
	       counter_kind == CUPTI_UVM_THRASHING ||
	       counter_kind == CUPTI_UVM_REMOTE_MAP;
}

void ky_decode_unified(struct ky_batch *batch, const struct cupti_unified *from)
{
	struct kymo_record *record = ky_batch_add(batch);
	const int is_instant = from->end == 0 || is_moment(from->counter_kind);
	const uint64_t end = is_instant ? from->start : from->end;

	*record = (struct kymo_record){
		.kind = is_instant ? KYMO_KIND_INSTANT : KYMO_KIND_SPAN,
		.lines = 1,
		.flags = ky_batch_time_flags(batch, from->start, end),
		/* One row of a device: the stream that the record names is no stream. */
		.track = ky_place_stream(unified_device(from), 0, KY_ROW_UNIFIED),
		.type = ky_type_number(KY_TYPE_UNIFIED),
		.name = ky_name_unified(from->counter_kind),
		.begin = from->start,
		.end = end,
	};
	ky_batch_value(batch, record, KY_KEY_VALUE, from->value);
	ky_batch_value(batch, record, KY_KEY_ADDRESS, from->address);
}

void ky_copy_forget(void)
{
	ky_cache_clear(&sets);
}
