/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between the driver and the CUPTI that stand in for the real ones, which have a private
 * table for it. The driver runs no device: it works out when each command would begin and
 * end, in nanoseconds of CLOCK_MONOTONIC, at the launch.
 *
 * A tool is called in the thread of the program. While it is set, nothing that it was
 * told may be used by the driver after the call; a tool that is taken back may still be
 * in a call.
 */
#ifndef KYMO_TESTS_CUDA_STUB_H
#define KYMO_TESTS_CUDA_STUB_H

#include <stdint.h>

#define STUB_API __attribute__((visibility("default")))

enum stub_api { STUB_DRIVER, STUB_RUNTIME, STUB_APIS };

/* One call of the program, on its stack from begin to end. */
struct stub_call {
	enum stub_api api;
	const char *name; /* as CUPTI calls it: cudaLaunchKernel_v7000 */
	struct stub_call *outer;
	const struct stub_tool *tool; /* that was told of its begin */
	void *context;
	int32_t result;
	/* Of the tool. */
	uint32_t correlation;
	uint64_t begin, data;
};

enum stub_work_kind {
	STUB_KERNEL,
	STUB_COPY,
	STUB_PEER,
	STUB_SET,
	STUB_EVENT, /* at its end the event is recorded */
	STUB_GRAPH, /* a whole launch, told before what it launches */
	STUB_WORK_KINDS,
};

/* What is on the other side of a copy: CUpti_ActivityMemoryKind has the same numbers. */
enum stub_memory { STUB_PAGEABLE = 1, STUB_PINNED = 2, STUB_DEVICE_MEMORY = 3 };

struct stub_work {
	enum stub_work_kind kind;
	uint32_t device, context, stream;
	uint64_t begin, end;
	uint32_t graph;
	uint64_t node;
	uint64_t bytes;
	enum stub_memory from, to;
	uint32_t from_device, from_context, to_device, to_context;
	uint32_t value; /* of a set; of an event its id */
	const char *name;
	uint32_t grid[3], block[3], shared_memory;
};

enum stub_sync_kind {
	STUB_SYNC_EVENT = 1,
	STUB_WAIT_EVENT,
	STUB_SYNC_STREAM,
	STUB_SYNC_CONTEXT
};

struct stub_sync {
	enum stub_sync_kind
		kind; /* CUpti_ActivitySynchronizationType has the same numbers */
	uint32_t context, stream, event;
	uint64_t begin, end;
};

enum stub_object_kind { STUB_DEVICE, STUB_CONTEXT, STUB_STREAM };

struct stub_object {
	enum stub_object_kind kind;
	uint32_t is_gone; /* 1 where it is being destroyed, else it has been created */
	uint32_t device, context, stream;
	void *context_handle, *stream_handle;
};

struct stub_tool {
	void (*enter)(struct stub_call *call);
	void (*leave)(struct stub_call *call);
	void (*work)(const struct stub_call *call, const struct stub_work *work);
	void (*sync)(const struct stub_call *call, const struct stub_sync *sync);
	void (*object)(const struct stub_object *object);
	/* A record that no call makes: the words of the scenario. */
	void (*record)(char **words, int count);
};

/* What the driver was asked for, to be compared with what was recorded. */
struct stub_counts {
	uint64_t calls[STUB_APIS], nested, work[STUB_WORK_KINDS], syncs;
};

/* ---- Of the driver's library ---- */

STUB_API void stub_set_tool(const struct stub_tool *tool);
/* Calls `tell` for each device, context and stream there is. */
STUB_API void stub_tell_objects(void (*tell)(const struct stub_object *object));
STUB_API void stub_enter(struct stub_call *call);
STUB_API void stub_leave(struct stub_call *call);
STUB_API void stub_record(char **words, int count);
/* How long each command after this takes. */
STUB_API void stub_set_duration(uint64_t ns);
STUB_API const struct stub_counts *stub_get_counts(void);

#endif
