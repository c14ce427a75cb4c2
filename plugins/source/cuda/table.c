/* SPDX-License-Identifier: BSD-3-Clause */
/* What the source declares, as data: types, keys, domains, options, injection. */
#include "table.h"

#include "pm_option.h"

#define SPAN    KYMO_SHAPE_SPAN
#define INSTANT KYMO_SHAPE_INSTANT
#define HOST    KYMO_SIDE_HOST
#define DEVICE  KYMO_SIDE_ACCELERATOR

#define TYPE(type_shapes, type_side, type_name, ...)                                  \
	(&(const struct kymo_type_desc){.struct_size = sizeof(struct kymo_type_desc), \
					.shapes = (type_shapes),                      \
					.side = (type_side),                          \
					.name = (type_name),                          \
					__VA_ARGS__})

#define KEY(key_type, key_name, key_unit, key_help)                                 \
	(&(const struct kymo_key_desc){.struct_size = sizeof(struct kymo_key_desc), \
				       .value_type = KYMO_VALUE_##key_type,         \
				       .name = (key_name),                          \
				       .unit = (key_unit),                          \
				       .help = (key_help)})

#define KYMO_VALUE_INT64S (KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY)

/* The categories are those by which readers of libkineto's traces know these calls. */
const struct kymo_type_desc *const ky_types[KY_TYPE_COUNT + 1] = {
	[KY_TYPE_KERNEL] = TYPE(SPAN, DEVICE, "kernel", .help = NULL),
	[KY_TYPE_COPY] = TYPE(SPAN, DEVICE, "gpu_memcpy", .help = NULL),
	[KY_TYPE_FILL] = TYPE(SPAN, DEVICE, "gpu_memset", .help = NULL),
	[KY_TYPE_RUNTIME] = TYPE(SPAN, HOST, "runtime", .category = "cuda_runtime"),
	[KY_TYPE_DRIVER] = TYPE(SPAN, HOST, "driver", .category = "cuda_driver"),
	[KY_TYPE_SYNC] = TYPE(SPAN, DEVICE, "cuda_sync", .help = NULL),
	[KY_TYPE_EVENT] = TYPE(INSTANT, DEVICE, "cuda_event", .help = NULL),
	[KY_TYPE_OVERHEAD] = TYPE(SPAN, HOST, "overhead", .help = NULL),
	[KY_TYPE_EXTERNAL] = TYPE(SPAN, HOST, "external_correlation", .help = NULL),
	[KY_TYPE_GRAPH] = TYPE(
		SPAN, DEVICE, "graph", .flags = KYMO_TYPE_OPT_IN,
		.help = "launches of whole CUDA graphs, in the place of their kernels"),
	[KY_TYPE_UNIFIED] =
		TYPE(SPAN | INSTANT, DEVICE, "unified_memory", .flags = KYMO_TYPE_OPT_IN,
		     .help = "migrations and faults of unified memory"),
	[KY_TYPE_COUNTER] = TYPE(KYMO_SHAPE_COUNTER, DEVICE, "gpu_pm_counter",
				 .help = "the device's counters at an interval"),
};

