/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the cuda source knows of CUPTI's binary interface, versions 11.0 to 13.5: no
 * header of the vendor is needed to build it, and one binary serves all of them.
 *
 * Records only ever grew at their end, so one struct describes each kind in all versions:
 * the fields up to the last one that is read here. What an older version does not have
 * yet is marked with the first one that has it (CUPTI_SINCE_*) and read only if
 * cuptiGetVersion() says so. Sizes of records are not known here:
 * cuptiActivityGetNextRecord knows them. tests/cuda pins every field against the vendor's
 * headers.
 */
#ifndef KYMO_CUDA_CUPTI_H
#define KYMO_CUDA_CUPTI_H

#include <stddef.h>
#include <stdint.h>

/* What cuptiGetVersion() says; from 13.0 on major * 10000 + minor * 100 + update. */
#define CUPTI_SINCE_11_0 13u
#define CUPTI_SINCE_11_1 14u
#define CUPTI_SINCE_11_2 15u
#define CUPTI_SINCE_11_6 17u
#define CUPTI_SINCE_11_8 18u
#define CUPTI_SINCE_12_0 19u
#define CUPTI_SINCE_12_8 26u
#define CUPTI_SINCE_13_0 130000u
#define CUPTI_SINCE_13_1 130100u

/* Results. */
#define CUPTI_RC_SUCCESS                0
#define CUPTI_RC_INVALID_PARAMETER      1
#define CUPTI_RC_INVALID_OPERATION      7
#define CUPTI_RC_MAX_LIMIT_REACHED      12
#define CUPTI_RC_NOT_COMPATIBLE         14
#define CUPTI_RC_NOT_INITIALIZED        15
#define CUPTI_RC_QUEUE_EMPTY            18
#define CUPTI_RC_INVALID_KIND           21
#define CUPTI_RC_NOT_SUPPORTED          27
#define CUPTI_RC_VIRTUALIZED            33
#define CUPTI_RC_PRIVILEGES             35
#define CUPTI_RC_LEGACY_UNSUPPORTED     38
#define CUPTI_RC_MULTIPLE_SUBSCRIBERS   39
#define CUPTI_RC_VIRTUALIZED_PRIVILEGES 40
#define CUPTI_RC_CONFIDENTIAL           41
#define CUPTI_RC_UNKNOWN                999

/* Kinds of activity records. */
#define CUPTI_KIND_MEMCPY                 1u
#define CUPTI_KIND_MEMSET                 2u
#define CUPTI_KIND_KERNEL                 3u
#define CUPTI_KIND_DRIVER                 4u
#define CUPTI_KIND_RUNTIME                5u
#define CUPTI_KIND_DEVICE                 8u
#define CUPTI_KIND_CONTEXT                9u
#define CUPTI_KIND_CONCURRENT_KERNEL      10u
#define CUPTI_KIND_OVERHEAD               17u
#define CUPTI_KIND_MEMCPY_PEER            22u /* the vendor's MEMCPY2 */
#define CUPTI_KIND_UNIFIED_MEMORY_COUNTER 25u
#define CUPTI_KIND_CUDA_EVENT             36u
#define CUPTI_KIND_SYNCHRONIZATION        38u
#define CUPTI_KIND_EXTERNAL_CORRELATION   39u
#define CUPTI_KIND_GRAPH_TRACE            51u

/* Kinds of copies, of memory, of channels. */
#define CUPTI_COPY_HTOD 1u
#define CUPTI_COPY_DTOH 2u
#define CUPTI_COPY_HTOA 3u
#define CUPTI_COPY_ATOH 4u
#define CUPTI_COPY_ATOA 5u
#define CUPTI_COPY_ATOD 6u
#define CUPTI_COPY_DTOA 7u
#define CUPTI_COPY_DTOD 8u
#define CUPTI_COPY_HTOH 9u
#define CUPTI_COPY_PTOP 10u

#define CUPTI_MEMORY_PAGEABLE       1u
#define CUPTI_MEMORY_PINNED         2u
#define CUPTI_MEMORY_DEVICE         3u
#define CUPTI_MEMORY_ARRAY          4u
#define CUPTI_MEMORY_MANAGED        5u
#define CUPTI_MEMORY_DEVICE_STATIC  6u
#define CUPTI_MEMORY_MANAGED_STATIC 7u

