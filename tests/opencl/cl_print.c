/* SPDX-License-Identifier: BSD-3-Clause */
#include "cl_print.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static atomic_uint commands;

void count_command(void)
{
	atomic_fetch_add(&commands, 1);
}

void print_commands(void)
{
	printf("commands %u\n", atomic_load(&commands));
}

cl_int call(const char *name, cl_int error)
{
	printf("%s: %d\n", name, error);
	return error;
}

void command(const char *name, cl_int error)
{
	if (call(name, error) == CL_SUCCESS)
		count_command();
}

void nap(void)
{
	nanosleep(&(struct timespec){0, 50000000}, NULL);
}

static cl_uint references_to(cl_context context, cl_command_queue queue)
{
	cl_uint contexts = 0, queues = 0;

	clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof(contexts), &contexts,
			 NULL);
	clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof(queues), &queues,
			      NULL);
	return contexts + queues;
}

void settle(cl_context context, cl_command_queue queue)
{
	cl_uint before, now = references_to(context, queue);

	for (int equal = 0; equal < 6; equal = now == before ? equal + 1 : 0) {
		before = now;
		nap();
		now = references_to(context, queue);
	}
}

void print_queue(const char *name, cl_command_queue queue)
{
	cl_command_queue_properties properties = 0;
	cl_queue_properties list[16];
	size_t size = 0;
	cl_uint references = 0;
	cl_int error;

	error = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(properties),
				      &properties, &size);
	printf("%s: properties %d 0x%llx size %zu\n", name, error,
	       (unsigned long long)properties, size);
	size = 77;
	memset(list, 0x5a, sizeof(list));
	error = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof(list),
				      list, &size);
	printf("%s: list %d size %zu:", name, error, size);
	for (size_t i = 0; i < size / sizeof(*list) && i < 16; i++)
		printf(" 0x%llx", (unsigned long long)list[i]);
	printf(" then 0x%llx\n", (unsigned long long)list[size / sizeof(*list)]);
	size = 77;
	error = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, 0, NULL, &size);
	printf("%s: list without room %d size %zu\n", name, error, size);
	error = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, 8, list, NULL);
	printf("%s: list with little room %d\n", name, error);
	error = clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof(references),
				      &references, NULL);
	printf("%s: references %d %u\n", name, error, references);
}

void print_event(const char *name, cl_event event)
{
	cl_int status = 77;
	cl_uint references = 0;
	cl_command_type type = 0;
	cl_ulong stamp[2] = {0, 0};
	cl_int error;

	error = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
			       &status, NULL);
	printf("%s: status %d %d\n", name, error, status);
	error = clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL);
	printf("%s: type %d 0x%x\n", name, error, type);
	error = clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(references),
			       &references, NULL);
	/* The driver lets go of a complete event when it likes to. */
	printf("%s: references %d %s\n", name, error,
	       references >= 1 && references <= 6 ? "few" : "many");
	for (cl_profiling_info what = CL_PROFILING_COMMAND_QUEUED;
	     what <= CL_PROFILING_COMMAND_END; what++) {
		error = clGetEventProfilingInfo(event, what, sizeof(stamp[0]), &stamp[0],
						NULL);
		printf("%s: profiling 0x%x %d %s\n", name, what, error,
		       error == CL_SUCCESS && stamp[0] ? "stamp" : "none");
	}
	error = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, 4, stamp, NULL);
	printf("%s: profiling with little room %d\n", name, error);
}

void ask_event(const char *name, cl_event event)
{
	const cl_event_info names[] = {CL_EVENT_COMMAND_QUEUE,
				       CL_EVENT_CONTEXT,
				       CL_EVENT_COMMAND_TYPE,
				       CL_EVENT_REFERENCE_COUNT,
				       CL_EVENT_COMMAND_EXECUTION_STATUS,
				       0x9999};
	const cl_profiling_info stamps[] = {CL_PROFILING_COMMAND_QUEUED,
					    CL_PROFILING_COMMAND_COMPLETE, 0x9999};
	cl_ulong room;
	size_t size;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size = 77;
		printf("%s: 0x%x %d", name, names[i],
		       clGetEventInfo(event, names[i], sizeof(room), &room, &size));
		printf(" size %zu, in 2: %d, nowhere: %d\n", size,
		       clGetEventInfo(event, names[i], 2, &room, NULL),
		       clGetEventInfo(event, names[i], 0, NULL, NULL));
	}
	for (size_t i = 0; i < sizeof(stamps) / sizeof(*stamps); i++) {
		size = 77;
		printf("%s: profiling 0x%x %d", name, stamps[i],
		       clGetEventProfilingInfo(event, stamps[i], sizeof(room), &room,
					       &size));
		printf(" size %zu, nowhere: %d\n", size,
		       clGetEventProfilingInfo(event, stamps[i], 0, NULL, NULL));
	}
}
