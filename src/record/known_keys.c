/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names and types are libkineto's, whose traces readers were made for. They are few
 * and looked up when something is registered, so a list is enough.
 */
#include "record/known_keys.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"

#define INT64   KYMO_VALUE_INT64
#define UINT64  KYMO_VALUE_UINT64
#define DOUBLE  KYMO_VALUE_DOUBLE
#define BOOL    KYMO_VALUE_BOOL
#define STRING  KYMO_VALUE_STRING
#define STRINGS (KYMO_VALUE_STRING | KYMO_VALUE_ARRAY)
#define INT64S  (KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY)
#define NESTED  KYMO_VALUE_NESTED

#define KEY(key_name, type, key_unit, group)                                       \
	{                                                                          \
		.struct_size = sizeof(struct kymo_key_desc), .value_type = (type), \
		.name = (key_name), .unit = (key_unit), .help = (group)            \
	}
#define OPERATION(name, type)  KEY(name, type, NULL, "operation")
#define COLLECTIVE(name, type) KEY(name, type, NULL, "collective")
#define KERNEL(name, type)     KEY(name, type, NULL, "kernel")
#define COPY(name, type)       KEY(name, type, NULL, "copy")
#define CALL(name, type)       KEY(name, type, NULL, "call")
#define WAIT(name, type)       KEY(name, type, NULL, "synchronization")
#define DEVICE(name, type)     KEY(name, type, NULL, "device")
#define WHOLE(name, type)      KEY(name, type, NULL, "trace")

