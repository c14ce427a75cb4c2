/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills records, in the layouts of the version that this is compiled for. Values that the
 * driver does not know are made of the command's, so that a test can tell them. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "standin.h"

#define KIND(name) CUPTI_ACTIVITY_KIND_##name

static const size_t sizes[STANDIN_KINDS] = {
	[KIND(MEMCPY)] = sizeof(standin_memcpy),
	[KIND(MEMSET)] = sizeof(standin_set),
	[KIND(KERNEL)] = sizeof(standin_kernel),
	[KIND(DRIVER)] = sizeof(CUpti_ActivityAPI),
	[KIND(RUNTIME)] = sizeof(CUpti_ActivityAPI),
	[KIND(DEVICE)] = sizeof(standin_device),
	[KIND(CONTEXT)] = sizeof(standin_context),
	[KIND(CONCURRENT_KERNEL)] = sizeof(standin_kernel),
	[KIND(OVERHEAD)] = sizeof(standin_overhead),
	[KIND(MEMCPY2)] = sizeof(standin_peer),
	[KIND(UNIFIED_MEMORY_COUNTER)] = sizeof(standin_uvm),
	[KIND(CUDA_EVENT)] = sizeof(standin_event),
	[KIND(STREAM)] = sizeof(CUpti_ActivityStream),
	[KIND(SYNCHRONIZATION)] = sizeof(standin_sync),
	[KIND(EXTERNAL_CORRELATION)] = sizeof(CUpti_ActivityExternalCorrelation),
	[KIND(GRAPH_TRACE)] = sizeof(standin_graph),
};

size_t standin_record_size(uint32_t kind)
{
	if (kind >= STANDIN_UNKNOWN_KIND)
		return kind - STANDIN_UNKNOWN_KIND;
	return kind < STANDIN_KINDS ? sizes[kind] : 0;
}

#define TIMES_OF(type)                                     \
	do {                                               \
		*begin = &((type *)(void *)record)->start; \
		*end = &((type *)(void *)record)->end;     \
		return 1;                                  \
	} while (0)

int standin_device_times(CUpti_Activity *record, uint64_t **begin, uint64_t **end)
{
	switch ((uint32_t)record->kind) {
	case KIND(KERNEL):
	case KIND(CONCURRENT_KERNEL):
		TIMES_OF(standin_kernel);
	case KIND(MEMCPY):
		TIMES_OF(standin_memcpy);
	case KIND(MEMCPY2):
		TIMES_OF(standin_peer);
	case KIND(MEMSET):
		TIMES_OF(standin_set);
	case KIND(GRAPH_TRACE):
		TIMES_OF(standin_graph);
	default:
		return 0;
	}
}

/* A record if its kind is wanted and there is room; else NULL. */
static void *begin_record(enum standin_queue queue, uint32_t kind)
{
	CUpti_Activity *record;

	if (!standin.enabled[kind])
		return NULL;
	record = standin_reserve(queue, sizes[kind]);
	if (record)
		record->kind = (CUpti_ActivityKind)kind;
	return record;
}

static uint64_t from_driver(uint64_t ns)
{
	return ns + (uint64_t)standin.device_offset;
}

/* ---- Calls ---- */

static uint32_t thread_number(void)
{
	if (standin.thread_id_type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)
		return (uint32_t)syscall(SYS_gettid);
	return (uint32_t)(uintptr_t)pthread_self();
}

void standin_write_call(const struct stub_call *call, uint64_t end)
{
	uint32_t kind = call->api == STUB_DRIVER ? KIND(DRIVER) : KIND(RUNTIME);
	CUpti_ActivityAPI *record = begin_record(STANDIN_HOST, kind);

	if (!record)
		return;
	record->cbid = standin_call_number(call->api, call->name);
	record->start = call->begin;
	record->end = end;
	record->processId = (uint32_t)getpid();
	record->threadId = thread_number();
	record->correlationId = call->correlation;
	record->returnValue = (uint32_t)call->result;
}

