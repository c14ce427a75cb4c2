/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver that stands in for libcuda.so.1: start, devices, contexts, memory, streams
 * and events; commands are in stub_work.c. Device memory is the host's. As the real one
 * it loads what $CUDA_INJECTION64_PATH names in cuInit, and is of no use in a forked
 * child.
 *
 * Its lines of the scenario: "driver version N", "driver devices N", "driver fails CODE"
 * (cuInit).
 */
#include "stub_driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "scenario.h"

/* cuda.h has macros for the newer forms of some calls, so each has the name it is linked
 * by. */
#define EXPORT STUB_API

struct stub_driver stub_driver = {.version = CUDA_VERSION,
				  .device_count = 2,
				  .next_object = 100,
				  .duration = 10000};

static _Atomic(const struct stub_tool *) current_tool;
static CUresult init_result;
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local CUcontext current_context;
static _Thread_local struct stub_call *current_call;

/* ---- For the other files, and the tool ---- */

uint64_t stub_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint32_t stub_next_object(void)
{
	return __atomic_add_fetch(&stub_driver.next_object, 1, __ATOMIC_RELAXED);
}

CUresult stub_ready(void)
{
	if (!stub_driver.is_ready || stub_driver.pid != getpid())
		return CUDA_ERROR_NOT_INITIALIZED;
	return CUDA_SUCCESS;
}

CUcontext stub_context(void)
{
	return current_context;
}

CUstream stub_stream(CUstream stream)
{
	if (stream || !current_context)
		return stream;
	return &current_context->streams[0];
}

void stub_set_tool(const struct stub_tool *tool)
{
	atomic_store(&current_tool, tool);
}

void stub_set_duration(uint64_t ns)
{
	stub_driver.duration = ns;
}

const struct stub_counts *stub_get_counts(void)
{
	return &stub_driver.counts;
}

static void count(uint64_t *counter)
{
	pthread_mutex_lock(&count_lock);
	++*counter;
	pthread_mutex_unlock(&count_lock);
}

void stub_enter(struct stub_call *call)
{
	call->outer = current_call;
	call->context = current_context;
	call->tool = atomic_load(&current_tool);
	current_call = call;
	count(call->outer ? &stub_driver.counts.nested
			  : &stub_driver.counts.calls[call->api]);
	if (call->tool)
		call->tool->enter(call);
}

void stub_leave(struct stub_call *call)
{
	current_call = call->outer;
	call->context = current_context;
	if (call->tool)
		call->tool->leave(call);
}

CUresult stub_end(struct stub_call *call, CUresult result)
{
	call->result = (int32_t)result;
	stub_leave(call);
	return result;
}

void stub_record(char **words, int number)
{
	const struct stub_tool *tool = atomic_load(&current_tool);

	if (tool)
		tool->record(words, number);
}

static void tell(const struct stub_object *object)
{
	const struct stub_tool *tool = atomic_load(&current_tool);

	if (tool)
		tool->object(object);
}

static struct stub_object object_of(enum stub_object_kind kind, CUcontext context,
				    CUstream stream)
{
	return (struct stub_object){
		.kind = kind,
		.device = context->device,
		.context = context->id,
		.stream = stream ? stream->id : 0,
		.context_handle = context,
		.stream_handle = stream,
	};
}

void stub_tell_objects(void (*tell_one)(const struct stub_object *object))
{
	for (uint32_t device = 0;
	     stub_ready() == CUDA_SUCCESS && device < stub_driver.device_count;
	     device++) {
		CUcontext context = &stub_driver.contexts[device];
		struct stub_object object = {.kind = STUB_DEVICE, .device = device};

		tell_one(&object);
		if (!context->references)
			continue;
		object = object_of(STUB_CONTEXT, context, NULL);
		tell_one(&object);
		for (int i = 0; i < STUB_MAX_STREAMS; i++) {
			if (!context->streams[i].is_used)
				continue;
			object = object_of(STUB_STREAM, context, &context->streams[i]);
			tell_one(&object);
		}
	}
}

/* ---- Start ---- */