static const struct kymo_key_desc known[] = {
	OPERATION("Input Dims", NESTED),
	OPERATION("Input Strides", NESTED),
	OPERATION("Input type", STRINGS),
	OPERATION("Concrete Inputs", STRINGS),
	OPERATION("Sequence number", INT64),
	OPERATION("Ev Idx", INT64),
	KEY("Bytes", INT64, "bytes", "operation"),
	OPERATION("Device Type", INT64),
	OPERATION("Device Id", INT64),
	OPERATION("Fwd thread id", UINT64),
	OPERATION("Record function id", UINT64),
	OPERATION("Addr", UINT64),
	KEY("Total Allocated", UINT64, "bytes", "operation"),
	KEY("Total Reserved", UINT64, "bytes", "operation"),
	OPERATION("Python id", UINT64),
	OPERATION("Python parent id", UINT64),
	OPERATION("Python module id", UINT64),
	OPERATION("Python thread", UINT64),
	OPERATION("Backend", STRING),
	OPERATION("CallFrom", STRING),
	OPERATION("Call stack", STRING),
	OPERATION("Module Hierarchy", STRING),

	COLLECTIVE("Collective name", STRING),
	COLLECTIVE("dtype", STRING),
	COLLECTIVE("In msg nelems", INT64),
	COLLECTIVE("Out msg nelems", INT64),
	COLLECTIVE("In split size", STRING),
	COLLECTIVE("Out split size", STRING),
	COLLECTIVE("Global rank start", INT64),
	COLLECTIVE("Global rank stride", INT64),
	COLLECTIVE("Group size", INT64),
	COLLECTIVE("Process Group Name", STRING),
	COLLECTIVE("Process Group Description", STRING),
	COLLECTIVE("Process Group Ranks", STRING),
	COLLECTIVE("Input Tensors start", STRING),
	COLLECTIVE("Output Tensors start", STRING),
	COLLECTIVE("Rank", INT64),
	COLLECTIVE("Src Rank", INT64),
	COLLECTIVE("Dst Rank", INT64),
	COLLECTIVE("Seq", INT64),
	COLLECTIVE("Is asynchronized op", BOOL),
	COLLECTIVE("Comms Id", UINT64),
	COLLECTIVE("Communicator_id", UINT64),

	KERNEL("queued", UINT64),
	KERNEL("device", INT64),
	KERNEL("context", UINT64),
	KERNEL("stream", INT64),
	KERNEL("correlation", UINT64),
	KERNEL("registers per thread", UINT64),
	KEY("shared memory", INT64, "bytes", "kernel"),
	KERNEL("blocks per SM", DOUBLE),
	KERNEL("warps per SM", DOUBLE),
	KERNEL("grid", INT64S),
	KERNEL("block", INT64S),
	KEY("est. achieved occupancy %", INT64, "%", "kernel"),
	KERNEL("occupancy", NESTED), /* with these as its members: */
	KERNEL("activeBlocksPerMultiprocessor", INT64),
	KERNEL("limitingFactors", STRING),
	KERNEL("blockLimitRegs", INT64),
	KERNEL("blockLimitSharedMem", INT64),
	KERNEL("blockLimitWarps", INT64),
	KERNEL("blockLimitBlocks", INT64),
	KERNEL("blockLimitBarriers", INT64),
	KERNEL("allocatedRegistersPerBlock", INT64),
	KEY("allocatedSharedMemPerBlock", INT64, "bytes", "kernel"),
	KERNEL("graph id", UINT64),
	KERNEL("graph node id", UINT64),
	KERNEL("priority", INT64),
	KERNEL("channel", INT64),
	KERNEL("channel_type", INT64),
	KERNEL("kernel", STRING),
	KERNEL("kernel_id", UINT64),
	KERNEL("hsa_queue", INT64),
	KERNEL("sycl queue", INT64),
	KERNEL("sycl_node_id", UINT64),
	KERNEL("sycl_invocation_id", UINT64),
	KERNEL("l0 queue", STRING),
	KERNEL("source_file_name", STRING),
	KERNEL("source_line_number", INT64),

	KEY("bytes", UINT64, "bytes", "copy"),
	KEY("memory bandwidth (GB/s)", DOUBLE, "GB/s", "copy"),
	COPY("kind", STRING),
	COPY("fromDevice", INT64),
	COPY("inDevice", INT64),
	COPY("toDevice", INT64),
	COPY("fromContext", UINT64),
	COPY("inContext", UINT64),
	COPY("toContext", UINT64),
	COPY("src", STRING),
	COPY("dst", STRING),
	COPY("ptr", STRING),
	COPY("l0 call", STRING),
	COPY("memory opration id", UINT64), /* as it stands in traces */

	CALL("cbid", INT64),
	CALL("cid", INT64),
	WAIT("cuda_sync_kind", STRING),
	WAIT("wait_on_stream", INT64),
	WAIT("wait_on_cuda_event_record_corr_id", INT64),
	WAIT("wait_on_cuda_event_id", INT64),
	WAIT("event_id", INT64),
	WAIT("Type", STRING),
	WAIT("Context_handle", STRING),
	WAIT("Queue_handle", STRING),
	WAIT("Event_handle", STRING),
	WAIT("Number_wait_events", INT64),
	WAIT("Return_code", INT64),

	KEY("overhead cost", UINT64, "ns", "overhead"),
	KEY("overhead count", UINT64, NULL, "overhead"),
	KEY("overhead occupancy", STRING, NULL, "overhead"),

	DEVICE("id", UINT64),
	DEVICE("name", STRING),
	DEVICE("vendor", STRING),
	DEVICE("driverVersion", STRING),
	KEY("totalGlobalMem", UINT64, "bytes", "device"),
	KEY("sharedMemPerBlock", UINT64, "bytes", "device"),
	KEY("sharedMemPerBlockOptin", UINT64, "bytes", "device"),
	KEY("sharedMemPerMultiprocessor", UINT64, "bytes", "device"),
	KEY("maxSharedMemoryPerMultiProcessor", UINT64, "bytes", "device"),
	KEY("maxMemAllocSize", UINT64, "bytes", "device"),
	KEY("localMemSize", UINT64, "bytes", "device"),
	DEVICE("computeMajor", INT64),
	DEVICE("computeMinor", INT64),
	DEVICE("maxThreadsPerBlock", INT64),
	DEVICE("maxThreadsPerMultiprocessor", INT64),
	DEVICE("regsPerBlock", INT64),
	DEVICE("regsPerMultiprocessor", INT64),
	DEVICE("warpSize", INT64),
	DEVICE("numSms", INT64),
	DEVICE("maxComputeUnits", UINT64),
	DEVICE("maxWorkGroupSize", UINT64),
	DEVICE("maxClockFrequency", UINT64),

	WHOLE("Op count", INT64),
	WHOLE("trace_id", STRING),
	WHOLE("group_trace_id", STRING),
	WHOLE("host_name", STRING),
	WHOLE("distributedInfo", NESTED),
	WHOLE("cupti_version", INT64),
	WHOLE("cuda_runtime_version", INT64),
	WHOLE("cuda_driver_version", INT64),
	WHOLE("hip_runtime_version", INT64),
	WHOLE("hip_driver_version", INT64),
	WHOLE("xpupti_version", STRING),
};