/* ---- Commands ---- */

static uint32_t kernel_kind(void)
{
	return standin.enabled[KIND(CONCURRENT_KERNEL)] ? KIND(CONCURRENT_KERNEL)
							: KIND(KERNEL);
}

static int take_one(uint32_t *left)
{
	if (!*left)
		return 0;
	--*left;
	return 1;
}

static void spoil_kernel(standin_kernel *record)
{
	uint64_t begin = record->start;

	if (take_one(&standin.faults.zero)) {
		record->start = record->end = 0;
	} else if (take_one(&standin.faults.reversed)) {
		record->start = record->end;
		record->end = begin;
	} else if (take_one(&standin.faults.endless)) {
		record->end = 0;
	}
	if (take_one(&standin.faults.nameless))
		record->name = NULL;
}

static void fill_kernel_numbers(standin_kernel *record, const struct stub_work *work)
{
	record->cacheConfig.config.requested = 1;
	record->cacheConfig.config.executed = 2;
	record->sharedMemoryConfig = 1;
	record->registersPerThread = 32;
	record->staticSharedMemory = 1024;
	record->localMemoryPerThread = 16;
	record->localMemoryTotal = 4096;
	record->gridId = work->stream * INT64_C(1000) + 1;
	record->launchType = CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR;
	record->sharedMemoryExecuted = 8192;
	record->channelID = 5;
	record->channelType = CUPTI_CHANNEL_TYPE_COMPUTE;
	record->clusterX = 2;
	record->clusterY = record->clusterZ = 1;
	record->localMemoryTotal_v2 = UINT64_C(5) << 32;
#if STANDIN_HAS_12
	record->maxPotentialClusterSize = 8;
	record->maxActiveClusters = 4;
#endif
}

static void write_kernel(const struct stub_call *call, const struct stub_work *work)
{
	standin_kernel *record;

	if (standin.enabled[kernel_kind()] && take_one(&standin.faults.drop)) {
		standin_reserve(STANDIN_DEVICE, SIZE_MAX / 2);
		return;
	}
	record = begin_record(STANDIN_DEVICE, kernel_kind());
	if (!record)
		return;
	record->start = from_driver(work->begin);
	record->end = from_driver(work->end);
	record->completed = 0; /* of CDP parents only */
	record->deviceId = work->device;
	record->contextId = work->context;
	record->streamId = work->stream;
	record->gridX = (int32_t)work->grid[0];
	record->gridY = (int32_t)work->grid[1];
	record->gridZ = (int32_t)work->grid[2];
	record->blockX = (int32_t)work->block[0];
	record->blockY = (int32_t)work->block[1];
	record->blockZ = (int32_t)work->block[2];
	record->dynamicSharedMemory = (int32_t)work->shared_memory;
	record->correlationId = call->correlation;
	record->name = work->name;
	if (standin.latency_timestamps) {
		record->queued = record->start - 1500;
		record->submitted = record->start - 500;
	}
	record->graphId = work->graph;
	record->graphNodeId = work->node;
	fill_kernel_numbers(record, work);
	spoil_kernel(record);
}

static uint8_t copy_kind(const struct stub_work *work)
{
	if (work->from != STUB_DEVICE_MEMORY)
		return CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
	return work->to == STUB_DEVICE_MEMORY ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOD
					      : CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
}

static void write_copy(const struct stub_call *call, const struct stub_work *work)
{
	standin_memcpy *record = begin_record(STANDIN_DEVICE, KIND(MEMCPY));

	if (!record)
		return;
	record->copyKind = copy_kind(work);
	record->srcKind = (uint8_t)work->from;
	record->dstKind = (uint8_t)work->to;
	record->flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
	record->bytes = work->bytes;
	record->start = from_driver(work->begin);
	record->end = from_driver(work->end);
	record->deviceId = work->device;
	record->contextId = work->context;
	record->streamId = work->stream;
	record->correlationId = call->correlation;
	if (call->outer)
		record->runtimeCorrelationId = call->outer->correlation;
	record->graphId = work->graph;
	record->graphNodeId = work->node;
	record->channelID = 6;
	record->channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
#if STANDIN_HAS_12
	record->copyCount = 1;
#endif
}

