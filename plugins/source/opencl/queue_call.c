/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrapped calls about command queues: profiling is turned on when one is created, and
 * everything that would show it answers as if it were not. Compiled once per loader, see
 * layer.h; called by any thread.
 *
 * Profiling is forced whether or not something is being recorded at that moment, since a
 * recording may begin later and a queue cannot be changed then.
 */
#include <errno.h>
#include <string.h>

#include "enqueue.h"
#include "span.h"

#define PAIR_COUNT 16 /* properties of a queue; OpenCL defines 2, vendors a few */

typedef cl_command_queue(CL_API_CALL *create_fn)(cl_context, cl_device_id,
						 const cl_queue_properties *, cl_int *);

/* A property list of the program with profiling added. */
struct forced_list {
	cl_queue_properties items[2 * PAIR_COUNT + 3];
	int is_forced; /* it differs from the program's */
	struct ky_disguise disguise;
};

static struct ky_queue *find_hidden(cl_command_queue handle)
{
	struct ky_queue *queue = ky_queue_find(handle);

	return queue && atomic_load(&queue->is_hidden) ? queue : NULL;
}

/* ---- Creating ---- */

static void force_list(const cl_queue_properties *list, struct forced_list *out)
{
	cl_queue_properties *properties = NULL;
	size_t count = 0;

	memset(out, 0, sizeof(*out));
	for (; list && list[count] != 0; count += 2) {
		if (count == (size_t)2 * PAIR_COUNT)
			return;
		out->items[count] = list[count];
		out->items[count + 1] = list[count + 1];
		if (list[count] == CL_QUEUE_PROPERTIES)
			properties = &out->items[count + 1];
	}
	if (!properties) {
		out->disguise.is_pair_added = 1;
		out->disguise.is_list_added = !list;
		out->items[count] = CL_QUEUE_PROPERTIES;
		properties = &out->items[count + 1];
	}
	/* A queue on the device is filled by kernels; there is nothing here to time. */
	if (*properties & (CL_QUEUE_ON_DEVICE | CL_QUEUE_PROFILING_ENABLE))
		return;
	*properties |= CL_QUEUE_PROFILING_ENABLE;
	out->is_forced = 1;
	out->disguise.is_hidden = 1;
}

static void register_queue(cl_command_queue handle, struct ky_disguise disguise)
{
	const int saved_errno = errno;
	const int is_recording = ky_state_is_recording();
	struct ky_queue *queue;

	if (is_recording)
		ky_command_drain_given_up();
	queue = ky_queue_register(KY_LAYER, handle, disguise);
	if (queue && is_recording)
		ky_queue_prepare(queue);
	errno = saved_errno;
}

static cl_command_queue create_from_list(create_fn create, cl_context context,
					 cl_device_id device,
					 const cl_queue_properties *list,
					 cl_int *error_out)
{
	cl_command_queue queue = NULL;
	cl_int error = CL_SUCCESS;
	struct forced_list forced;

	if (ky_state_is_inherited())
		return create(context, device, list, error_out);
	force_list(list, &forced);
	if (forced.is_forced)
		queue = create(context, device, forced.items, &error);
	if (!queue) {
		forced.disguise = (struct ky_disguise){0, 0, 0};
		queue = create(context, device, list, &error);
	}
	if (error_out)
		*error_out = error;
	if (queue)
		register_queue(queue, forced.disguise);
	return queue;
}

static cl_command_queue CL_API_CALL
create_queue_with_properties(cl_context context, cl_device_id device,
			     const cl_queue_properties *list, cl_int *error_out)
{
	return create_from_list(KY_TARGET->clCreateCommandQueueWithProperties, context,
				device, list, error_out);
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
						 cl_command_queue_properties properties,
						 cl_int *error_out)
{
	const int is_forced = !(properties & CL_QUEUE_PROFILING_ENABLE);
	cl_command_queue queue;
	cl_int error = CL_SUCCESS;
	struct ky_disguise disguise = {(uint8_t)is_forced, 0, 0};

	if (ky_state_is_inherited())
		return KY_TARGET->clCreateCommandQueue(context, device, properties,
						       error_out);
	queue = KY_TARGET->clCreateCommandQueue(
		context, device, properties | CL_QUEUE_PROFILING_ENABLE, &error);
	if (!queue && is_forced) {
		disguise.is_hidden = 0;
		queue = KY_TARGET->clCreateCommandQueue(context, device, properties,
							&error);
	}
	if (error_out)
		*error_out = error;
	if (queue)
		register_queue(queue, disguise);
	return queue;
}

