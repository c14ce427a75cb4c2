/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrapped calls about kernels, markers and barriers. Compiled once per loader, see
 * layer.h; called by any thread.
 */
#include <string.h>

#include "enqueue.h"
#include "kernel.h"
#include "span.h"

static cl_int CL_API_CALL enqueue_ndrange_kernel(
	cl_command_queue queue, cl_kernel kernel, cl_uint work_dim,
	const size_t *global_offset, const size_t *global_size, const size_t *local_size,
	cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
	struct ky_enqueue enqueue;
	cl_int error;

	if (!ky_state_is_recording())
		return KY_TARGET->clEnqueueNDRangeKernel(
			queue, kernel, work_dim, global_offset, global_size, local_size,
			wait_count, wait_list, event);
	ky_enqueue_begin(&enqueue, KY_CALL_NDRANGE_KERNEL, queue, event);
	error = KY_TARGET->clEnqueueNDRangeKernel(queue, kernel, work_dim, global_offset,
						  global_size, local_size, wait_count,
						  wait_list, enqueue.event);
	ky_enqueue_returned(&enqueue, error);
	if (error == CL_SUCCESS && enqueue.queue) {
		const struct ky_kernel_size size = {enqueue.queue->context, work_dim,
						    global_offset, global_size,
						    local_size};

		ky_kernel_describe(KY_LAYER, kernel, &size, &enqueue.command.name,
				   &enqueue.command.attributes);
	}
	ky_enqueue_end(&enqueue, KY_LAYER, queue, CL_FALSE);
	return error;
}

/* A task is a launch of one work item. */
static cl_int CL_API_CALL enqueue_task(cl_command_queue queue, cl_kernel kernel,
				       cl_uint wait_count, const cl_event *wait_list,
				       cl_event *event)
{
	static const size_t one = 1;
	struct ky_enqueue enqueue;
	cl_int error;

	if (!ky_state_is_recording())
		return KY_TARGET->clEnqueueTask(queue, kernel, wait_count, wait_list,
						event);
	ky_enqueue_begin(&enqueue, KY_CALL_TASK, queue, event);
	error = KY_TARGET->clEnqueueTask(queue, kernel, wait_count, wait_list,
					 enqueue.event);
	ky_enqueue_returned(&enqueue, error);
	if (error == CL_SUCCESS && enqueue.queue) {
		const struct ky_kernel_size size = {enqueue.queue->context, 1, NULL, &one,
						    &one};

		ky_kernel_describe(KY_LAYER, kernel, &size, &enqueue.command.name,
				   &enqueue.command.attributes);
	}
	ky_enqueue_end(&enqueue, KY_LAYER, queue, CL_FALSE);
	return error;
}

/* A host function has no name here; its address goes with it, to be looked up later. */
static cl_int CL_API_CALL
enqueue_native_kernel(cl_command_queue queue, void(CL_CALLBACK *function)(void *),
		      void *arguments, size_t arguments_size, cl_uint mem_count,
		      const cl_mem *mem_list, const void **mem_places, cl_uint wait_count,
		      const cl_event *wait_list, cl_event *event)
{
	struct ky_enqueue enqueue;
	cl_int error;

	if (!ky_state_is_recording())
		return KY_TARGET->clEnqueueNativeKernel(
			queue, function, arguments, arguments_size, mem_count, mem_list,
			mem_places, wait_count, wait_list, event);
	ky_enqueue_begin(&enqueue, KY_CALL_NATIVE_KERNEL, queue, event);
	error = KY_TARGET->clEnqueueNativeKernel(
		queue, function, arguments, arguments_size, mem_count, mem_list,
		mem_places, wait_count, wait_list, enqueue.event);
	ky_enqueue_returned(&enqueue, error);
	if (error == CL_SUCCESS && enqueue.queue) {
		void *address;

		memcpy(&address, &function, sizeof(address));
		const struct kymo_value values[] = {
			ky_value_number(KY_KEY_CONTEXT,
					(uintptr_t)enqueue.queue->context),
			ky_value_number(KY_KEY_FUNCTION,
					ky_state.host->code(ky_state.source, address)),
		};

		enqueue.command.attributes =
			ky_state.host->attributes(ky_state.source, values, 2);
	}
	ky_enqueue_end(&enqueue, KY_LAYER, queue, CL_FALSE);
	return error;
}