static void take_line(char **words, int number)
{
	uint32_t value = number > 1 ? (uint32_t)strtoul(words[1], NULL, 0) : 0;

	if (strcmp(words[0], "version") == 0)
		stub_driver.version = value;
	else if (strcmp(words[0], "devices") == 0 && value <= STUB_MAX_DEVICES)
		stub_driver.device_count = value;
	else if (strcmp(words[0], "fails") == 0)
		init_result = (CUresult)value;
}

static void read_lines(void)
{
	scenario_read("driver", take_line);
}

static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*initialize)(void) = NULL;

	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjection");
	if (initialize)
		initialize();
}

static void configure(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_lines);
}

static void start(void)
{
	configure();
	if (init_result != CUDA_SUCCESS)
		return;
	for (uint32_t i = 0; i < stub_driver.device_count; i++) {
		CUcontext context = &stub_driver.contexts[i];

		*context = (struct CUctx_st){.id = i + 1, .device = i};
		context->streams[0] = (struct CUstream_st){7, 1, context, 0, NULL};
	}
	stub_driver.pid = getpid();
	inject();
	stub_driver.is_ready = 1;
	for (uint32_t i = 0; i < stub_driver.device_count; i++)
		tell(&(struct stub_object){.kind = STUB_DEVICE, .device = i});
}

EXPORT CUresult cuInit(unsigned int flags)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)flags;
	pthread_once(&once, start);
	if (init_result != CUDA_SUCCESS)
		return init_result;
	if (stub_driver.pid != getpid())
		return CUDA_ERROR_NOT_INITIALIZED;
	return stub_driver.device_count ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

EXPORT CUresult cuDriverGetVersion(int *version)
{
	configure(); /* may be asked before cuInit */
	*version = (int)stub_driver.version;
	return CUDA_SUCCESS;
}

EXPORT CUresult cuGetErrorName(CUresult error, const char **text)
{
	*text = error == CUDA_SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR";
	return CUDA_SUCCESS;
}

/* ---- Devices and contexts ---- */

EXPORT CUresult cuDeviceGetCount(int *number)
{
	STUB_BEGIN(call);
	*number = (int)stub_driver.device_count;
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	STUB_BEGIN(call);
	*device = ordinal;
	return stub_end(&call, ordinal < (int)stub_driver.device_count
				       ? CUDA_SUCCESS
				       : CUDA_ERROR_INVALID_DEVICE);
}

