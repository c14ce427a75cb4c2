/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Holds what the plug-in knows of CUPTI's records and numbers against the vendor's
 * headers: compiled once for each major there are headers of, against that major's. Each
 * struct is held against every layout that its kind of record has had since CUPTI 11.0,
 * the old ones of the vendor's header for deprecated ones; a field is held only where the
 * layout has it.
 *
 * All of it happens while it is compiled. Built with -iquote for the plug-in's folder,
 * since the plug-in's header and the vendor's have the same name.
 */
#include <cupti.h> /* the vendor's */
#include <stddef.h>
#include <stdio.h>

#include "cupti.h" /* the plug-in's */

#define SIZE_OF(type, field) sizeof(((type *)0)->field)
#define SAME(ours, our_field, theirs, their_field)                                       \
	_Static_assert(                                                                  \
		offsetof(struct ours, our_field) == offsetof(theirs, their_field) &&     \
			SIZE_OF(struct ours, our_field) == SIZE_OF(theirs, their_field), \
		#ours "." #our_field " is not " #theirs "." #their_field)
#define SIZE(ours, theirs) \
	_Static_assert(sizeof(struct ours) == sizeof(theirs), #ours " is not " #theirs)
#define VALUE(ours, theirs) \
	_Static_assert((uint32_t)(ours) == (uint32_t)(theirs), #ours " is not " #theirs)

/* From CUPTI_API_VERSION on. */
#define IS_12   (CUPTI_API_VERSION >= 19)
#define IS_12_9 (CUPTI_API_VERSION >= 27)
#define IS_13   (CUPTI_API_VERSION >= 130000)
#define IS_13_1 (CUPTI_API_VERSION >= 130100)

/* ---- Kernels ---- */

#define KERNEL(layout)                                                                   \
	SAME(cupti_kernel, kind, layout, kind);                                          \
	SAME(cupti_kernel, cache_config, layout, cacheConfig);                           \
	SAME(cupti_kernel, shared_memory_config, layout, sharedMemoryConfig);            \
	SAME(cupti_kernel, registers_per_thread, layout, registersPerThread);            \
	SAME(cupti_kernel, partitioned_requested, layout,                                \
	     partitionedGlobalCacheRequested);                                           \
	SAME(cupti_kernel, partitioned_executed, layout,                                 \
	     partitionedGlobalCacheExecuted);                                            \
	SAME(cupti_kernel, start, layout, start);                                        \
	SAME(cupti_kernel, end, layout, end);                                            \
	SAME(cupti_kernel, completed, layout, completed);                                \
	SAME(cupti_kernel, device_id, layout, deviceId);                                 \
	SAME(cupti_kernel, context_id, layout, contextId);                               \
	SAME(cupti_kernel, stream_id, layout, streamId);                                 \
	SAME(cupti_kernel, grid_x, layout, gridX);                                       \
	SAME(cupti_kernel, grid_y, layout, gridY);                                       \
	SAME(cupti_kernel, grid_z, layout, gridZ);                                       \
	SAME(cupti_kernel, block_x, layout, blockX);                                     \
	SAME(cupti_kernel, block_y, layout, blockY);                                     \
	SAME(cupti_kernel, block_z, layout, blockZ);                                     \
	SAME(cupti_kernel, static_shared, layout, staticSharedMemory);                   \
	SAME(cupti_kernel, dynamic_shared, layout, dynamicSharedMemory);                 \
	SAME(cupti_kernel, local_per_thread, layout, localMemoryPerThread);              \
	SAME(cupti_kernel, local_total, layout, localMemoryTotal);                       \
	SAME(cupti_kernel, correlation_id, layout, correlationId);                       \
	SAME(cupti_kernel, grid_id, layout, gridId);                                     \
	SAME(cupti_kernel, name, layout, name);                                          \
	SAME(cupti_kernel, reserved0, layout, reserved0);                                \
	SAME(cupti_kernel, queued, layout, queued);                                      \
	SAME(cupti_kernel, submitted, layout, submitted);                                \
	SAME(cupti_kernel, launch_type, layout, launchType);                             \
	SAME(cupti_kernel, carveout_requested, layout, isSharedMemoryCarveoutRequested); \
	SAME(cupti_kernel, carveout, layout, sharedMemoryCarveoutRequested);             \
	SAME(cupti_kernel, shared_executed, layout, sharedMemoryExecuted)

#define KERNEL_GRAPH(layout)                                               \
	SAME(cupti_kernel, graph_node_id, layout, graphNodeId);            \
	SAME(cupti_kernel, shared_limit_config, layout, shmemLimitConfig); \
	SAME(cupti_kernel, graph_id, layout, graphId)

#define KERNEL_CHANNEL(layout)                                          \
	SAME(cupti_kernel, access_policy, layout, pAccessPolicyWindow); \
	SAME(cupti_kernel, channel_id, layout, channelID);              \
	SAME(cupti_kernel, channel_type, layout, channelType)

#define KERNEL_CLUSTER(layout)                                               \
	SAME(cupti_kernel, cluster_x, layout, clusterX);                     \
	SAME(cupti_kernel, cluster_y, layout, clusterY);                     \
	SAME(cupti_kernel, cluster_z, layout, clusterZ);                     \
	SAME(cupti_kernel, cluster_policy, layout, clusterSchedulingPolicy); \
	SAME(cupti_kernel, local_total_v2, layout, localMemoryTotal_v2)

KERNEL(CUpti_ActivityKernel4);
KERNEL(CUpti_ActivityKernel5);
KERNEL_GRAPH(CUpti_ActivityKernel5);
KERNEL(CUpti_ActivityKernel6);
KERNEL_GRAPH(CUpti_ActivityKernel6);
SAME(cupti_kernel, access_policy, CUpti_ActivityKernel6, pAccessPolicyWindow);
KERNEL(CUpti_ActivityKernel7);
KERNEL_GRAPH(CUpti_ActivityKernel7);
KERNEL_CHANNEL(CUpti_ActivityKernel7);

#define KERNEL_8(layout)        \
	KERNEL(layout);         \
	KERNEL_GRAPH(layout);   \
	KERNEL_CHANNEL(layout); \
	KERNEL_CLUSTER(layout)

KERNEL_8(CUpti_ActivityKernel8);
#if IS_12
#define KERNEL_9(layout)                                                                 \
	KERNEL_8(layout);                                                                \
	SAME(cupti_kernel, max_potential_cluster_size, layout, maxPotentialClusterSize); \
	SAME(cupti_kernel, max_active_clusters, layout, maxActiveClusters)

KERNEL_9(CUpti_ActivityKernel9);
#endif
#if IS_13
KERNEL_9(CUpti_ActivityKernel10);
SAME(cupti_kernel, device_launched, CUpti_ActivityKernel10, isDeviceLaunched);
#endif
#if IS_13_1
KERNEL_9(CUpti_ActivityKernel11);
SAME(cupti_kernel, device_launched, CUpti_ActivityKernel11, isDeviceLaunched);
SAME(cupti_kernel, priority, CUpti_ActivityKernel11, priority);
#endif

/* ---- Copies and sets ---- */

#define MEMCPY(layout)                                                            \
	SAME(cupti_memcpy, kind, layout, kind);                                   \
	SAME(cupti_memcpy, copy_kind, layout, copyKind);                          \
	SAME(cupti_memcpy, src_kind, layout, srcKind);                            \
	SAME(cupti_memcpy, dst_kind, layout, dstKind);                            \
	SAME(cupti_memcpy, flags, layout, flags);                                 \
	SAME(cupti_memcpy, bytes, layout, bytes);                                 \
	SAME(cupti_memcpy, start, layout, start);                                 \
	SAME(cupti_memcpy, end, layout, end);                                     \
	SAME(cupti_memcpy, device_id, layout, deviceId);                          \
	SAME(cupti_memcpy, context_id, layout, contextId);                        \
	SAME(cupti_memcpy, stream_id, layout, streamId);                          \
	SAME(cupti_memcpy, correlation_id, layout, correlationId);                \
	SAME(cupti_memcpy, runtime_correlation_id, layout, runtimeCorrelationId); \
	SAME(cupti_memcpy, reserved0, layout, reserved0)

#define PEER(layout)                                                    \
	SAME(cupti_memcpy_peer, kind, layout, kind);                    \
	SAME(cupti_memcpy_peer, copy_kind, layout, copyKind);           \
	SAME(cupti_memcpy_peer, src_kind, layout, srcKind);             \
	SAME(cupti_memcpy_peer, dst_kind, layout, dstKind);             \
	SAME(cupti_memcpy_peer, flags, layout, flags);                  \
	SAME(cupti_memcpy_peer, bytes, layout, bytes);                  \
	SAME(cupti_memcpy_peer, start, layout, start);                  \
	SAME(cupti_memcpy_peer, end, layout, end);                      \
	SAME(cupti_memcpy_peer, device_id, layout, deviceId);           \
	SAME(cupti_memcpy_peer, context_id, layout, contextId);         \
	SAME(cupti_memcpy_peer, stream_id, layout, streamId);           \
	SAME(cupti_memcpy_peer, src_device_id, layout, srcDeviceId);    \
	SAME(cupti_memcpy_peer, src_context_id, layout, srcContextId);  \
	SAME(cupti_memcpy_peer, dst_device_id, layout, dstDeviceId);    \
	SAME(cupti_memcpy_peer, dst_context_id, layout, dstContextId);  \
	SAME(cupti_memcpy_peer, correlation_id, layout, correlationId); \
	SAME(cupti_memcpy_peer, reserved0, layout, reserved0)

#define MEMSET(layout)                                             \
	SAME(cupti_memset, kind, layout, kind);                    \
	SAME(cupti_memset, value, layout, value);                  \
	SAME(cupti_memset, bytes, layout, bytes);                  \
	SAME(cupti_memset, start, layout, start);                  \
	SAME(cupti_memset, end, layout, end);                      \
	SAME(cupti_memset, device_id, layout, deviceId);           \
	SAME(cupti_memset, context_id, layout, contextId);         \
	SAME(cupti_memset, stream_id, layout, streamId);           \
	SAME(cupti_memset, correlation_id, layout, correlationId); \
	SAME(cupti_memset, flags, layout, flags);                  \
	SAME(cupti_memset, memory_kind, layout, memoryKind);       \
	SAME(cupti_memset, reserved0, layout, reserved0)

#define GRAPH(ours, layout)                             \
	SAME(ours, graph_node_id, layout, graphNodeId); \
	SAME(ours, graph_id, layout, graphId)

#define CHANNEL(ours, layout)                      \
	SAME(ours, channel_id, layout, channelID); \
	SAME(ours, channel_type, layout, channelType)

MEMCPY(CUpti_ActivityMemcpy);
MEMCPY(CUpti_ActivityMemcpy3);
SAME(cupti_memcpy, graph_node_id, CUpti_ActivityMemcpy3, graphNodeId);
MEMCPY(CUpti_ActivityMemcpy4);
GRAPH(cupti_memcpy, CUpti_ActivityMemcpy4);
MEMCPY(CUpti_ActivityMemcpy5);
GRAPH(cupti_memcpy, CUpti_ActivityMemcpy5);
CHANNEL(cupti_memcpy, CUpti_ActivityMemcpy5);
PEER(CUpti_ActivityMemcpyPtoP);
PEER(CUpti_ActivityMemcpyPtoP2);
SAME(cupti_memcpy_peer, graph_node_id, CUpti_ActivityMemcpyPtoP2, graphNodeId);
PEER(CUpti_ActivityMemcpyPtoP3);
GRAPH(cupti_memcpy_peer, CUpti_ActivityMemcpyPtoP3);
PEER(CUpti_ActivityMemcpyPtoP4);
GRAPH(cupti_memcpy_peer, CUpti_ActivityMemcpyPtoP4);
CHANNEL(cupti_memcpy_peer, CUpti_ActivityMemcpyPtoP4);
MEMSET(CUpti_ActivityMemset);
MEMSET(CUpti_ActivityMemset2);
SAME(cupti_memset, graph_node_id, CUpti_ActivityMemset2, graphNodeId);
MEMSET(CUpti_ActivityMemset3);
GRAPH(cupti_memset, CUpti_ActivityMemset3);
MEMSET(CUpti_ActivityMemset4);
GRAPH(cupti_memset, CUpti_ActivityMemset4);
CHANNEL(cupti_memset, CUpti_ActivityMemset4);
#if IS_12_9
MEMCPY(CUpti_ActivityMemcpy6);
GRAPH(cupti_memcpy, CUpti_ActivityMemcpy6);
CHANNEL(cupti_memcpy, CUpti_ActivityMemcpy6);
#endif

/* ---- Waits, events, overhead, graphs, unified memory, devices, contexts ---- */

#define SYNC(layout)                                             \
	SAME(cupti_sync, kind, layout, kind);                    \
	SAME(cupti_sync, type, layout, type);                    \
	SAME(cupti_sync, start, layout, start);                  \
	SAME(cupti_sync, end, layout, end);                      \
	SAME(cupti_sync, correlation_id, layout, correlationId); \
	SAME(cupti_sync, context_id, layout, contextId);         \
	SAME(cupti_sync, stream_id, layout, streamId);           \
	SAME(cupti_sync, event_id, layout, cudaEventId)

#define EVENT(layout)                                             \
	SAME(cupti_event, kind, layout, kind);                    \
	SAME(cupti_event, correlation_id, layout, correlationId); \
	SAME(cupti_event, context_id, layout, contextId);         \
	SAME(cupti_event, stream_id, layout, streamId);           \
	SAME(cupti_event, event_id, layout, eventId)

#define OVERHEAD(layout)                                                                \
	SAME(cupti_overhead, kind, layout, kind);                                       \
	SAME(cupti_overhead, overhead_kind, layout, overheadKind);                      \
	SAME(cupti_overhead, object_kind, layout, objectKind);                          \
	SAME(cupti_overhead, object.thread.process_id, layout, objectId.pt.processId);  \
	SAME(cupti_overhead, object.thread.thread_id, layout, objectId.pt.threadId);    \
	SAME(cupti_overhead, object.stream.device_id, layout, objectId.dcs.deviceId);   \
	SAME(cupti_overhead, object.stream.context_id, layout, objectId.dcs.contextId); \
	SAME(cupti_overhead, object.stream.stream_id, layout, objectId.dcs.streamId);   \
	SAME(cupti_overhead, start, layout, start);                                     \
	SAME(cupti_overhead, end, layout, end)

#define GRAPH_TRACE(layout)                                       \
	SAME(cupti_graph, kind, layout, kind);                    \
	SAME(cupti_graph, correlation_id, layout, correlationId); \
	SAME(cupti_graph, start, layout, start);                  \
	SAME(cupti_graph, end, layout, end);                      \
	SAME(cupti_graph, device_id, layout, deviceId);           \
	SAME(cupti_graph, graph_id, layout, graphId);             \
	SAME(cupti_graph, context_id, layout, contextId);         \
	SAME(cupti_graph, stream_id, layout, streamId)

#define UNIFIED(layout)                                         \
	SAME(cupti_unified, kind, layout, kind);                \
	SAME(cupti_unified, counter_kind, layout, counterKind); \
	SAME(cupti_unified, value, layout, value);              \
	SAME(cupti_unified, start, layout, start);              \
	SAME(cupti_unified, end, layout, end);                  \
	SAME(cupti_unified, address, layout, address);          \
	SAME(cupti_unified, src_id, layout, srcId);             \
	SAME(cupti_unified, dst_id, layout, dstId);             \
	SAME(cupti_unified, stream_id, layout, streamId);       \
	SAME(cupti_unified, process_id, layout, processId);     \
	SAME(cupti_unified, flags, layout, flags)

#define DEVICE(layout)                                                                   \
	SAME(cupti_device, kind, layout, kind);                                          \
	SAME(cupti_device, flags, layout, flags);                                        \
	SAME(cupti_device, global_bandwidth, layout, globalMemoryBandwidth);             \
	SAME(cupti_device, global_size, layout, globalMemorySize);                       \
	SAME(cupti_device, constant_size, layout, constantMemorySize);                   \
	SAME(cupti_device, l2_size, layout, l2CacheSize);                                \
	SAME(cupti_device, threads_per_warp, layout, numThreadsPerWarp);                 \
	SAME(cupti_device, clock_khz, layout, coreClockRate);                            \
	SAME(cupti_device, copy_engines, layout, numMemcpyEngines);                      \
	SAME(cupti_device, multiprocessors, layout, numMultiprocessors);                 \
	SAME(cupti_device, max_ipc, layout, maxIPC);                                     \
	SAME(cupti_device, max_warps_per_sm, layout, maxWarpsPerMultiprocessor);         \
	SAME(cupti_device, max_blocks_per_sm, layout, maxBlocksPerMultiprocessor);       \
	SAME(cupti_device, max_shared_per_sm, layout, maxSharedMemoryPerMultiprocessor); \
	SAME(cupti_device, max_registers_per_sm, layout, maxRegistersPerMultiprocessor); \
	SAME(cupti_device, max_registers_per_block, layout, maxRegistersPerBlock);       \
	SAME(cupti_device, max_shared_per_block, layout, maxSharedMemoryPerBlock);       \
	SAME(cupti_device, max_threads_per_block, layout, maxThreadsPerBlock);           \
	SAME(cupti_device, max_block_x, layout, maxBlockDimX);                           \
	SAME(cupti_device, max_block_y, layout, maxBlockDimY);                           \
	SAME(cupti_device, max_block_z, layout, maxBlockDimZ);                           \
	SAME(cupti_device, max_grid_x, layout, maxGridDimX);                             \
	SAME(cupti_device, max_grid_y, layout, maxGridDimY);                             \
	SAME(cupti_device, max_grid_z, layout, maxGridDimZ);                             \
	SAME(cupti_device, compute_major, layout, computeCapabilityMajor);               \
	SAME(cupti_device, compute_minor, layout, computeCapabilityMinor);               \
	SAME(cupti_device, id, layout, id);                                              \
	SAME(cupti_device, ecc, layout, eccEnabled);                                     \
	SAME(cupti_device, uuid, layout, uuid);                                          \
	SAME(cupti_device, name, layout, name)

#define CONTEXT(layout)                                        \
	SAME(cupti_context, kind, layout, kind);               \
	SAME(cupti_context, context_id, layout, contextId);    \
	SAME(cupti_context, device_id, layout, deviceId);      \
	SAME(cupti_context, api_kind, layout, computeApiKind); \
	SAME(cupti_context, null_stream_id, layout, nullStreamId)

SYNC(CUpti_ActivitySynchronization);
EVENT(CUpti_ActivityCudaEvent);
OVERHEAD(CUpti_ActivityOverhead);
GRAPH_TRACE(CUpti_ActivityGraphTrace);
UNIFIED(CUpti_ActivityUnifiedMemoryCounter2);
DEVICE(CUpti_ActivityDevice2);
DEVICE(CUpti_ActivityDevice3);
DEVICE(CUpti_ActivityDevice4);
CONTEXT(CUpti_ActivityContext);
#if IS_12_9
SYNC(CUpti_ActivitySynchronization2);
SAME(cupti_sync, event_sync_id, CUpti_ActivitySynchronization2, cudaEventSyncId);
SAME(cupti_sync, return_value, CUpti_ActivitySynchronization2, returnValue);
EVENT(CUpti_ActivityCudaEvent2);
SAME(cupti_event, device_id, CUpti_ActivityCudaEvent2, deviceId);
SAME(cupti_event, device_timestamp, CUpti_ActivityCudaEvent2, deviceTimestamp);
SAME(cupti_event, event_sync_id, CUpti_ActivityCudaEvent2, cudaEventSyncId);
OVERHEAD(CUpti_ActivityOverhead2);
SAME(cupti_overhead, correlation_id, CUpti_ActivityOverhead2, correlationId);
OVERHEAD(CUpti_ActivityOverhead3);
SAME(cupti_overhead, correlation_id, CUpti_ActivityOverhead3, correlationId);
GRAPH_TRACE(CUpti_ActivityGraphTrace2);
UNIFIED(CUpti_ActivityUnifiedMemoryCounter3);
DEVICE(CUpti_ActivityDevice5);
CONTEXT(CUpti_ActivityContext2);
CONTEXT(CUpti_ActivityContext3);
#endif
#if IS_13_1
MEMCPY(CUpti_ActivityMemcpy7);
GRAPH(cupti_memcpy, CUpti_ActivityMemcpy7);
CHANNEL(cupti_memcpy, CUpti_ActivityMemcpy7);
MEMSET(CUpti_ActivityMemset5);
GRAPH(cupti_memset, CUpti_ActivityMemset5);
CHANNEL(cupti_memset, CUpti_ActivityMemset5);
#endif

/* ---- Those that have had one layout only ---- */

SAME(cupti_api, kind, CUpti_ActivityAPI, kind);
SAME(cupti_api, cbid, CUpti_ActivityAPI, cbid);
SAME(cupti_api, start, CUpti_ActivityAPI, start);
SAME(cupti_api, end, CUpti_ActivityAPI, end);
SAME(cupti_api, process_id, CUpti_ActivityAPI, processId);
SAME(cupti_api, thread_id, CUpti_ActivityAPI, threadId);
SAME(cupti_api, correlation_id, CUpti_ActivityAPI, correlationId);
SAME(cupti_api, return_value, CUpti_ActivityAPI, returnValue);
SIZE(cupti_api, CUpti_ActivityAPI);
SAME(cupti_external, kind, CUpti_ActivityExternalCorrelation, kind);
SAME(cupti_external, external_kind, CUpti_ActivityExternalCorrelation, externalKind);
SAME(cupti_external, external_id, CUpti_ActivityExternalCorrelation, externalId);
SAME(cupti_external, correlation_id, CUpti_ActivityExternalCorrelation, correlationId);
SIZE(cupti_external, CUpti_ActivityExternalCorrelation);
SAME(cupti_unified_config, scope, CUpti_ActivityUnifiedMemoryCounterConfig, scope);
SAME(cupti_unified_config, kind, CUpti_ActivityUnifiedMemoryCounterConfig, kind);
SAME(cupti_unified_config, device_id, CUpti_ActivityUnifiedMemoryCounterConfig, deviceId);
SAME(cupti_unified_config, enable, CUpti_ActivityUnifiedMemoryCounterConfig, enable);
SIZE(cupti_unified_config, CUpti_ActivityUnifiedMemoryCounterConfig);
SAME(cupti_resource_data, context, CUpti_ResourceData, context);
SAME(cupti_record, kind, CUpti_Activity, kind);

#if IS_13
SAME(cupti_subscriber_params, struct_size, CUpti_SubscriberParams, structSize);
SAME(cupti_subscriber_params, name, CUpti_SubscriberParams, subscriberName);
SAME(cupti_subscriber_params, old_name, CUpti_SubscriberParams, oldSubscriberName);
SAME(cupti_subscriber_params, old_size, CUpti_SubscriberParams, oldSubscriberSize);
VALUE(CUPTI_OLD_SUBSCRIBER_BYTES, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);
#endif
#if IS_13_1
SAME(cupti_subscriber_params, allow_multiple, CUpti_SubscriberParams,
     allowMultipleSubscribers);
SIZE(cupti_subscriber_params, CUpti_SubscriberParams);
#endif

/* ---- Numbers ---- */

VALUE(CUPTI_RC_SUCCESS, CUPTI_SUCCESS);
VALUE(CUPTI_RC_INVALID_PARAMETER, CUPTI_ERROR_INVALID_PARAMETER);
VALUE(CUPTI_RC_INVALID_OPERATION, CUPTI_ERROR_INVALID_OPERATION);
VALUE(CUPTI_RC_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
VALUE(CUPTI_RC_NOT_COMPATIBLE, CUPTI_ERROR_NOT_COMPATIBLE);
VALUE(CUPTI_RC_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
VALUE(CUPTI_RC_QUEUE_EMPTY, CUPTI_ERROR_QUEUE_EMPTY);
VALUE(CUPTI_RC_INVALID_KIND, CUPTI_ERROR_INVALID_KIND);
VALUE(CUPTI_RC_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
VALUE(CUPTI_RC_VIRTUALIZED, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
VALUE(CUPTI_RC_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
VALUE(CUPTI_RC_LEGACY_UNSUPPORTED, CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED);
VALUE(CUPTI_RC_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
VALUE(CUPTI_RC_VIRTUALIZED_PRIVILEGES,
      CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
VALUE(CUPTI_RC_UNKNOWN, CUPTI_ERROR_UNKNOWN);
VALUE(CUPTI_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
VALUE(CUPTI_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
VALUE(CUPTI_KIND_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL);
VALUE(CUPTI_KIND_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
VALUE(CUPTI_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
VALUE(CUPTI_KIND_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE);
VALUE(CUPTI_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT);
VALUE(CUPTI_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
VALUE(CUPTI_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
VALUE(CUPTI_KIND_MEMCPY_PEER, CUPTI_ACTIVITY_KIND_MEMCPY2);
VALUE(CUPTI_KIND_UNIFIED_MEMORY_COUNTER, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
VALUE(CUPTI_KIND_CUDA_EVENT, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
VALUE(CUPTI_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
VALUE(CUPTI_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
VALUE(CUPTI_KIND_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
VALUE(CUPTI_COPY_HTOD, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
VALUE(CUPTI_COPY_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
VALUE(CUPTI_COPY_HTOA, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA);
VALUE(CUPTI_COPY_ATOH, CUPTI_ACTIVITY_MEMCPY_KIND_ATOH);
VALUE(CUPTI_COPY_ATOA, CUPTI_ACTIVITY_MEMCPY_KIND_ATOA);
VALUE(CUPTI_COPY_ATOD, CUPTI_ACTIVITY_MEMCPY_KIND_ATOD);
VALUE(CUPTI_COPY_DTOA, CUPTI_ACTIVITY_MEMCPY_KIND_DTOA);
VALUE(CUPTI_COPY_DTOD, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
VALUE(CUPTI_COPY_HTOH, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH);
VALUE(CUPTI_COPY_PTOP, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
VALUE(CUPTI_MEMORY_PAGEABLE, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
VALUE(CUPTI_MEMORY_PINNED, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
VALUE(CUPTI_MEMORY_DEVICE, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
VALUE(CUPTI_MEMORY_ARRAY, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY);
VALUE(CUPTI_MEMORY_MANAGED, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
VALUE(CUPTI_MEMORY_DEVICE_STATIC, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC);
VALUE(CUPTI_MEMORY_MANAGED_STATIC, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC);
VALUE(CUPTI_CHANNEL_COMPUTE, CUPTI_CHANNEL_TYPE_COMPUTE);
VALUE(CUPTI_CHANNEL_ASYNC_MEMCPY, CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY);
VALUE(CUPTI_NOT_APPLICABLE, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
VALUE(CUPTI_SYNC_EVENT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
VALUE(CUPTI_SYNC_STREAM_WAIT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
VALUE(CUPTI_SYNC_STREAM, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
VALUE(CUPTI_SYNC_CONTEXT, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);
VALUE(CUPTI_OVERHEAD_DRIVER_COMPILER, CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER);
VALUE(CUPTI_OVERHEAD_BUFFER_FLUSH, CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH);
VALUE(CUPTI_OVERHEAD_INSTRUMENTATION, CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION);
VALUE(CUPTI_OVERHEAD_RESOURCE, CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE);
VALUE(CUPTI_OBJECT_PROCESS, CUPTI_ACTIVITY_OBJECT_PROCESS);
VALUE(CUPTI_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);
VALUE(CUPTI_OBJECT_DEVICE, CUPTI_ACTIVITY_OBJECT_DEVICE);
VALUE(CUPTI_OBJECT_CONTEXT, CUPTI_ACTIVITY_OBJECT_CONTEXT);
VALUE(CUPTI_OBJECT_STREAM, CUPTI_ACTIVITY_OBJECT_STREAM);
VALUE(CUPTI_EXTERNAL_CUSTOM0, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
VALUE(CUPTI_EXTERNAL_CUSTOM1, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1);
VALUE(CUPTI_EXTERNAL_CUSTOM2, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2);
VALUE(CUPTI_UVM_BYTES_HTOD,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD);
VALUE(CUPTI_UVM_BYTES_DTOH,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH);
VALUE(CUPTI_UVM_CPU_PAGE_FAULT,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT);
VALUE(CUPTI_UVM_GPU_PAGE_FAULT,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT);
VALUE(CUPTI_UVM_THRASHING, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING);
VALUE(CUPTI_UVM_THROTTLING, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING);
VALUE(CUPTI_UVM_REMOTE_MAP, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP);
VALUE(CUPTI_UVM_BYTES_DTOD,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD);
VALUE(CUPTI_UVM_SCOPE_ALL,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES);
VALUE(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
VALUE(CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
VALUE(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
VALUE(CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
VALUE(CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
VALUE(CUPTI_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
#if IS_12_9
VALUE(CUPTI_RC_CONFIDENTIAL, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
VALUE(CUPTI_OVERHEAD_MODULE_LOADING,
      CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING);
VALUE(CUPTI_OVERHEAD_FUNCTION_LOADING, CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING);
VALUE(CUPTI_OVERHEAD_COMMAND_BUFFER_FULL, CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL);
VALUE(CUPTI_OVERHEAD_ACTIVITY_BUFFER_REQUEST,
      CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST);
VALUE(CUPTI_OVERHEAD_UVM_ACTIVITY_INIT, CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT);
#endif

int main(void)
{
	printf("CUPTI_API_VERSION %d: all layouts and numbers agree\n",
	       CUPTI_API_VERSION);
	return 0;
}
