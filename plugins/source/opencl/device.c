/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices, their clocks and the anchors of these. Any thread; the list only grows, so
 * it is read without the lock.
 */
#include "device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TEXT_SIZE 256

/* 64 commands or 10 ms, of a clock that counts nanoseconds. */
#define ANCHOR_COMMANDS 64
#define ANCHOR_TICKS    10000000u

/* 32 markers narrow the bound to half a microsecond even while kernels are compiled. */
#define MARKER_COUNT   32
#define MARKER_WAIT_NS 5000000u
#define MARKER_NAP_NS  50000

const char *const ky_extension_names[KY_EXTENSION_COUNT] = {
	[KY_EXTENSION_CREATE_QUEUE] = "clCreateCommandQueueWithPropertiesKHR",
	[KY_EXTENSION_ENQUEUE_COMMAND_BUFFER] = "clEnqueueCommandBufferKHR",
	[KY_EXTENSION_CREATE_COMMAND_BUFFER] = "clCreateCommandBufferKHR",
	[KY_EXTENSION_USM_COPY] = "clEnqueueMemcpyINTEL",
	[KY_EXTENSION_USM_FILL] = "clEnqueueMemFillINTEL",
	[KY_EXTENSION_USM_MIGRATE] = "clEnqueueMigrateMemINTEL",
	[KY_EXTENSION_USM_ADVISE] = "clEnqueueMemAdviseINTEL",
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER; /* growing the list */
static struct ky_device *_Atomic list;
static uint32_t device_count;

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void get_text(const struct ky_device *device, cl_device_info what, char *text)
{
	if (device->layer->target.clGetDeviceInfo(device->handle, what, TEXT_SIZE, text,
						  NULL) != CL_SUCCESS)
		text[0] = '\0';
	text[TEXT_SIZE - 1] = '\0';
}

/* A cl_uint, cl_ulong or size_t property, or 0. */
static uint64_t get_number(const struct ky_device *device, cl_device_info what)
{
	union {
		cl_uint small;
		cl_ulong large;
	} value = {.large = 0};
	size_t size = 0;

	if (device->layer->target.clGetDeviceInfo(device->handle, what, sizeof(value),
						  &value, &size) != CL_SUCCESS)
		return 0;
	return size == sizeof(value.small) ? value.small : value.large;
}

static uint32_t describe_properties(const struct ky_device *device)
{
	char vendor[TEXT_SIZE], driver[TEXT_SIZE], version[TEXT_SIZE];
	struct kymo_value values[8];

	get_text(device, CL_DEVICE_VENDOR, vendor);
	get_text(device, CL_DRIVER_VERSION, driver);
	get_text(device, CL_DEVICE_VERSION, version);
	values[0] = ky_value_text(KY_KEY_VENDOR, vendor);
	values[1] = ky_value_text(KY_KEY_DRIVER_VERSION, driver);
	values[2] = ky_value_text(KY_KEY_OPENCL_VERSION, version);
	values[3] = ky_value_number(KY_KEY_COMPUTE_UNITS,
				    get_number(device, CL_DEVICE_MAX_COMPUTE_UNITS));
	values[4] = ky_value_number(KY_KEY_CLOCK_FREQUENCY,
				    get_number(device, CL_DEVICE_MAX_CLOCK_FREQUENCY));
	values[5] = ky_value_number(KY_KEY_GLOBAL_MEMORY,
				    get_number(device, CL_DEVICE_GLOBAL_MEM_SIZE));
	values[6] = ky_value_number(KY_KEY_LOCAL_MEMORY,
				    get_number(device, CL_DEVICE_LOCAL_MEM_SIZE));
	values[7] = ky_value_number(KY_KEY_WORK_GROUP_SIZE,
				    get_number(device, CL_DEVICE_MAX_WORK_GROUP_SIZE));
	return ky_state.host->attributes(ky_state.source, values, 8);
}

static const char *get_kind(const struct ky_device *device)
{
	const uint64_t type = get_number(device, CL_DEVICE_TYPE);

	if (type & CL_DEVICE_TYPE_GPU)
		return "gpu";
	if (type & CL_DEVICE_TYPE_CPU)
		return "cpu";
	return type & CL_DEVICE_TYPE_ACCELERATOR ? "accelerator" : "device";
}

/* "" where the driver lacks cl_khr_device_uuid. */
static void get_uuid(const struct ky_device *device, char *text, size_t size)
{
	unsigned char uuid[CL_UUID_SIZE_KHR];
	size_t used = 0;

	text[0] = '\0';
	if (device->layer->target.clGetDeviceInfo(device->handle, CL_DEVICE_UUID_KHR,
						  sizeof(uuid), uuid,
						  &used) != CL_SUCCESS ||
	    used != sizeof(uuid))
		return;
	for (size_t i = 0, at = 0; i < sizeof(uuid) && at + 4 < size; i++) {
		const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";

		at += (size_t)snprintf(text + at, size - at, "%s%02x", dash, uuid[i]);
	}
}

struct ky_device *ky_device_get(const struct ky_layer *layer, cl_device_id handle)
{
	struct ky_device *device;

	pthread_mutex_lock(&list_lock);
	for (device = list; device && device->handle != handle; device = device->next)
		;
	if (!device) {
		device = calloc(1, sizeof(*device));
		if (device) {
			device->handle = handle;
			device->layer = layer;
			device->index = device_count++;
			device->next = list;
			list = device;
		}
	}
	pthread_mutex_unlock(&list_lock);
	return device;
}

void *ky_device_extension(struct ky_device *device, enum ky_extension extension)
{
	const cl_icd_dispatch *target = &device->layer->target;
	void *function = atomic_load(&device->extensions[extension]);
	cl_platform_id platform = NULL;

	if (function || !target->clGetExtensionFunctionAddressForPlatform)
		return function;
	if (target->clGetDeviceInfo(device->handle, CL_DEVICE_PLATFORM, sizeof(platform),
				    &platform, NULL) == CL_SUCCESS)
		function = target->clGetExtensionFunctionAddressForPlatform(
			platform, ky_extension_names[extension]);
	atomic_store(&device->extensions[extension], function);
	return function;
}

/* Twice at once does no harm: the host gives the same numbers for the same thing. */
void ky_device_describe(struct ky_device *device)
{
	char name[TEXT_SIZE], uuid[64];
	uint32_t number = 0, clock = 0;

	if (atomic_load(&device->number))
		return;
	get_text(device, CL_DEVICE_NAME, name);
	get_uuid(device, uuid, sizeof(uuid));

	const struct kymo_device_desc desc = {
		.struct_size = sizeof(desc),
		.index = device->index,
		.native = (uintptr_t)device->handle,
		.name = kymo_text(name),
		.kind = kymo_text(get_kind(device)),
		.uuid = kymo_text(uuid),
		.order = device->index,
		.attributes = describe_properties(device),
	};
	struct kymo_clock_desc clock_desc = {
		.struct_size = sizeof(clock_desc),
		.kind = KYMO_CLOCK_COUNTER,
		.bits = 64,
		.ticks_num = 1000000000,
		.ticks_den = 1,
		.name = kymo_text(name),
	};

	if (ky_state.host->device(ky_state.source, &desc, &number) != KYMO_OK)
		return;
	clock_desc.device = number;
	if (ky_state.host->clock(ky_state.source, &clock_desc, &clock) != KYMO_OK)
		return;
	atomic_store(&device->clock, clock);
	atomic_store(&device->number, number);
}

/*
 * By the oldest creator, which every driver has: the loader's table is always full, and a
 * function that a driver is too old for crashes in the loader.
 */
static cl_command_queue create_marker_queue(const struct ky_device *device,
					    cl_context context)
{
	cl_int error = CL_INVALID_OPERATION;
	cl_command_queue queue = device->layer->target.clCreateCommandQueue(
		context, device->handle, CL_QUEUE_PROFILING_ENABLE, &error);

	return error == CL_SUCCESS ? queue : NULL;
}

/* Waits until the device has seen the marker, or for 5 ms: it may be busy for hours. */
static void await_marker(const cl_icd_dispatch *target, cl_event marker)
{
	const struct timespec nap = {0, MARKER_NAP_NS};
	const uint64_t end = monotonic_ns() + MARKER_WAIT_NS;
	cl_int status = CL_QUEUED;

	for (;;) {
		if (target->clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS,
					   sizeof(status), &status, NULL) != CL_SUCCESS ||
		    status <= CL_COMPLETE || monotonic_ns() > end)
			return;
		nanosleep(&nap, NULL);
	}
}

