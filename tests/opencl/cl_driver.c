/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An OpenCL driver without a device, for what PoCL lacks: a second platform, Intel's USM,
 * GL sharing, clSetCommandQueueProperty, and stamps that make no sense. Each command is
 * complete when its call returns; it copies and fills for real.
 *
 * DRIVER_STAMPS   "zero", "backwards", "early" (START before QUEUED): what a command says
 * DRIVER_REFUSES  set: queues cannot have profiling
 *
 * It checks next to nothing: the program is ours. One object of each kind but queues and
 * events.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Loaders look at the first member only, whatever the object. */
struct _cl_platform_id {
	const cl_icd_dispatch *dispatch;
};
struct _cl_device_id {
	const cl_icd_dispatch *dispatch;
};
struct _cl_context {
	const cl_icd_dispatch *dispatch;
};
struct _cl_command_queue {
	const cl_icd_dispatch *dispatch;
	atomic_uint references;
	cl_command_queue_properties properties;
};
struct _cl_event {
	const cl_icd_dispatch *dispatch;
	atomic_uint references;
	cl_command_queue queue;
	cl_ulong queued, begin, end;
};

static const cl_icd_dispatch table;
static struct _cl_platform_id platform = {&table};
static struct _cl_device_id device = {&table};
static struct _cl_context context = {&table};

static cl_int answer(const void *data, size_t length, size_t size, void *value,
		     size_t *size_out)
{
	if (value && size < length)
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, data, length);
	if (size_out)
		*size_out = length;
	return CL_SUCCESS;
}

static cl_int answer_text(const char *text, size_t size, void *value, size_t *size_out)
{
	return answer(text, strlen(text) + 1, size, value, size_out);
}

/* ---- Platform, device, context ---- */