const struct kymo_key_desc *const ky_keys[KY_KEY_COUNT + 1] = {
	[KY_KEY_QUEUED] = KEY(TIME, "queued", "ns", "when it was put into the queue"),
	[KY_KEY_SUBMITTED] = KEY(TIME, "submitted", "ns", "when the device received it"),
	[KY_KEY_CONTEXT] = KEY(UINT64, "context", NULL, "the CUDA context's number"),
	[KY_KEY_REGISTERS] = KEY(UINT64, "registers per thread", NULL, NULL),
	[KY_KEY_SHARED] = KEY(INT64, "shared memory", "bytes", "static and dynamic"),
	[KY_KEY_BLOCKS_PER_SM] =
		KEY(DOUBLE, "blocks per SM", NULL, "blocks by multiprocessors"),
	[KY_KEY_WARPS_PER_SM] =
		KEY(DOUBLE, "warps per SM", NULL, "warps by multiprocessors"),
	[KY_KEY_GRID] = KEY(INT64S, "grid", NULL, "blocks by dimension"),
	[KY_KEY_BLOCK] = KEY(INT64S, "block", NULL, "threads of a block by dimension"),
	[KY_KEY_OCCUPANCY_PERCENT] = KEY(
		INT64, "est. achieved occupancy %", "%",
		"threads that fit, or are there, by threads that a multiprocessor takes"),
	[KY_KEY_OCCUPANCY] = KEY(NESTED, "occupancy", NULL,
				 "what limits the blocks on a multiprocessor"),
	[KY_KEY_GRAPH] = KEY(UINT64, "graph id", NULL, "of the graph that was launched"),
	[KY_KEY_GRAPH_NODE] = KEY(UINT64, "graph node id", NULL, "within its graph"),
	[KY_KEY_PRIORITY] = KEY(INT64, "priority", NULL, "of the stream"),
	[KY_KEY_CHANNEL] = KEY(UINT64, "channel", NULL, "the hardware's channel"),
	[KY_KEY_CHANNEL_TYPE] = KEY(STRING, "channel_type", NULL, NULL),
	[KY_KEY_CLUSTER] =
		KEY(INT64S, "cluster", NULL, "blocks of a cluster by dimension"),
	[KY_KEY_BYTES] = KEY(UINT64, "bytes", "bytes", "what is moved or set"),
	[KY_KEY_BANDWIDTH] =
		KEY(DOUBLE, "memory bandwidth (GB/s)", "GB/s", "bytes by duration"),
	[KY_KEY_FROM_DEVICE] = KEY(INT64, "fromDevice", NULL, NULL),
	[KY_KEY_IN_DEVICE] = KEY(INT64, "inDevice", NULL, NULL),
	[KY_KEY_TO_DEVICE] = KEY(INT64, "toDevice", NULL, NULL),
	[KY_KEY_FROM_CONTEXT] = KEY(UINT64, "fromContext", NULL, NULL),
	[KY_KEY_IN_CONTEXT] = KEY(UINT64, "inContext", NULL, NULL),
	[KY_KEY_TO_CONTEXT] = KEY(UINT64, "toContext", NULL, NULL),
	[KY_KEY_CBID] = KEY(INT64, "cbid", NULL, "CUPTI's number of the function"),
	[KY_KEY_ERROR] = KEY(INT64, "error", NULL, "what the call returned"),
	[KY_KEY_SYNC_KIND] = KEY(STRING, "cuda_sync_kind", NULL, NULL),
	[KY_KEY_WAIT_STREAM] =
		KEY(INT64, "wait_on_stream", NULL, "where the event was recorded"),
	[KY_KEY_WAIT_CORRELATION] =
		KEY(INT64, "wait_on_cuda_event_record_corr_id", NULL,
		    "correlation of the call that recorded it; -1: not known"),
	[KY_KEY_WAIT_EVENT] = KEY(INT64, "wait_on_cuda_event_id", NULL, NULL),
	[KY_KEY_EVENT] = KEY(INT64, "event_id", NULL, NULL),
	[KY_KEY_VALUE] = KEY(UINT64, "value", NULL,
			     "bytes; groups of faults; of the processor's, where it was"),
	[KY_KEY_ADDRESS] = KEY(UINT64, "address", NULL, "virtual address of the memory"),
	[KY_KEY_DEVICE_MEMORY] = KEY(UINT64, "totalGlobalMem", "bytes", NULL),
	[KY_KEY_SHARED_PER_BLOCK] = KEY(UINT64, "sharedMemPerBlock", "bytes", NULL),
	[KY_KEY_SHARED_PER_SM] = KEY(UINT64, "sharedMemPerMultiprocessor", "bytes", NULL),
	[KY_KEY_COMPUTE_MAJOR] = KEY(INT64, "computeMajor", NULL, NULL),
	[KY_KEY_COMPUTE_MINOR] = KEY(INT64, "computeMinor", NULL, NULL),
	[KY_KEY_THREADS_PER_BLOCK] = KEY(INT64, "maxThreadsPerBlock", NULL, NULL),
	[KY_KEY_THREADS_PER_SM] = KEY(INT64, "maxThreadsPerMultiprocessor", NULL, NULL),
	[KY_KEY_REGISTERS_PER_BLOCK] = KEY(INT64, "regsPerBlock", NULL, NULL),
	[KY_KEY_REGISTERS_PER_SM] = KEY(INT64, "regsPerMultiprocessor", NULL, NULL),
	[KY_KEY_WARP_SIZE] = KEY(INT64, "warpSize", NULL, NULL),
	[KY_KEY_SM_COUNT] = KEY(INT64, "numSms", NULL, NULL),
	[KY_KEY_CLOCK] = KEY(UINT64, "maxClockFrequency", "MHz", NULL),
	[KY_KEY_STREAM] = KEY(INT64, "stream", NULL, "of rows beside a stream's: which"),
};