#define CUPTI_CHANNEL_COMPUTE      1u
#define CUPTI_CHANNEL_ASYNC_MEMCPY 2u

#define CUPTI_NOT_APPLICABLE                                      \
	0xffffffffu /* a stream or an event that there is none of \
		     */

/* Kinds of waits. */
#define CUPTI_SYNC_EVENT       1u
#define CUPTI_SYNC_STREAM_WAIT 2u
#define CUPTI_SYNC_STREAM      3u
#define CUPTI_SYNC_CONTEXT     4u

/* Kinds of overhead, and of what it happened to. */
#define CUPTI_OVERHEAD_DRIVER_COMPILER         1u
#define CUPTI_OVERHEAD_BUFFER_FLUSH            (1u << 16)
#define CUPTI_OVERHEAD_INSTRUMENTATION         (2u << 16)
#define CUPTI_OVERHEAD_RESOURCE                (3u << 16)
#define CUPTI_OVERHEAD_MODULE_LOADING          (4u << 16)
#define CUPTI_OVERHEAD_FUNCTION_LOADING        (5u << 16)
#define CUPTI_OVERHEAD_COMMAND_BUFFER_FULL     (6u << 16)
#define CUPTI_OVERHEAD_ACTIVITY_BUFFER_REQUEST (7u << 16)
#define CUPTI_OVERHEAD_UVM_ACTIVITY_INIT       (8u << 16)

#define CUPTI_OBJECT_PROCESS 1u
#define CUPTI_OBJECT_THREAD  2u
#define CUPTI_OBJECT_DEVICE  3u
#define CUPTI_OBJECT_CONTEXT 4u
#define CUPTI_OBJECT_STREAM  5u

/* External correlation: what a source of ids is called there. */
#define CUPTI_EXTERNAL_CUSTOM0 3u
#define CUPTI_EXTERNAL_CUSTOM1 4u
#define CUPTI_EXTERNAL_CUSTOM2 5u

/* Kinds and scopes of unified memory counters. */
#define CUPTI_UVM_BYTES_HTOD       1u
#define CUPTI_UVM_BYTES_DTOH       2u
#define CUPTI_UVM_CPU_PAGE_FAULT   3u
#define CUPTI_UVM_GPU_PAGE_FAULT   4u
#define CUPTI_UVM_THRASHING        5u
#define CUPTI_UVM_THROTTLING       6u
#define CUPTI_UVM_REMOTE_MAP       7u
#define CUPTI_UVM_BYTES_DTOD       8u
#define CUPTI_UVM_SCOPE_ALL        2u
#define CUPTI_FLUSH_FORCED         1u
#define CUPTI_THREAD_ID_SYSTEM     1u
#define CUPTI_DOMAIN_DRIVER        1u
#define CUPTI_DOMAIN_RUNTIME       2u
#define CUPTI_DOMAIN_RESOURCE      3u
#define CUPTI_CONTEXT_CREATED      1u
#define CUPTI_OLD_SUBSCRIBER_BYTES 64u

/* What each record begins with. */
struct cupti_record {
	uint32_t kind;
};

/* KERNEL, CONCURRENT_KERNEL */
struct cupti_kernel {
	uint32_t kind;
	uint8_t cache_config, shared_memory_config;
	uint16_t registers_per_thread;
	uint32_t partitioned_requested, partitioned_executed;
	uint64_t start, end, completed;
	uint32_t device_id, context_id, stream_id;
	int32_t grid_x, grid_y, grid_z, block_x, block_y, block_z;
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation_id;
	int64_t grid_id;
	const char *name;
	void *reserved0;
	uint64_t queued, submitted;
	uint8_t launch_type, carveout_requested, carveout, padding;
	uint32_t shared_executed;
	uint64_t graph_node_id; /* since 11.0 */
	uint32_t shared_limit_config;
	uint32_t graph_id;   /* since 11.1 */
	void *access_policy; /* since 11.2 */
	uint32_t channel_id; /* since 11.6 */
	uint32_t channel_type;
	uint32_t cluster_x, cluster_y, cluster_z, cluster_policy; /* since 11.8 */
	uint64_t local_total_v2;
	uint32_t max_potential_cluster_size, max_active_clusters; /* since 12.0 */
	uint8_t device_launched;                                  /* since 13.0 */
	uint8_t padding3[7];
	int32_t priority; /* since 13.1 */
};