static void run_markers(const struct ky_device *device, cl_command_queue queue)
{
	const cl_icd_dispatch *target = &device->layer->target;
	const struct kymo_host *host = ky_state.host;
	struct kymo_clock_pair pairs[MARKER_COUNT];
	cl_event events[MARKER_COUNT];
	size_t count = 0;

	for (; count < MARKER_COUNT; count++) {
		pairs[count].host_lo = host->now();
		if (target->clEnqueueMarker(queue, &events[count]) != CL_SUCCESS)
			break;
		pairs[count].host_hi = host->now();
	}
	if (count == 0)
		return;
	target->clFlush(queue);
	await_marker(target, events[count - 1]);
	for (size_t i = 0; i < count; i++) {
		cl_ulong queued = 0;

		if (target->clGetEventProfilingInfo(
			    events[i], CL_PROFILING_COMMAND_QUEUED, sizeof(queued),
			    &queued, NULL) == CL_SUCCESS &&
		    queued != 0) {
			pairs[i].device = queued;
			host->anchor(ky_state.source, atomic_load(&device->clock),
				     &pairs[i]);
		}
		target->clReleaseEvent(events[i]);
	}
}

void ky_device_calibrate(struct ky_device *device, cl_context context,
			 uint64_t min_age_ns)
{
	const uint64_t now = monotonic_ns();
	const unsigned epoch = atomic_load(&ky_state.epoch);
	unsigned long long last = atomic_load(&device->calibrated);
	cl_command_queue queue;

	if (atomic_load(&device->calibrated_epoch) == epoch && now - last < min_age_ns)
		return;
	/* One thread does it; the others go on without. */
	if (!device->layer->target.clEnqueueMarker || !atomic_load(&device->clock) ||
	    !atomic_compare_exchange_strong(&device->calibrated, &last, now))
		return;
	atomic_store(&device->calibrated_epoch, epoch);

	queue = create_marker_queue(device, context);
	if (!queue)
		return;
	run_markers(device, queue);
	device->layer->target.clReleaseCommandQueue(queue);
}

void ky_anchor_flush(struct ky_anchor *anchor, const struct ky_device *device)
{
	if (anchor->count == 0)
		return;
	ky_state.host->anchor(ky_state.source, atomic_load(&device->clock),
			      &anchor->best);
	anchor->given_device = anchor->best.device;
	anchor->count = 0;
}

void ky_anchor_add(struct ky_anchor *anchor, const struct ky_device *device,
		   const struct kymo_clock_pair *pair)
{
	if (anchor->count == 0 ||
	    pair->host_hi - pair->host_lo < anchor->best.host_hi - anchor->best.host_lo)
		anchor->best = *pair;
	anchor->count++;
	if (anchor->count >= ANCHOR_COMMANDS ||
	    pair->device - anchor->given_device >= ANCHOR_TICKS)
		ky_anchor_flush(anchor, device);
}

void ky_device_forked(void)
{
	pthread_mutex_init(&list_lock, NULL);
}