/* Without an event it marks nothing, and OpenCL refuses it. */
static cl_int CL_API_CALL enqueue_marker(cl_command_queue queue, cl_event *event)
{
	if (!event)
		KY_SPAN_CALL(KY_CALL_MARKER, KY_TARGET->clEnqueueMarker, queue, NULL);
	KY_ENQUEUE(KY_CALL_MARKER, KY_BYTES_UNKNOWN, CL_FALSE, KY_TARGET->clEnqueueMarker,
		   queue);
}

static cl_int CL_API_CALL enqueue_marker_with_wait_list(cl_command_queue queue,
							cl_uint wait_count,
							const cl_event *wait_list,
							cl_event *event)
{
	KY_ENQUEUE(KY_CALL_MARKER_WITH_WAIT_LIST, KY_BYTES_UNKNOWN, CL_FALSE,
		   KY_TARGET->clEnqueueMarkerWithWaitList, queue, wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_barrier_with_wait_list(cl_command_queue queue,
							 cl_uint wait_count,
							 const cl_event *wait_list,
							 cl_event *event)
{
	KY_ENQUEUE(KY_CALL_BARRIER_WITH_WAIT_LIST, KY_BYTES_UNKNOWN, CL_FALSE,
		   KY_TARGET->clEnqueueBarrierWithWaitList, queue, wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_acquire_gl(cl_command_queue queue, cl_uint count,
					     const cl_mem *objects, cl_uint wait_count,
					     const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_ACQUIRE_GL, KY_BYTES_UNKNOWN, CL_FALSE,
		   KY_TARGET->clEnqueueAcquireGLObjects, queue, count, objects,
		   wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_release_gl(cl_command_queue queue, cl_uint count,
					     const cl_mem *objects, cl_uint wait_count,
					     const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_RELEASE_GL, KY_BYTES_UNKNOWN, CL_FALSE,
		   KY_TARGET->clEnqueueReleaseGLObjects, queue, count, objects,
		   wait_count, wait_list);
}

/* ---- Creators: a handle that comes back may have been another kernel's ---- */

static void forget_kernel(cl_kernel kernel)
{
	if (kernel && !ky_state_is_inherited())
		ky_kernel_forget(kernel);
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name,
					   cl_int *error)
{
	cl_kernel kernel = KY_TARGET->clCreateKernel(program, name, error);

	forget_kernel(kernel);
	return kernel;
}

static cl_int CL_API_CALL create_kernels_in_program(cl_program program, cl_uint capacity,
						    cl_kernel *kernels, cl_uint *count)
{
	cl_uint made = 0;
	cl_int error = KY_TARGET->clCreateKernelsInProgram(program, capacity, kernels,
							   count ? count : &made);

	if (error != CL_SUCCESS || !kernels)
		return error;
	if (count)
		made = *count;
	for (cl_uint i = 0; i < made && i < capacity; i++)
		forget_kernel(kernels[i]);
	return error;
}

static cl_kernel CL_API_CALL clone_kernel(cl_kernel source, cl_int *error)
{
	cl_kernel kernel = KY_TARGET->clCloneKernel(source, error);

	forget_kernel(kernel);
	return kernel;
}

void KY_LAYER_NAME(ky_kernel_call_install)(cl_icd_dispatch *table)
{
	KY_LAYER_WRAP(table, clEnqueueNDRangeKernel, enqueue_ndrange_kernel);
	KY_LAYER_WRAP(table, clEnqueueTask, enqueue_task);
	KY_LAYER_WRAP(table, clEnqueueNativeKernel, enqueue_native_kernel);
	KY_LAYER_WRAP(table, clEnqueueMarker, enqueue_marker);
	KY_LAYER_WRAP(table, clEnqueueMarkerWithWaitList, enqueue_marker_with_wait_list);
	KY_LAYER_WRAP(table, clEnqueueBarrierWithWaitList,
		      enqueue_barrier_with_wait_list);
	KY_LAYER_WRAP(table, clEnqueueAcquireGLObjects, enqueue_acquire_gl);
	KY_LAYER_WRAP(table, clEnqueueReleaseGLObjects, enqueue_release_gl);
	KY_LAYER_WRAP(table, clCreateKernel, create_kernel);
	KY_LAYER_WRAP(table, clCreateKernelsInProgram, create_kernels_in_program);
	KY_LAYER_WRAP(table, clCloneKernel, clone_kernel);
}