/* The extension's creator; each platform has its own. */
static cl_command_queue CL_API_CALL create_queue_khr(cl_context context,
						     cl_device_id device,
						     const cl_queue_properties *list,
						     cl_int *error_out)
{
	struct ky_device *entry = device ? ky_device_get(KY_LAYER, device) : NULL;
	void *symbol =
		entry ? ky_device_extension(entry, KY_EXTENSION_CREATE_QUEUE) : NULL;
	create_fn create;

	if (!symbol) {
		if (error_out)
			*error_out = CL_INVALID_DEVICE;
		return NULL;
	}
	memcpy(&create, &symbol, sizeof(create));
	return create_from_list(create, context, device, list, error_out);
}

void *KY_LAYER_NAME(ky_queue_call_create_khr)(void)
{
	create_fn create = create_queue_khr;
	void *symbol;

	memcpy(&symbol, &create, sizeof(symbol));
	return symbol;
}

/* ---- Changing ---- */

/*
 * Deprecated since OpenCL 1.1, and refused by most drivers. Turning profiling off is
 * done for show only; asking for what is so already tells whether it would be refused.
 */
static cl_int CL_API_CALL set_queue_property(cl_command_queue handle,
					     cl_command_queue_properties properties,
					     cl_bool enable,
					     cl_command_queue_properties *old)
{
	struct ky_queue *queue = ky_queue_find(handle);
	const cl_command_queue_properties others =
		properties & ~CL_QUEUE_PROFILING_ENABLE;
	int was_hidden;
	cl_int error;

	if (!queue)
		return KY_TARGET->clSetCommandQueueProperty(handle, properties, enable,
							    old);
	if (enable || others == properties)
		error = KY_TARGET->clSetCommandQueueProperty(handle, properties, enable,
							     old);
	else if (others)
		error = KY_TARGET->clSetCommandQueueProperty(handle, others, enable, old);
	else
		error = KY_TARGET->clSetCommandQueueProperty(handle, properties, CL_TRUE,
							     old);
	if (error != CL_SUCCESS)
		return error;

	was_hidden = atomic_load(&queue->is_hidden);
	if (properties & CL_QUEUE_PROFILING_ENABLE)
		atomic_store(&queue->is_hidden, enable ? 0 : 1);
	if (old && was_hidden)
		*old &= ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
	return CL_SUCCESS;
}

static cl_int CL_API_CALL retain_queue(cl_command_queue handle)
{
	const cl_int error = KY_TARGET->clRetainCommandQueue(handle);
	struct ky_queue *queue = ky_queue_find(handle);

	if (error == CL_SUCCESS && queue)
		atomic_fetch_add(&queue->references, 1);
	return error;
}

/* The last moment at which the program vouches for the queue, so commands are drained. */
static cl_int CL_API_CALL release_queue(cl_command_queue handle)
{
	const int is_recording = ky_state_is_recording();
	struct ky_queue *queue = ky_queue_find(handle);
	int saved_errno = errno;
	uint64_t begin = 0;
	cl_int error;

	if (is_recording) {
		if (queue)
			ky_queue_synchronise(queue);
		begin = ky_span_begin(KY_CALL_RELEASE_QUEUE);
	}
	errno = saved_errno;
	error = KY_TARGET->clReleaseCommandQueue(handle);
	saved_errno = errno;
	if (is_recording)
		ky_span_end(KY_CALL_RELEASE_QUEUE, begin, error);
	if (error == CL_SUCCESS && queue && !ky_state_is_inherited())
		ky_queue_release(queue);
	errno = saved_errno;
	return error;
}

/* Events of ours hold the context; those that are over must not. */
static cl_int CL_API_CALL release_context(cl_context context)
{
	const int saved_errno = errno;

	if (ky_state_is_recording())
		ky_command_drain_context(context);
	errno = saved_errno;
	return KY_TARGET->clReleaseContext(context);
}

/* ---- Asking ---- */