static void write_peer(const struct stub_call *call, const struct stub_work *work)
{
	standin_peer *record = begin_record(STANDIN_DEVICE, KIND(MEMCPY2));

	if (!record)
		return;
	record->copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
	record->srcKind = record->dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	record->flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
	record->bytes = work->bytes;
	record->start = from_driver(work->begin);
	record->end = from_driver(work->end);
	record->deviceId = work->device;
	record->contextId = work->context;
	record->streamId = work->stream;
	record->srcDeviceId = work->from_device;
	record->srcContextId = work->from_context;
	record->dstDeviceId = work->to_device;
	record->dstContextId = work->to_context;
	record->correlationId = call->correlation;
	record->graphId = work->graph;
	record->graphNodeId = work->node;
}

static void write_set(const struct stub_call *call, const struct stub_work *work)
{
	standin_set *record = begin_record(STANDIN_DEVICE, KIND(MEMSET));

	if (!record)
		return;
	record->value = work->value;
	record->bytes = work->bytes;
	record->start = from_driver(work->begin);
	record->end = from_driver(work->end);
	record->deviceId = work->device;
	record->contextId = work->context;
	record->streamId = work->stream;
	record->correlationId = call->correlation;
	record->flags = CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC;
	record->memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	record->graphId = work->graph;
	record->graphNodeId = work->node;
}

static void write_event(const struct stub_call *call, const struct stub_work *work)
{
	standin_event *record = begin_record(STANDIN_HOST, KIND(CUDA_EVENT));

	if (!record)
		return;
	record->correlationId = call->correlation;
	record->contextId = work->context;
	record->streamId = work->stream;
	record->eventId = work->value;
#if STANDIN_HAS_12
	record->deviceId = work->device;
	record->cudaEventSyncId = work->value;
#endif
}

static void write_graph(const struct stub_call *call, const struct stub_work *work)
{
	standin_graph *record = begin_record(STANDIN_DEVICE, KIND(GRAPH_TRACE));

	if (!record)
		return;
	record->correlationId = call->correlation;
	record->start = from_driver(work->begin);
	record->end = from_driver(work->end);
	record->deviceId = work->device;
	record->graphId = work->graph;
	record->contextId = work->context;
	record->streamId = work->stream;
#if STANDIN_HAS_12
	record->endDeviceId = work->device;
	record->endContextId = work->context;
#endif
}

void standin_write_work(const struct stub_call *call, const struct stub_work *work)
{
	static void (*const writers[STUB_WORK_KINDS])(const struct stub_call *,
						      const struct stub_work *) = {
		[STUB_KERNEL] = write_kernel, [STUB_COPY] = write_copy,
		[STUB_PEER] = write_peer,     [STUB_SET] = write_set,
		[STUB_EVENT] = write_event,   [STUB_GRAPH] = write_graph,
	};
	int is_node = work->graph && work->kind != STUB_GRAPH;

	/* Where whole graphs are traced, their nodes are not. */
	if (!is_node || !standin.enabled[KIND(GRAPH_TRACE)])
		writers[work->kind](call, work);
}

/* ---- The rest ---- */

void standin_write_sync(const struct stub_call *call, const struct stub_sync *sync)
{
	standin_sync *record = begin_record(STANDIN_HOST, KIND(SYNCHRONIZATION));

	if (!record)
		return;
	record->type = (CUpti_ActivitySynchronizationType)sync->kind;
	record->start = from_driver(sync->begin);
	record->end = from_driver(sync->end);
	record->correlationId = call->correlation;
	record->contextId = sync->context;
	record->streamId = sync->stream;
	record->cudaEventId = sync->event;
#if STANDIN_HAS_12
	record->cudaEventSyncId = sync->event;
#endif
}

