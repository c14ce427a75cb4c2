/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrapped calls that launch nothing: those that wait, after which commands are complete
 * and their times are read, and those that build programs, which may take longer than
 * everything else. Compiled once per loader, see layer.h; called by any thread.
 */
#include <errno.h>

#include "queue.h"
#include "span.h"

#define EVENT_LIMIT 16 /* events of a wait of which the queues are looked at */

typedef void(CL_CALLBACK *notify_fn)(cl_program, void *);

static void synchronise(cl_command_queue handle)
{
	const int saved_errno = errno;
	struct ky_queue *queue = ky_queue_find(handle);

	if (queue)
		ky_queue_synchronise(queue);
	errno = saved_errno;
}

static cl_int CL_API_CALL finish(cl_command_queue queue)
{
	uint64_t begin;
	cl_int error;

	if (!ky_state_is_recording())
		return KY_TARGET->clFinish(queue);
	begin = ky_span_begin(KY_CALL_FINISH);
	error = KY_TARGET->clFinish(queue);
	ky_span_end(KY_CALL_FINISH, begin, error);
	synchronise(queue);
	return error;
}

static cl_int CL_API_CALL flush(cl_command_queue queue)
{
	KY_SPAN_CALL(KY_CALL_FLUSH, KY_TARGET->clFlush, queue);
}

/* The queues of the first few events that were waited for. */
static void synchronise_queues(cl_uint count, const cl_event *events)
{
	const int saved_errno = errno;
	cl_command_queue previous = NULL;

	for (cl_uint i = 0; i < count && i < EVENT_LIMIT; i++) {
		cl_command_queue queue = NULL;

		KY_TARGET->clGetEventInfo(events[i], CL_EVENT_COMMAND_QUEUE,
					  sizeof(queue), &queue, NULL);
		if (queue != previous)
			synchronise(queue);
		previous = queue;
	}
	errno = saved_errno;
}

static cl_int CL_API_CALL wait_for_events(cl_uint count, const cl_event *events)
{
	uint64_t begin;
	cl_int error;

	if (!ky_state_is_recording())
		return KY_TARGET->clWaitForEvents(count, events);
	begin = ky_span_begin(KY_CALL_WAIT_FOR_EVENTS);
	error = KY_TARGET->clWaitForEvents(count, events);
	ky_span_end(KY_CALL_WAIT_FOR_EVENTS, begin, error);
	/* Also where a command failed: the events are as good as the wait was. */
	if (error == CL_SUCCESS || error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
		synchronise_queues(count, events);
	return error;
}

static cl_int CL_API_CALL enqueue_barrier(cl_command_queue queue)
{
	KY_SPAN_CALL(KY_CALL_BARRIER, KY_TARGET->clEnqueueBarrier, queue);
}

static cl_int CL_API_CALL enqueue_wait_for_events(cl_command_queue queue, cl_uint count,
						  const cl_event *events)
{
	KY_SPAN_CALL(KY_CALL_QUEUE_WAIT, KY_TARGET->clEnqueueWaitForEvents, queue, count,
		     events);
}

static cl_int CL_API_CALL set_user_event_status(cl_event event, cl_int status)
{
	KY_SPAN_CALL(KY_CALL_SET_USER_EVENT_STATUS, KY_TARGET->clSetUserEventStatus,
		     event, status);
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint device_count,
					const cl_device_id *devices, const char *options,
					notify_fn notify, void *data)
{
	KY_SPAN_CALL(KY_CALL_BUILD_PROGRAM, KY_TARGET->clBuildProgram, program,
		     device_count, devices, options, notify, data);
}

static cl_int CL_API_CALL compile_program(cl_program program, cl_uint device_count,
					  const cl_device_id *devices,
					  const char *options, cl_uint header_count,
					  const cl_program *headers,
					  const char **header_names, notify_fn notify,
					  void *data)
{
	KY_SPAN_CALL(KY_CALL_COMPILE_PROGRAM, KY_TARGET->clCompileProgram, program,
		     device_count, devices, options, header_count, headers, header_names,
		     notify, data);
}

static cl_program CL_API_CALL link_program(cl_context context, cl_uint device_count,
					   const cl_device_id *devices,
					   const char *options, cl_uint input_count,
					   const cl_program *inputs, notify_fn notify,
					   void *data, cl_int *error_out)
{
	cl_int own_error = CL_SUCCESS, *error = error_out ? error_out : &own_error;
	cl_program program;
	uint64_t begin;

	if (!ky_state_is_recording())
		return KY_TARGET->clLinkProgram(context, device_count, devices, options,
						input_count, inputs, notify, data,
						error_out);
	begin = ky_span_begin(KY_CALL_LINK_PROGRAM);
	program = KY_TARGET->clLinkProgram(context, device_count, devices, options,
					   input_count, inputs, notify, data, error);
	ky_span_end(KY_CALL_LINK_PROGRAM, begin, *error);
	return program;
}

void KY_LAYER_NAME(ky_host_call_install)(cl_icd_dispatch *table)
{
	KY_LAYER_WRAP(table, clFinish, finish);
	KY_LAYER_WRAP(table, clFlush, flush);
	KY_LAYER_WRAP(table, clWaitForEvents, wait_for_events);
	KY_LAYER_WRAP(table, clEnqueueBarrier, enqueue_barrier);
	KY_LAYER_WRAP(table, clEnqueueWaitForEvents, enqueue_wait_for_events);
	KY_LAYER_WRAP(table, clSetUserEventStatus, set_user_event_status);
	KY_LAYER_WRAP(table, clBuildProgram, build_program);
	KY_LAYER_WRAP(table, clCompileProgram, compile_program);
	KY_LAYER_WRAP(table, clLinkProgram, link_program);
}
