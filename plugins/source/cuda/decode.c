/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks a buffer. Sizes of records are CUPTI's affair; that each lies within the buffer
 * with all that is read of it here is ours.
 */
#include "decode.h"

#include <string.h>

#include "name.h"
#include "place.h"

#define KINDS 64u

static struct ky_batch batch;
/* Bytes that are read of each kind in this version; 0: the kind is skipped. */
static uint32_t sizes[KINDS];
/* Looked through for devices first: kernels name them. */
static int has_seen_devices;

/* Up to and with a member. */
#define UP_TO(type, member) \
	((uint32_t)(offsetof(struct type, member) + sizeof(((struct type *)0)->member)))

static uint32_t kernel_size(uint32_t version)
{
	if (version >= CUPTI_SINCE_13_1)
		return UP_TO(cupti_kernel, priority);
	if (version >= CUPTI_SINCE_11_8)
		return UP_TO(cupti_kernel, cluster_z);
	if (version >= CUPTI_SINCE_11_6)
		return UP_TO(cupti_kernel, channel_type);
	return version >= CUPTI_SINCE_11_1 ? UP_TO(cupti_kernel, graph_id)
					   : UP_TO(cupti_kernel, graph_node_id);
}

#define TRANSFER_SIZE(type, version)                                 \
	((version) >= CUPTI_SINCE_11_6   ? UP_TO(type, channel_type) \
	 : (version) >= CUPTI_SINCE_11_1 ? UP_TO(type, graph_id)     \
					 : UP_TO(type, graph_node_id))

static void learn_sizes(uint32_t version)
{
	memset(sizes, 0, sizeof(sizes));
	sizes[CUPTI_KIND_KERNEL] = kernel_size(version);
	sizes[CUPTI_KIND_CONCURRENT_KERNEL] = kernel_size(version);
	sizes[CUPTI_KIND_MEMCPY] = TRANSFER_SIZE(cupti_memcpy, version);
	sizes[CUPTI_KIND_MEMCPY_PEER] = TRANSFER_SIZE(cupti_memcpy_peer, version);
	sizes[CUPTI_KIND_MEMSET] = TRANSFER_SIZE(cupti_memset, version);
	sizes[CUPTI_KIND_RUNTIME] = UP_TO(cupti_api, return_value);
	sizes[CUPTI_KIND_DRIVER] = UP_TO(cupti_api, return_value);
	sizes[CUPTI_KIND_SYNCHRONIZATION] = UP_TO(cupti_sync, event_id);
	sizes[CUPTI_KIND_CUDA_EVENT] = version >= CUPTI_SINCE_12_8
					       ? UP_TO(cupti_event, device_timestamp)
					       : UP_TO(cupti_event, event_id);
	sizes[CUPTI_KIND_OVERHEAD] = UP_TO(cupti_overhead, end);
	sizes[CUPTI_KIND_EXTERNAL_CORRELATION] = UP_TO(cupti_external, correlation_id);
	sizes[CUPTI_KIND_GRAPH_TRACE] = UP_TO(cupti_graph, stream_id);
	sizes[CUPTI_KIND_UNIFIED_MEMORY_COUNTER] = UP_TO(cupti_unified, flags);
	sizes[CUPTI_KIND_DEVICE] = UP_TO(cupti_device, name);
	sizes[CUPTI_KIND_CONTEXT] = UP_TO(cupti_context, device_id);
}

static void decode(const struct cupti_record *record)
{
	const void *from = record;

	switch (record->kind) {
	case CUPTI_KIND_KERNEL:
	case CUPTI_KIND_CONCURRENT_KERNEL:
		ky_decode_kernel(&batch, from);
		break;
	case CUPTI_KIND_MEMCPY:
		ky_decode_copy(&batch, from);
		break;
	case CUPTI_KIND_MEMCPY_PEER:
		ky_decode_peer(&batch, from);
		break;
	case CUPTI_KIND_MEMSET:
		ky_decode_fill(&batch, from);
		break;
	case CUPTI_KIND_RUNTIME:
	case CUPTI_KIND_DRIVER:
		ky_decode_call(&batch, from);
		break;
	case CUPTI_KIND_SYNCHRONIZATION:
		ky_decode_sync(&batch, from);
		break;
	case CUPTI_KIND_CUDA_EVENT:
		ky_decode_event(&batch, from);
		break;
	case CUPTI_KIND_OVERHEAD:
		ky_decode_overhead(&batch, from);
		break;
	case CUPTI_KIND_EXTERNAL_CORRELATION:
		ky_decode_external(&batch, from);
		break;
	case CUPTI_KIND_GRAPH_TRACE:
		ky_decode_graph(&batch, from);
		break;
	case CUPTI_KIND_UNIFIED_MEMORY_COUNTER:
		ky_decode_unified(&batch, from);
		break;
	default: /* devices and contexts: see learn */
		break;
	}
}