/* MEMCPY */
struct cupti_memcpy {
	uint32_t kind;
	uint8_t copy_kind, src_kind, dst_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device_id, context_id, stream_id;
	uint32_t correlation_id, runtime_correlation_id;
	uint32_t pad;
	void *reserved0;
	uint64_t graph_node_id; /* since 11.0 */
	uint32_t graph_id;      /* since 11.1 */
	uint32_t channel_id;    /* since 11.6 */
	uint32_t channel_type;
};

/* MEMCPY2: between devices */
struct cupti_memcpy_peer {
	uint32_t kind;
	uint8_t copy_kind, src_kind, dst_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device_id, context_id, stream_id;
	uint32_t src_device_id, src_context_id, dst_device_id, dst_context_id;
	uint32_t correlation_id;
	void *reserved0;
	uint64_t graph_node_id; /* since 11.0 */
	uint32_t graph_id;      /* since 11.1 */
	uint32_t channel_id;    /* since 11.6 */
	uint32_t channel_type;
};

/* MEMSET */
struct cupti_memset {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes, start, end;
	uint32_t device_id, context_id, stream_id;
	uint32_t correlation_id;
	uint16_t flags, memory_kind;
	uint32_t pad;
	void *reserved0;
	uint64_t graph_node_id; /* since 11.0 */
	uint32_t graph_id;      /* since 11.1 */
	uint32_t channel_id;    /* since 11.6 */
	uint32_t channel_type;
};

/* RUNTIME, DRIVER */
struct cupti_api {
	uint32_t kind;
	uint32_t cbid;
	uint64_t start, end;
	uint32_t process_id, thread_id;
	uint32_t correlation_id;
	uint32_t return_value;
};

/* SYNCHRONIZATION */
struct cupti_sync {
	uint32_t kind;
	uint32_t type;
	uint64_t start, end;
	uint32_t correlation_id, context_id, stream_id, event_id;
	uint64_t event_sync_id; /* since 12.8 */
	uint32_t return_value;
};

/* CUDA_EVENT */
struct cupti_event {
	uint32_t kind;
	uint32_t correlation_id, context_id, stream_id, event_id;
	uint32_t pad;
	uint32_t device_id; /* since 12.8 */
	uint32_t pad2;
	void *reserved0;
	uint64_t device_timestamp, event_sync_id;
};

/* OVERHEAD */
struct cupti_overhead {
	uint32_t kind;
	uint32_t overhead_kind;
	uint32_t object_kind;
	union {
		struct {
			uint32_t process_id, thread_id;
		} thread;
		struct {
			uint32_t device_id, context_id, stream_id;
		} stream;
	} object;
	uint64_t start, end;
	uint32_t correlation_id; /* since 12.8 at the latest */
};

/* EXTERNAL_CORRELATION */
struct cupti_external {
	uint32_t kind;
	uint32_t external_kind;
	uint64_t external_id;
	uint32_t correlation_id;
	uint32_t reserved;
};

/* GRAPH_TRACE: one launch of a whole graph; since 11.6 */
struct cupti_graph {
	uint32_t kind;
	uint32_t correlation_id;
	uint64_t start, end;
	uint32_t device_id, graph_id, context_id, stream_id;
};

/* UNIFIED_MEMORY_COUNTER */
struct cupti_unified {
	uint32_t kind;
	uint32_t counter_kind;
	uint64_t value, start, end, address;
	uint32_t src_id, dst_id, stream_id, process_id;
	uint32_t flags, pad;
};

/* DEVICE */
struct cupti_device {
	uint32_t kind;
	uint32_t flags;
	uint64_t global_bandwidth, global_size; /* kilobytes a second; bytes */
	uint32_t constant_size, l2_size, threads_per_warp, clock_khz;
	uint32_t copy_engines, multiprocessors, max_ipc, max_warps_per_sm,
		max_blocks_per_sm;
	uint32_t max_shared_per_sm, max_registers_per_sm, max_registers_per_block;
	uint32_t max_shared_per_block, max_threads_per_block;
	uint32_t max_block_x, max_block_y, max_block_z, max_grid_x, max_grid_y,
		max_grid_z;
	uint32_t compute_major, compute_minor;
	uint32_t id;
	uint32_t ecc;
	uint8_t uuid[16];
	const char *name;
};