const struct kymo_domain_desc *const ky_domains[] = {
	&(const struct kymo_domain_desc){
		.struct_size = sizeof(struct kymo_domain_desc),
		.scope = KYMO_DOMAIN_SOURCE,
		.name = "correlation",
		.help = "a call and what it launches, by CUPTI's correlation id",
	},
	NULL,
};

const struct kymo_link_kind_desc *const ky_link_kinds[] = {
	&(const struct kymo_link_kind_desc){
		.struct_size = sizeof(struct kymo_link_kind_desc),
		.name = "region",
		.help = "from the region that a call was made in",
	},
	NULL,
};

#define OPTION(option_type, option_name, option_fallback, option_help)             \
	(&(const struct kymo_option_desc){.struct_size =                           \
						  sizeof(struct kymo_option_desc), \
					  .value_type = KYMO_VALUE_##option_type,  \
					  .name = (option_name),                   \
					  .fallback = (option_fallback),           \
					  .help = (option_help)})

const struct kymo_option_desc *const ky_options[] = {
	OPTION(STRING, "cupti", NULL,
	       "path of the CUPTI library to use; else the program's, then the newest"),
	OPTION(BOOL, "latency", "false",
	       "record when kernels were queued and submitted, which slows launches "
	       "down"),
	OPTION(BOOL, "event_times", "false",
	       "times of CUDA events by the device's clock (CUPTI 12.8 and newer)"),
	OPTION(UINT64, "flush_ms", "1000",
	       "how often CUPTI hands over what is complete, for programs that are "
	       "killed; "
	       "0: when its buffers are full"),
	OPTION(BOOL, "finalize", "false",
	       "take CUPTI out of the program after the recording (cuptiFinalize)"),
	&pm_option_metrics,
	&pm_option_interval,
	&pm_option_buffer,
	&pm_option_devices,
	NULL,
};

const struct kymo_injection_desc *const ky_injections[] = {
	&(const struct kymo_injection_desc){
		.struct_size = sizeof(struct kymo_injection_desc),
		.how = KYMO_INJECT_KEEP, /* somebody's tool stays: there is one only */
		.variable = "CUDA_INJECTION64_PATH",
		.value = "{plugin}",
	},
	NULL,
};

struct kymo_value ky_value_number(enum ky_key key, uint64_t number)
{
	return (struct kymo_value){
		.key = ky_key_number(key),
		.type = (uint16_t)ky_keys[key]->value_type,
		.u64 = number,
	};
}

struct kymo_value ky_value_double(enum ky_key key, double number)
{
	return ky_value_number(key, kymo_double_bits(number));
}

struct kymo_value ky_value_array(enum ky_key key, const int64_t *numbers, uint32_t count)
{
	struct kymo_value value = ky_value_number(key, 0);

	value.count = count;
	value.array = numbers;
	return value;
}