#define KNOWN_COUNT (sizeof(known) / sizeof(known[0]))

/* Words that a program may well use for something else. */
static const char *const free_words[] = {
	"id",  "name", "vendor", "kind",    "kernel",       "src",
	"dst", "ptr",  "Type",   "channel", "channel_type",
};

const char *ky_value_type_text(uint32_t type, char out[KY_TYPE_TEXT_MAX])
{
	static const char *const names[] = {"none",   "int64",  "uint64", "double",
					    "bool",   "string", "code",   "time",
					    "nested", "list",   "dict"};
	const uint32_t element = type & ~KYMO_VALUE_ARRAY;

	if (element >= sizeof(names) / sizeof(names[0]))
		snprintf(out, KY_TYPE_TEXT_MAX, "type %#x", type);
	else
		snprintf(out, KY_TYPE_TEXT_MAX, "%s%s", names[element],
			 type != KYMO_VALUE_NESTED && type & KYMO_VALUE_ARRAY ? "[]"
									      : "");
	return out;
}

int ky_value_type_is_one(uint32_t type)
{
	const uint32_t element = type & ~KYMO_VALUE_ARRAY;

	return type == KYMO_VALUE_NESTED ||
	       (element >= KYMO_VALUE_INT64 && element <= KYMO_VALUE_TIME);
}

/* A JSON number without a fraction is one of them all. */
static uint32_t class_of(uint32_t type)
{
	const uint32_t element = type & ~KYMO_VALUE_ARRAY;

	return element == KYMO_VALUE_UINT64 || element == KYMO_VALUE_TIME
		       ? (type & KYMO_VALUE_ARRAY) | KYMO_VALUE_INT64
		       : type;
}

int ky_value_types_are_alike(uint32_t type, uint32_t other)
{
	return class_of(type) == class_of(other);
}

enum ky_reference ky_known_key_reference(struct kymo_str name)
{
	if (ky_str_is(name, "wait_on_stream"))
		return KY_REFERENCE_QUEUE;
	if (ky_str_is(name, "wait_on_cuda_event_record_corr_id"))
		return KY_REFERENCE_CORRELATION;
	if (ky_str_is(name, "stream"))
		return KY_REFERENCE_BESIDE;
	return KY_REFERENCE_NONE;
}

static int is_free(const char *name)
{
	for (size_t i = 0; i < sizeof(free_words) / sizeof(free_words[0]); i++)
		if (strcmp(free_words[i], name) == 0)
			return 1;
	return 0;
}

int32_t ky_known_key_check(const char *name, uint32_t type, struct kymo_error *error)
{
	const struct kymo_key_desc *key = kymo_key_known(name);
	char expected[KY_TYPE_TEXT_MAX], said[KY_TYPE_TEXT_MAX];

	if (!key || ky_value_types_are_alike(key->value_type, type) || is_free(name))
		return KYMO_OK;
	return ky_error_set(error, KYMO_ERROR_INVALID,
			    "the key \"%s\" is one that readers of traces know: its "
			    "values have to be %s, not %s",
			    name, ky_value_type_text(key->value_type, expected),
			    ky_value_type_text(type, said));
}

const struct kymo_key_desc *kymo_key_known(const char *name)
{
	for (size_t i = 0; name && i < KNOWN_COUNT; i++)
		if (strcmp(known[i].name, name) == 0)
			return &known[i];
	return NULL;
}

const struct kymo_key_desc *kymo_key_known_at(size_t index)
{
	return index < KNOWN_COUNT ? &known[index] : NULL;
}