/* CONTEXT */
struct cupti_context {
	uint32_t kind;
	uint32_t context_id, device_id;
	uint16_t api_kind, null_stream_id;
};

/* cuptiActivityConfigureUnifiedMemoryCounter() */
struct cupti_unified_config {
	uint32_t scope, kind, device_id, enable;
};

/* cuptiSubscribe_v2(), 13.0 and later: the only one that says who was there before */
struct cupti_subscriber_params {
	size_t struct_size;
	const char *name;
	char *old_name;
	size_t old_size;
	uint8_t allow_multiple;
	uint8_t padding[7];
};

/* Of callbacks in the domain of resources. */
struct cupti_resource_data {
	void *context;
};

/* Functions. Contexts and subscribers are handles that are passed on as they came. */
typedef void (*cupti_request_fn)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*cupti_complete_fn)(void *context, uint32_t stream, uint8_t *buffer,
				  size_t size, size_t valid);
typedef uint64_t (*cupti_timestamp_fn)(void);
typedef void (*cupti_callback_fn)(void *user, uint32_t domain, uint32_t cbid,
				  const void *data);

typedef int32_t (*cuptiGetVersion_fn)(uint32_t *version);
typedef int32_t (*cuptiGetTimestamp_fn)(uint64_t *time);
typedef int32_t (*cuptiGetDeviceId_fn)(void *context, uint32_t *id);
typedef int32_t (*cuptiGetResultString_fn)(int32_t result, const char **text);
typedef int32_t (*cuptiGetCallbackName_fn)(uint32_t domain, uint32_t cbid,
					   const char **name);
typedef int32_t (*cuptiSubscribe_fn)(void **subscriber, cupti_callback_fn callback,
				     void *user);
typedef int32_t (*cuptiSubscribe_v2_fn)(void **subscriber, cupti_callback_fn callback,
					void *user,
					struct cupti_subscriber_params *params);
typedef int32_t (*cuptiUnsubscribe_fn)(void *subscriber);
typedef int32_t (*cuptiEnableCallback_fn)(uint32_t enable, void *subscriber,
					  uint32_t domain, uint32_t cbid);
typedef int32_t (*cuptiFinalize_fn)(void);
typedef int32_t (*cuptiActivityRegisterCallbacks_fn)(cupti_request_fn request,
						     cupti_complete_fn complete);
typedef int32_t (*cuptiActivityRegisterTimestampCallback_fn)(cupti_timestamp_fn now);
typedef int32_t (*cuptiActivityEnable_fn)(uint32_t kind);
typedef int32_t (*cuptiActivityEnableAndDump_fn)(uint32_t kind);
typedef int32_t (*cuptiActivityDisable_fn)(uint32_t kind);
typedef int32_t (*cuptiActivityFlushAll_fn)(uint32_t flags);
typedef int32_t (*cuptiActivityGetNextRecord_fn)(uint8_t *buffer, size_t valid,
						 struct cupti_record **record);
typedef int32_t (*cuptiActivityGetNumDroppedRecords_fn)(void *context, uint32_t stream,
							size_t *dropped);
typedef int32_t (*cuptiActivityPushExternalCorrelationId_fn)(uint32_t kind, uint64_t id);
typedef int32_t (*cuptiActivityPopExternalCorrelationId_fn)(uint32_t kind,
							    uint64_t *last);
typedef int32_t (*cuptiActivityEnableLatencyTimestamps_fn)(uint8_t enable);
typedef int32_t (*cuptiActivityEnableCudaEventDeviceTimestamps_fn)(uint8_t enable);
typedef int32_t (*cuptiActivityConfigureUnifiedMemoryCounter_fn)(
	struct cupti_unified_config *config, uint32_t count);
typedef int32_t (*cuptiSetThreadIdType_fn)(uint32_t type);

#endif