static cl_int CL_API_CALL get_platforms(cl_uint count, cl_platform_id *out,
					cl_uint *count_out)
{
	if (out && count > 0)
		out[0] = &platform;
	if (count_out)
		*count_out = 1;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL get_platform_info(cl_platform_id asked, cl_platform_info name,
					    size_t size, void *value, size_t *size_out)
{
	(void)asked;
	switch (name) {
	case CL_PLATFORM_VERSION:
		return answer_text("OpenCL 3.0 nothing", size, value, size_out);
	case CL_PLATFORM_EXTENSIONS:
		return answer_text("cl_khr_icd", size, value, size_out);
	case CL_PLATFORM_ICD_SUFFIX_KHR:
		return answer_text("NONE", size, value, size_out);
	case CL_PLATFORM_PROFILE:
		return answer_text("FULL_PROFILE", size, value, size_out);
	default:
		return answer_text("No device at all", size, value, size_out);
	}
}

static cl_int CL_API_CALL get_devices(cl_platform_id asked, cl_device_type type,
				      cl_uint count, cl_device_id *out,
				      cl_uint *count_out)
{
	(void)asked;
	(void)type;
	if (out && count > 0)
		out[0] = &device;
	if (count_out)
		*count_out = 1;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL get_device_info(cl_device_id asked, cl_device_info name,
					  size_t size, void *value, size_t *size_out)
{
	const cl_platform_id own = &platform;

	(void)asked;
	if (name == CL_DEVICE_PLATFORM)
		return answer(&own, sizeof(own), size, value, size_out);
	if (name == CL_DEVICE_NAME)
		return answer_text("nothing", size, value, size_out);
	return CL_INVALID_VALUE;
}

static cl_context CL_API_CALL create_context(const cl_context_properties *properties,
					     cl_uint count, const cl_device_id *devices,
					     void(CL_CALLBACK *notify)(const char *,
								       const void *,
								       size_t, void *),
					     void *data, cl_int *error)
{
	(void)properties;
	(void)count;
	(void)devices;
	(void)notify;
	(void)data;
	if (error)
		*error = CL_SUCCESS;
	return &context;
}

static cl_int CL_API_CALL release_context(cl_context released)
{
	(void)released;
	return CL_SUCCESS;
}

/* ---- Queues ---- */

static cl_command_queue CL_API_CALL create_queue(cl_context in, cl_device_id on,
						 cl_command_queue_properties properties,
						 cl_int *error)
{
	const int refused =
		(properties & CL_QUEUE_PROFILING_ENABLE) && getenv("DRIVER_REFUSES");
	cl_command_queue queue = refused ? NULL : calloc(1, sizeof(*queue));

	(void)in;
	(void)on;
	if (queue) {
		queue->dispatch = &table;
		queue->references = 1;
		queue->properties = properties;
	}
	if (error)
		*error = queue ? CL_SUCCESS : CL_INVALID_QUEUE_PROPERTIES;
	return queue;
}

static cl_int CL_API_CALL set_property(cl_command_queue queue,
				       cl_command_queue_properties properties,
				       cl_bool enable, cl_command_queue_properties *old)
{
	if (old)
		*old = queue->properties;
	if (enable)
		queue->properties |= properties;
	else
		queue->properties &= ~properties;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL release_queue(cl_command_queue queue)
{
	if (atomic_fetch_sub(&queue->references, 1) == 1)
		free(queue);
	return CL_SUCCESS;
}

static cl_int CL_API_CALL get_queue_info(cl_command_queue queue,
					 cl_command_queue_info name, size_t size,
					 void *value, size_t *size_out)
{
	const cl_device_id own_device = &device;
	const cl_context own_context = &context;
	const cl_uint references = queue->references;

	switch (name) {
	case CL_QUEUE_DEVICE:
		return answer(&own_device, sizeof(own_device), size, value, size_out);
	case CL_QUEUE_CONTEXT:
		return answer(&own_context, sizeof(own_context), size, value, size_out);
	case CL_QUEUE_PROPERTIES:
		return answer(&queue->properties, sizeof(queue->properties), size, value,
			      size_out);
	case CL_QUEUE_REFERENCE_COUNT:
		return answer(&references, sizeof(references), size, value, size_out);
	default:
		return CL_INVALID_VALUE;
	}
}

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
	(void)queue;
	return CL_SUCCESS;
}

/* ---- Events ---- */

static cl_ulong read_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (cl_ulong)now.tv_sec * 1000000000u + (cl_ulong)now.tv_nsec;
}

/* The end of each enqueue that began at this time. */
static cl_int complete(cl_command_queue queue, cl_ulong queued, cl_event *out)
{
	const char *stamps = getenv("DRIVER_STAMPS");
	cl_event event = out ? calloc(1, sizeof(*event)) : NULL;

	if (!event)
		return CL_SUCCESS;
	*event = (struct _cl_event){&table, 1, queue, queued, queued, read_clock()};
	if (stamps && strcmp(stamps, "zero") == 0)
		event->queued = event->begin = event->end = 0;
	else if (stamps && strcmp(stamps, "backwards") == 0)
		event->end = event->begin - 1;
	else if (stamps && strcmp(stamps, "early") == 0)
		event->begin -= 1000;
	*out = event;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL retain_event(cl_event event)
{
	atomic_fetch_add(&event->references, 1);
	return CL_SUCCESS;
}

static cl_int CL_API_CALL release_event(cl_event event)
{
	if (atomic_fetch_sub(&event->references, 1) == 1)
		free(event);
	return CL_SUCCESS;
}

static cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info name, size_t size,
					 void *value, size_t *size_out)
{
	const cl_int status = CL_COMPLETE;
	const cl_uint references = event->references;

	switch (name) {
	case CL_EVENT_COMMAND_QUEUE:
		return answer(&event->queue, sizeof(event->queue), size, value, size_out);
	case CL_EVENT_COMMAND_EXECUTION_STATUS:
		return answer(&status, sizeof(status), size, value, size_out);
	case CL_EVENT_REFERENCE_COUNT:
		return answer(&references, sizeof(references), size, value, size_out);
	default:
		return CL_INVALID_VALUE;
	}
}

static cl_int CL_API_CALL get_profiling_info(cl_event event, cl_profiling_info name,
					     size_t size, void *value, size_t *size_out)
{
	const cl_ulong *stamp = &event->queued;

	if (!(event->queue->properties & CL_QUEUE_PROFILING_ENABLE))
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	if (name == CL_PROFILING_COMMAND_START)
		stamp = &event->begin;
	else if (name == CL_PROFILING_COMMAND_END)
		stamp = &event->end;
	return answer(stamp, sizeof(*stamp), size, value, size_out);
}

static cl_int CL_API_CALL wait_for_events(cl_uint count, const cl_event *events)
{
	(void)events;
	return count ? CL_SUCCESS : CL_INVALID_VALUE;
}

/* ---- Commands ---- */

static cl_int CL_API_CALL marker(cl_command_queue queue, cl_event *event)
{
	return event ? complete(queue, read_clock(), event) : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL queue_waits(cl_command_queue queue, cl_uint count,
				      const cl_event *events)
{
	(void)queue;
	return wait_for_events(count, events);
}

static cl_int CL_API_CALL share(cl_command_queue queue, cl_uint count,
				const cl_mem *objects, cl_uint wait_count,
				const cl_event *wait_list, cl_event *event)
{
	(void)count;
	(void)objects;
	(void)wait_count;
	(void)wait_list;
	return complete(queue, read_clock(), event);
}

static cl_int CL_API_CALL usm_copy(cl_command_queue queue, cl_bool blocking, void *target,
				   const void *source, size_t size, cl_uint wait_count,
				   const cl_event *wait_list, cl_event *event)
{
	const cl_ulong queued = read_clock();

	(void)blocking;
	(void)wait_count;
	(void)wait_list;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	memcpy(target, source, size);
	return complete(queue, queued, event);
}

static cl_int CL_API_CALL usm_fill(cl_command_queue queue, void *target,
				   const void *pattern, size_t pattern_size, size_t size,
				   cl_uint wait_count, const cl_event *wait_list,
				   cl_event *event)
{
	const cl_ulong queued = read_clock();

	(void)wait_count;
	(void)wait_list;
	for (size_t at = 0; at + pattern_size <= size; at += pattern_size)
		memcpy((char *)target + at, pattern, pattern_size);
	return complete(queue, queued, event);
}

static cl_int CL_API_CALL usm_migrate(cl_command_queue queue, const void *pointer,
				      size_t size, cl_mem_migration_flags flags,
				      cl_uint wait_count, const cl_event *wait_list,
				      cl_event *event)
{
	(void)pointer;
	(void)flags;
	return share(queue, (cl_uint)size, NULL, wait_count, wait_list, event);
}

static cl_int CL_API_CALL usm_advise(cl_command_queue queue, const void *pointer,
				     size_t size, cl_mem_advice_intel advice,
				     cl_uint wait_count, const cl_event *wait_list,
				     cl_event *event)
{
	return usm_migrate(queue, pointer, size, advice, wait_count, wait_list, event);
}

/* ---- Functions by name ---- */

#define FIND(wanted, function)                                 \
	do {                                                   \
		const __typeof__(&(function)) at = (function); \
		if (strcmp(name, (wanted)) == 0)               \
			memcpy(&found, &at, sizeof(found));    \
	} while (0)

static void *CL_API_CALL find_function(const char *name)
{
	void *found = NULL;

	FIND("clIcdGetPlatformIDsKHR", get_platforms);
	FIND("clGetPlatformInfo", get_platform_info);
	FIND("clEnqueueMemcpyINTEL", usm_copy);
	FIND("clEnqueueMemFillINTEL", usm_fill);
	FIND("clEnqueueMigrateMemINTEL", usm_migrate);
	FIND("clEnqueueMemAdviseINTEL", usm_advise);
	FIND("clEnqueueAcquireGLObjects", share);
	FIND("clEnqueueReleaseGLObjects", share);
	return found;
}

/* All that is exported; a name of the loader's would find the loader's. */
CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
	return find_function(name);
}

static void *CL_API_CALL find_for_platform(cl_platform_id asked, const char *name)
{
	(void)asked;
	return find_function(name);
}

static const cl_icd_dispatch table = {
	.clGetPlatformInfo = get_platform_info,
	.clGetDeviceIDs = get_devices,
	.clGetDeviceInfo = get_device_info,
	.clCreateContext = create_context,
	.clReleaseContext = release_context,
	.clCreateCommandQueue = create_queue,
	.clSetCommandQueueProperty = set_property,
	.clReleaseCommandQueue = release_queue,
	.clGetCommandQueueInfo = get_queue_info,
	.clFlush = finish,
	.clFinish = finish,
	.clWaitForEvents = wait_for_events,
	.clRetainEvent = retain_event,
	.clReleaseEvent = release_event,
	.clGetEventInfo = get_event_info,
	.clGetEventProfilingInfo = get_profiling_info,
	.clEnqueueMarker = marker,
	.clEnqueueWaitForEvents = queue_waits,
	.clEnqueueAcquireGLObjects = share,
	.clEnqueueReleaseGLObjects = share,
	.clGetExtensionFunctionAddress = find_function,
	.clGetExtensionFunctionAddressForPlatform = find_for_platform,
};