EXPORT CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
	STUB_BEGIN(call);
	snprintf(name, (size_t)size, "Stand-in %d", device);
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
				     CUdevice device)
{
	STUB_BEGIN(call);
	(void)device;
	*value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
	STUB_BEGIN(call);
	*can = device != peer;
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	STUB_BEGIN(call);
	if (device < 0 || device >= (int)stub_driver.device_count)
		return stub_end(&call, CUDA_ERROR_INVALID_DEVICE);
	*context = &stub_driver.contexts[device];
	if ((*context)->references++ == 0) {
		struct stub_object object = object_of(STUB_CONTEXT, *context, NULL);

		tell(&object);
	}
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
	STUB_BEGIN(call);
	CUcontext context = &stub_driver.contexts[device];

	if (context->references && --context->references == 0) {
		struct stub_object object = object_of(STUB_CONTEXT, context, NULL);

		object.is_gone = 1;
		tell(&object);
	}
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuCtxSetCurrent(CUcontext context)
{
	STUB_BEGIN(call);
	current_context = context;
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *context)
{
	STUB_BEGIN(call);
	*context = current_context;
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuCtxGetDevice(CUdevice *device)
{
	STUB_BEGIN(call);
	if (!current_context)
		return stub_end(&call, CUDA_ERROR_INVALID_CONTEXT);
	*device = (CUdevice)current_context->device;
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
	STUB_BEGIN(call);
	(void)peer, (void)flags;
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuCtxSynchronize(void)
{
	STUB_BEGIN(call);
	uint64_t end = 0;

	if (!current_context)
		return stub_end(&call, CUDA_ERROR_INVALID_CONTEXT);
	for (int i = 0; i < STUB_MAX_STREAMS; i++)
		if (current_context->streams[i].last_end > end)
			end = current_context->streams[i].last_end;
	/* CUPTI says of which stream it is only where it is one. */
	stub_synchronize(&call, STUB_SYNC_CONTEXT, NULL, 0, end);
	return stub_end(&call, CUDA_SUCCESS);
}

/* ---- Memory ---- */

EXPORT CUresult cuMemAlloc(CUdeviceptr *memory, size_t size)
{
	STUB_BEGIN(call);
	void *data = calloc(1, size);

	*memory = (CUdeviceptr)(uintptr_t)data;
	return stub_end(&call, data ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

EXPORT CUresult cuMemFree(CUdeviceptr memory)
{
	STUB_BEGIN(call);
	free((void *)(uintptr_t)memory);
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuMemAllocHost(void **memory, size_t size)
{
	STUB_BEGIN(call);
	*memory = calloc(1, size);
	return stub_end(&call, *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY);
}

EXPORT CUresult cuMemFreeHost(void *memory)
{
	STUB_BEGIN(call);
	free(memory);
	return stub_end(&call, CUDA_SUCCESS);
}

/* ---- Streams ---- */

EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
	STUB_BEGIN(call);
	struct stub_object object;

	(void)flags;
	if (!current_context)
		return stub_end(&call, CUDA_ERROR_INVALID_CONTEXT);
	for (uint32_t i = 1; i < STUB_MAX_STREAMS; i++) {
		CUstream new = &current_context->streams[i];
		uint32_t unused = 0;

		if (!__atomic_compare_exchange_n(&new->is_used, &unused, 1, 0,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		new->id = i + 12; /* as far from the null stream's as CUPTI's first */
		new->context = current_context;
		object = object_of(STUB_STREAM, current_context, new);
		tell(&object);
		*stream = new;
		return stub_end(&call, CUDA_SUCCESS);
	}
	return stub_end(&call, CUDA_ERROR_OUT_OF_MEMORY);
}

EXPORT CUresult cuStreamDestroy(CUstream stream)
{
	STUB_BEGIN(call);
	struct stub_object object = object_of(STUB_STREAM, stream->context, stream);

	object.is_gone = 1;
	tell(&object);
	stream->last_end = 0;
	__atomic_store_n(&stream->is_used, 0, __ATOMIC_RELEASE);
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuStreamSynchronize(CUstream stream)
{
	STUB_BEGIN(call);
	CUstream used = stub_stream(stream);

	if (!used)
		return stub_end(&call, CUDA_ERROR_INVALID_CONTEXT);
	stub_synchronize(&call, STUB_SYNC_STREAM, used, 0, used->last_end);
	return stub_end(&call, CUDA_SUCCESS);
}

/* ---- Events ---- */

EXPORT CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
	STUB_BEGIN(call);
	(void)flags;
	*event = calloc(1, sizeof(**event));
	if (!*event)
		return stub_end(&call, CUDA_ERROR_OUT_OF_MEMORY);
	(*event)->id = stub_next_object();
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuEventDestroy(CUevent event)
{
	STUB_BEGIN(call);
	free(event);
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuEventRecord(CUevent event, CUstream stream)
{
	STUB_BEGIN(call);
	struct stub_work work = {.kind = STUB_EVENT, .value = event->id};
	CUresult result = stub_submit(&call, stream, &work);

	event->end = work.end;
	return stub_end(&call, result);
}

EXPORT CUresult cuEventSynchronize(CUevent event)
{
	STUB_BEGIN(call);
	stub_synchronize(&call, STUB_SYNC_EVENT, NULL, event->id, event->end);
	return stub_end(&call, CUDA_SUCCESS);
}

EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
	STUB_BEGIN(call);
	CUstream used = stub_stream(stream);

	(void)flags;
	if (!used)
		return stub_end(&call, CUDA_ERROR_INVALID_CONTEXT);
	if (used->last_end < event->end)
		used->last_end = event->end;
	stub_synchronize(&call, STUB_WAIT_EVENT, used, event->id, 0);
	return stub_end(&call, CUDA_SUCCESS);
}