static void learn(const struct cupti_record *record)
{
	const void *from = record;

	if (record->kind == CUPTI_KIND_DEVICE) {
		if (ky_place_learn_device(from))
			ky_kernel_forget();
		has_seen_devices = 1;
	} else if (record->kind == CUPTI_KIND_CONTEXT) {
		const struct cupti_context *context = from;

		ky_place_learn_context(context->context_id, context->device_id);
	}
}

/*
 * The next record that lies in the buffer behind the last one, with its size at least as
 * known here. NULL at the end, and where what comes is none: then `is_broken` is set.
 */
static struct cupti_record *next(uint8_t *buffer, size_t size, struct cupti_record *last,
				 struct ky_decoded *result)
{
	struct cupti_record *record = last;
	const int32_t rc = ky_source.library.ActivityGetNextRecord(buffer, size, &record);
	const uint8_t *at = (const uint8_t *)record, *end = buffer + size;

	if (rc == CUPTI_RC_MAX_LIMIT_REACHED)
		return NULL;
	if (rc != CUPTI_RC_SUCCESS || at < buffer || (last && record <= last) ||
	    at > end || (size_t)(end - at) < sizeof(*record) ||
	    ((uintptr_t)at & 7) != 0 ||
	    (record->kind < KINDS && (size_t)(end - at) < sizes[record->kind])) {
		result->is_broken = 1;
		return NULL;
	}
	return record;
}

/* Devices and contexts may stand behind the kernels that were run on them. */
static void look_for_devices(uint8_t *buffer, size_t size)
{
	struct cupti_record *record = NULL;
	struct ky_decoded result = {0};

	while ((record = next(buffer, size, record, &result)))
		learn(record);
}

struct ky_decoded ky_decode_buffer(uint8_t *buffer, size_t size, uint64_t earliest,
				   uint64_t now)
{
	struct cupti_record *record = NULL;
	struct ky_decoded result = {0};

	batch.buffer++;
	batch.earliest = earliest;
	batch.now = now;
	if (!has_seen_devices)
		look_for_devices(buffer, size);
	while ((record = next(buffer, size, record, &result))) {
		result.records++;
		if (KYMO_UNLIKELY(record->kind >= KINDS || sizes[record->kind] == 0))
			result.unknown = record->kind;
		else if (KYMO_UNLIKELY(record->kind == CUPTI_KIND_DEVICE ||
				       record->kind == CUPTI_KIND_CONTEXT))
			learn(record);
		else
			decode(record);
	}
	ky_batch_emit(&batch);
	return result;
}

uint32_t ky_decode_count(uint8_t *buffer, size_t size)
{
	struct cupti_record *record = NULL;
	struct ky_decoded result = {0};

	while ((record = next(buffer, size, record, &result)))
		result.records++;
	return result.records + result.is_broken;
}

void ky_decode_begin(uint32_t version, int threads_are_system)
{
	batch.version = version;
	batch.used = 0;
	has_seen_devices = 0;
	learn_sizes(version);
	ky_name_forget();
	ky_call_forget();
	ky_event_forget();
	ky_place_begin(threads_are_system);
}

void ky_decode_settle(uint64_t until)
{
	ky_call_end(&batch, until);
	ky_batch_emit(&batch);
}

void ky_decode_end(void)
{
	ky_call_end(&batch, UINT64_MAX);
	ky_event_end(&batch);
	ky_batch_emit(&batch);
}