/* The list as the program gave it: without our bit, or without our pair. */
static cl_int get_property_list(const struct ky_queue *queue, cl_command_queue handle,
				size_t size, void *value, size_t *size_out)
{
	cl_queue_properties list[2 * PAIR_COUNT + 3];
	size_t used = 0, at = 0;
	cl_int error = KY_TARGET->clGetCommandQueueInfo(handle, CL_QUEUE_PROPERTIES_ARRAY,
							sizeof(list), list, &used);

	if (error != CL_SUCCESS)
		return error;
	while (at * sizeof(*list) < used && list[at] != CL_QUEUE_PROPERTIES)
		at += 2;
	if (at * sizeof(*list) < used) {
		list[at + 1] &= ~(cl_queue_properties)CL_QUEUE_PROFILING_ENABLE;
		if (queue->disguise.is_pair_added) {
			/* It stands last; where there was no list there is none now. */
			used = queue->disguise.is_list_added ? 0
							     : used - 2 * sizeof(*list);
			list[at] = 0;
		}
	}
	if (value && size < used)
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, list, used);
	if (size_out)
		*size_out = used;
	return CL_SUCCESS;
}

/* Commands that are over hold the queue for us only. */
static void drop_own_references(cl_command_queue handle)
{
	const int saved_errno = errno;
	struct ky_queue *queue = ky_queue_find(handle);

	if (queue && ky_state_is_recording())
		ky_command_drain(queue);
	errno = saved_errno;
}

static cl_int CL_API_CALL get_queue_info(cl_command_queue handle,
					 cl_command_queue_info name, size_t size,
					 void *value, size_t *size_out)
{
	const struct ky_queue *queue = find_hidden(handle);
	cl_command_queue_properties properties;
	cl_int error;

	if (queue && name == CL_QUEUE_PROPERTIES_ARRAY)
		return get_property_list(queue, handle, size, value, size_out);
	if (name == CL_QUEUE_REFERENCE_COUNT)
		drop_own_references(handle);
	error = KY_TARGET->clGetCommandQueueInfo(handle, name, size, value, size_out);
	if (queue && name == CL_QUEUE_PROPERTIES && error == CL_SUCCESS && value) {
		memcpy(&properties, value, sizeof(properties));
		properties &= ~(cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE;
		memcpy(value, &properties, sizeof(properties));
	}
	return error;
}

static struct ky_queue *find_event_queue(cl_event event)
{
	cl_command_queue handle = NULL;

	if (KY_TARGET->clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(handle),
				      &handle, NULL) != CL_SUCCESS)
		return NULL;
	return ky_queue_find(handle);
}

static cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info name, size_t size,
					 void *value, size_t *size_out)
{
	const cl_int error =
		KY_TARGET->clGetEventInfo(event, name, size, value, size_out);
	struct ky_queue *queue;
	cl_uint count;

	if (name != CL_EVENT_REFERENCE_COUNT || error != CL_SUCCESS || !value ||
	    ky_state_is_inherited())
		return error;
	queue = find_event_queue(event);
	if (queue && ky_command_holds(queue, event)) {
		memcpy(&count, value, sizeof(count));
		count--;
		memcpy(value, &count, sizeof(count));
	}
	return error;
}

static cl_int CL_API_CALL get_event_profiling_info(cl_event event, cl_profiling_info name,
						   size_t size, void *value,
						   size_t *size_out)
{
	const struct ky_queue *queue = find_event_queue(event);

	if (queue && atomic_load(&queue->is_hidden))
		return CL_PROFILING_INFO_NOT_AVAILABLE;
	return KY_TARGET->clGetEventProfilingInfo(event, name, size, value, size_out);
}

void KY_LAYER_NAME(ky_queue_call_install)(cl_icd_dispatch *table)
{
	KY_LAYER_WRAP(table, clCreateCommandQueue, create_queue);
	KY_LAYER_WRAP(table, clCreateCommandQueueWithProperties,
		      create_queue_with_properties);
	KY_LAYER_WRAP(table, clSetCommandQueueProperty, set_queue_property);
	KY_LAYER_WRAP(table, clRetainCommandQueue, retain_queue);
	KY_LAYER_WRAP(table, clReleaseCommandQueue, release_queue);
	KY_LAYER_WRAP(table, clReleaseContext, release_context);
	KY_LAYER_WRAP(table, clGetCommandQueueInfo, get_queue_info);
	KY_LAYER_WRAP(table, clGetEventInfo, get_event_info);
	KY_LAYER_WRAP(table, clGetEventProfilingInfo, get_event_profiling_info);
}
