/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that no table holds, since a program asks for them by name: it is given ours.
 * Which platform's function is meant shows only when one is called. Compiled once per
 * loader, see layer.h; called by any thread.
 */
#include <stdlib.h>
#include <string.h>

#include "enqueue.h"

/* The device's function, as symbol; NULL: no such queue, or not on this platform. */
static void *find_function(cl_command_queue queue, enum ky_extension extension)
{
	struct ky_queue *entry = ky_queue_find(queue);
	struct ky_device *device = entry ? entry->device : NULL;
	cl_device_id handle = NULL;

	if (!device && queue &&
	    KY_TARGET->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(handle),
					     &handle, NULL) == CL_SUCCESS)
		device = ky_device_get(KY_LAYER, handle);
	return device ? ky_device_extension(device, extension) : NULL;
}

static cl_int CL_API_CALL enqueue_usm_copy(cl_command_queue queue, cl_bool blocking,
					   void *target, const void *source, size_t size,
					   cl_uint wait_count, const cl_event *wait_list,
					   cl_event *event)
{
	void *symbol = find_function(queue, KY_EXTENSION_USM_COPY);
	clEnqueueMemcpyINTEL_fn copy;

	if (!symbol)
		return CL_INVALID_COMMAND_QUEUE;
	memcpy(&copy, &symbol, sizeof(copy));
	KY_ENQUEUE(KY_CALL_USM_COPY, size, blocking, copy, queue, blocking, target,
		   source, size, wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_usm_fill(cl_command_queue queue, void *target,
					   const void *pattern, size_t pattern_size,
					   size_t size, cl_uint wait_count,
					   const cl_event *wait_list, cl_event *event)
{
	void *symbol = find_function(queue, KY_EXTENSION_USM_FILL);
	clEnqueueMemFillINTEL_fn fill;

	if (!symbol)
		return CL_INVALID_COMMAND_QUEUE;
	memcpy(&fill, &symbol, sizeof(fill));
	KY_ENQUEUE(KY_CALL_USM_FILL, size, CL_FALSE, fill, queue, target, pattern,
		   pattern_size, size, wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_usm_migrate(cl_command_queue queue, const void *pointer,
					      size_t size, cl_mem_migration_flags flags,
					      cl_uint wait_count,
					      const cl_event *wait_list, cl_event *event)
{
	void *symbol = find_function(queue, KY_EXTENSION_USM_MIGRATE);
	clEnqueueMigrateMemINTEL_fn migrate;

	if (!symbol)
		return CL_INVALID_COMMAND_QUEUE;
	memcpy(&migrate, &symbol, sizeof(migrate));
	KY_ENQUEUE(KY_CALL_USM_MIGRATE, size, CL_FALSE, migrate, queue, pointer, size,
		   flags, wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_usm_advise(cl_command_queue queue, const void *pointer,
					     size_t size, cl_mem_advice_intel advice,
					     cl_uint wait_count,
					     const cl_event *wait_list, cl_event *event)
{
	void *symbol = find_function(queue, KY_EXTENSION_USM_ADVISE);
	clEnqueueMemAdviseINTEL_fn advise;

	if (!symbol)
		return CL_INVALID_COMMAND_QUEUE;
	memcpy(&advise, &symbol, sizeof(advise));
	KY_ENQUEUE(KY_CALL_USM_ADVISE, KY_BYTES_UNKNOWN, CL_FALSE, advise, queue, pointer,
		   size, advice, wait_count, wait_list);
}

/* ---- Command buffers ---- */

/* The queue that a buffer was made for, on which it runs when none is named. */
struct buffer {
	struct buffer *next; /* never changes */
	cl_command_buffer_khr handle;
	cl_command_queue _Atomic queue;
};

static struct buffer
	*_Atomic buffers; /* only grows; a handle that comes again is found */

static struct buffer *find_buffer(cl_command_buffer_khr handle)
{
	struct buffer *buffer = atomic_load(&buffers);

	while (buffer && buffer->handle != handle)
		buffer = buffer->next;
	return buffer;
}

static void remember_buffer(cl_command_buffer_khr handle, cl_command_queue queue)
{
	struct buffer *buffer = find_buffer(handle);

	if (buffer) {
		atomic_store(&buffer->queue, queue);
		return;
	}
	buffer = calloc(1, sizeof(*buffer));
	if (!buffer)
		return;
	buffer->handle = handle;
	buffer->queue = queue;
	buffer->next = atomic_load(&buffers);
	while (!atomic_compare_exchange_weak(&buffers, &buffer->next, buffer))
		;
}

static cl_command_buffer_khr CL_API_CALL create_command_buffer(
	cl_uint queue_count, const cl_command_queue *queues,
	const cl_command_buffer_properties_khr *properties, cl_int *error_out)
{
	cl_command_queue queue = queues && queue_count > 0 ? queues[0] : NULL;
	void *symbol = find_function(queue, KY_EXTENSION_CREATE_COMMAND_BUFFER);
	cl_command_buffer_khr buffer;
	clCreateCommandBufferKHR_fn create;

	if (!symbol) {
		if (error_out)
			*error_out = CL_INVALID_COMMAND_QUEUE;
		return NULL;
	}
	memcpy(&create, &symbol, sizeof(create));
	buffer = create(queue_count, queues, properties, error_out);
	if (buffer)
		remember_buffer(buffer, queue);
	return buffer;
}

static cl_int CL_API_CALL enqueue_command_buffer(
	cl_uint queue_count, cl_command_queue *queues, cl_command_buffer_khr handle,
	cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
	struct buffer *buffer = find_buffer(handle);
	cl_command_queue queue = buffer ? atomic_load(&buffer->queue) : NULL;
	void *symbol;
	clEnqueueCommandBufferKHR_fn run;

	if (queues && queue_count > 0)
		queue = queues[0];
	symbol = find_function(queue, KY_EXTENSION_ENQUEUE_COMMAND_BUFFER);
	if (!symbol)
		return CL_INVALID_COMMAND_BUFFER_KHR;
	memcpy(&run, &symbol, sizeof(run));
	KY_ENQUEUE(KY_CALL_COMMAND_BUFFER, KY_BYTES_UNKNOWN, CL_FALSE, run, queue_count,
		   queues, handle, wait_count, wait_list);
}

/* ---- Asking for a function ---- */

/*
 * The wrapper of a function that is also asked for by name, which would get the program
 * the driver's own instead of the loader's.
 */
static void *find_in_table(const char *name)
{
	const cl_icd_dispatch *table = &KY_LAYER->wrapped;
	void *function = NULL;

	if (strcmp(name, "clEnqueueAcquireGLObjects") == 0)
		memcpy(&function, &table->clEnqueueAcquireGLObjects, sizeof(function));
	else if (strcmp(name, "clEnqueueReleaseGLObjects") == 0)
		memcpy(&function, &table->clEnqueueReleaseGLObjects, sizeof(function));
	return function;
}

/* What the program gets instead of `found`, the function of this name below us. */
static void *replace(const char *name, void *found)
{
	const clEnqueueMemcpyINTEL_fn usm_copy = enqueue_usm_copy;
	const clEnqueueMemFillINTEL_fn usm_fill = enqueue_usm_fill;
	const clEnqueueMigrateMemINTEL_fn usm_migrate = enqueue_usm_migrate;
	const clEnqueueMemAdviseINTEL_fn usm_advise = enqueue_usm_advise;
	const clCreateCommandBufferKHR_fn create = create_command_buffer;
	const clEnqueueCommandBufferKHR_fn run = enqueue_command_buffer;
	void *wrappers[KY_EXTENSION_COUNT], *wrapper;

	if (!found || !name || ky_state_is_inherited())
		return found;
	memcpy(&wrappers[KY_EXTENSION_USM_COPY], &usm_copy, sizeof(void *));
	memcpy(&wrappers[KY_EXTENSION_USM_FILL], &usm_fill, sizeof(void *));
	memcpy(&wrappers[KY_EXTENSION_USM_MIGRATE], &usm_migrate, sizeof(void *));
	memcpy(&wrappers[KY_EXTENSION_USM_ADVISE], &usm_advise, sizeof(void *));
	memcpy(&wrappers[KY_EXTENSION_CREATE_COMMAND_BUFFER], &create, sizeof(void *));
	memcpy(&wrappers[KY_EXTENSION_ENQUEUE_COMMAND_BUFFER], &run, sizeof(void *));
	wrappers[KY_EXTENSION_CREATE_QUEUE] = KY_LAYER_NAME(ky_queue_call_create_khr)();

	for (size_t i = 0; i < KY_EXTENSION_COUNT; i++) {
		if (strcmp(name, ky_extension_names[i]) == 0)
			return wrappers[i];
	}
	wrapper = find_in_table(name);
	return wrapper ? wrapper : found;
}

static void *CL_API_CALL get_function_for_platform(cl_platform_id platform,
						   const char *name)
{
	return replace(name, KY_TARGET->clGetExtensionFunctionAddressForPlatform(platform,
										 name));
}

/* Our wrappers look a function up by platform, so without that there is no replacing. */
static void *CL_API_CALL get_function(const char *name)
{
	void *found = KY_TARGET->clGetExtensionFunctionAddress(name);

	return KY_TARGET->clGetExtensionFunctionAddressForPlatform ? replace(name, found)
								   : found;
}

void KY_LAYER_NAME(ky_extension_call_install)(cl_icd_dispatch *table)
{
	KY_LAYER_WRAP(table, clGetExtensionFunctionAddressForPlatform,
		      get_function_for_platform);
	KY_LAYER_WRAP(table, clGetExtensionFunctionAddress, get_function);
}