static void write_device(uint32_t id)
{
	static const char *const names[] = {"Stand-in 0", "Stand-in 1", "Stand-in 2",
					    "Stand-in 3", "Stand-in 4", "Stand-in 5",
					    "Stand-in 6", "Stand-in 7"};
	standin_device *record = begin_record(STANDIN_HOST, KIND(DEVICE));

	if (!record)
		return;
	record->globalMemoryBandwidth = 3352320000;
	record->globalMemorySize = UINT64_C(80) << 30;
	record->constantMemorySize = 65536;
	record->l2CacheSize = 50 << 20;
	record->numThreadsPerWarp = 32;
	record->coreClockRate = 1980000;
	record->numMemcpyEngines = 3;
	record->numMultiprocessors = 132;
	record->maxWarpsPerMultiprocessor = 64;
	record->maxBlocksPerMultiprocessor = 32;
	record->maxSharedMemoryPerMultiprocessor = 233472;
	record->maxRegistersPerMultiprocessor = 65536;
	record->maxRegistersPerBlock = 65536;
	record->maxSharedMemoryPerBlock = 49152;
	record->maxThreadsPerBlock = 1024;
	record->computeCapabilityMajor = 9;
	record->id = id;
	record->uuid.bytes[0] = (char)id;
	record->name = names[id % 8];
	record->isCudaVisible = 1;
}

void standin_write_object(const struct stub_object *object)
{
	CUpti_ActivityStream *stream;
	standin_context *context;

	if (object->is_gone)
		return;
	if (object->kind == STUB_DEVICE) {
		write_device(object->device);
	} else if (object->kind == STUB_CONTEXT) {
		context = begin_record(STANDIN_HOST, KIND(CONTEXT));
		if (!context)
			return;
		context->contextId = object->context;
		context->deviceId = object->device;
		context->computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
		context->nullStreamId = 7;
	} else {
		stream = begin_record(STANDIN_HOST, KIND(STREAM));
		if (!stream)
			return;
		stream->contextId = object->context;
		stream->streamId = object->stream;
	}
}

static void write_overhead(uint64_t ns)
{
	standin_overhead *record = begin_record(STANDIN_HOST, KIND(OVERHEAD));

	if (!record)
		return;
	record->overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
	record->objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
	record->objectId.pt.processId = (uint32_t)getpid();
	record->objectId.pt.threadId = thread_number();
	record->end = standin_now();
	record->start = record->end - ns;
}

static void write_uvm(uint64_t bytes)
{
	standin_uvm *record = begin_record(STANDIN_HOST, KIND(UNIFIED_MEMORY_COUNTER));

	if (!record)
		return;
	record->counterKind =
		CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;
	record->value = bytes;
	record->end = standin_now();
	record->start = record->end - 1000;
	record->address = 0x7f0000000000;
	record->srcId = 0;
	record->dstId = 1;
	record->streamId = 7;
	record->processId = (uint32_t)getpid();
}

/* overhead NS, uvm BYTES, unknown SIZE */
void standin_write_words(char **words, int count)
{
	uint64_t number = count > 1 ? strtoull(words[1], NULL, 0) : 0;
	CUpti_Activity *record;

	if (strcmp(words[0], "overhead") == 0) {
		write_overhead(number);
	} else if (strcmp(words[0], "uvm") == 0) {
		write_uvm(number);
	} else if (strcmp(words[0], "unknown") == 0) {
		record = standin_reserve(STANDIN_HOST, number);
		if (record)
			record->kind =
				(CUpti_ActivityKind)(STANDIN_UNKNOWN_KIND + number);
	}
}
