/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asks OpenCL everything that a layer might answer otherwise than the driver, by every
 * wrapped call: what queues and events say of themselves, error codes, event statuses,
 * callbacks, reference counts. Its output must be the same with and without a layer.
 *
 * Each kind of command is enqueued on each kind of queue in all the wrong ways and once
 * well; the last line counts those ("commands N").
 */
#include "cl_kinds.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 4096

static const char source[] =
	"kernel void add(global int *a) { a[get_global_id(0)] += 1; }\n";

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_program program;

static cl_command_queue make_queue(const char *name,
				   cl_command_queue_properties properties)
{
	cl_int error = 77;
	cl_command_queue queue =
		clCreateCommandQueue(context, device, properties, &error);

	call(name, error);
	return queue;
}

/* ---- Queues ---- */

static void try_queues(void)
{
	const cl_queue_properties lists[][5] = {
		{0},
		{CL_QUEUE_PROPERTIES, 0, 0},
		{CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0},
		{CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0},
		{CL_QUEUE_SIZE, 4096, 0},
		{CL_QUEUE_PROPERTIES,
		 CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
		 CL_QUEUE_SIZE, 4096, 0},
		{0x7777, 1, 0},
	};
	cl_command_queue queue;
	cl_int error;

	for (size_t i = 0; i <= sizeof(lists) / sizeof(*lists); i++) {
		const cl_queue_properties *list =
			i < sizeof(lists) / sizeof(*lists) ? lists[i] : NULL;
		char name[64];

		snprintf(name, sizeof(name), "queue by list %zu", i);
		error = 77;
		queue = clCreateCommandQueueWithProperties(context, device, list, &error);
		call(name, error);
		if (!queue)
			continue;
		print_queue(name, queue);
		call("release", clReleaseCommandQueue(queue));
	}
	queue = make_queue("queue with bad properties", 0xff00);
	if (queue)
		clReleaseCommandQueue(queue);
	call("no context", (clCreateCommandQueue(NULL, device, 0, &error), error));
	queue = make_queue("queue to retain", 0);
	call("retain", clRetainCommandQueue(queue));
	print_queue("retained queue", queue);
	call("release", clReleaseCommandQueue(queue));
	call("release", clReleaseCommandQueue(queue));
}

static void try_extension(void)
{
	typedef cl_command_queue(CL_API_CALL * create_fn)(
		cl_context, cl_device_id, const cl_queue_properties *, cl_int *);
	void *symbol = clGetExtensionFunctionAddressForPlatform(
		platform, "clCreateCommandQueueWithPropertiesKHR");
	create_fn create;
	cl_command_queue queue;
	cl_int error = 77;

	printf("extension: %s\n", symbol ? "yes" : "no");
	printf("no such extension: %s\n",
	       clGetExtensionFunctionAddressForPlatform(platform, "clNothing") ? "yes"
									       : "no");
	if (!symbol)
		return;
	memcpy(&create, &symbol, sizeof(create));
	queue = create(context, device, NULL, &error);
	call("queue by extension", error);
	print_queue("queue by extension", queue);
	clReleaseCommandQueue(queue);
}

/* Each question of a queue, with room, without, with too little, and without a value. */
static void ask_queue(cl_command_queue queue)
{
	const cl_command_queue_info names[] = {CL_QUEUE_CONTEXT,
					       CL_QUEUE_DEVICE,
					       CL_QUEUE_REFERENCE_COUNT,
					       CL_QUEUE_SIZE,
					       CL_QUEUE_DEVICE_DEFAULT,
					       CL_QUEUE_PROPERTIES,
					       0x9999};
	cl_ulong room[8];
	size_t size;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		for (size_t given = 0; given <= sizeof(room);
		     given += given ? given : 1) {
			size = 77;
			printf("queue 0x%x in %zu: %d", names[i], given,
			       clGetCommandQueueInfo(queue, names[i], given, room,
						     &size));
			printf(" size %zu\n", size);
		}
		printf("queue 0x%x nowhere: %d\n", names[i],
		       clGetCommandQueueInfo(queue, names[i], 0, NULL, NULL));
		printf("no queue 0x%x: %d\n", names[i],
		       clGetCommandQueueInfo(NULL, names[i], sizeof(room), room, NULL));
	}
	clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(*room), room, NULL);
	printf("its context: %s\n",
	       memcmp(room, &context, sizeof(context)) ? "no" : "yes");
	clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(*room), room, NULL);
	printf("its device: %s\n", memcmp(room, &device, sizeof(device)) ? "no" : "yes");
}

/* ---- Events that wait, fail and call back ---- */

static atomic_int called_with;

static void CL_CALLBACK on_complete(cl_event event, cl_int status, void *data)
{
	(void)event;
	(void)data;
	atomic_store(&called_with, status);
}

static void wait_for_callback(void)
{
	for (int i = 0; i < 400 && atomic_load(&called_with) == 77; i++)
		nap();
	printf("called with %d\n", atomic_load(&called_with));
}

/* A command behind a user event, which comes to this end. */
static void try_gate(const struct given *good, cl_int end)
{
	struct given given = *good;
	cl_int error = 77;
	cl_event gate = clCreateUserEvent(context, &error), event = NULL;

	call("user event", error);
	ask_event("user event", gate);
	given.wait_count = 1;
	given.wait_list = &gate;
	given.event = &event;
	command("behind it", enqueue_launch(&given));
	atomic_store(&called_with, 77);
	call("callback", clSetEventCallback(event, CL_COMPLETE, on_complete, NULL));
	call("callback at 99", clSetEventCallback(event, 99, on_complete, NULL));
	call("no callback", clSetEventCallback(event, CL_COMPLETE, NULL, NULL));
	call("flush", clFlush(given.queue));
	ask_event("waiting", event);
	call("status 1", clSetUserEventStatus(gate, 1));
	call("status of a command", clSetUserEventStatus(event, CL_COMPLETE));
	call("status", clSetUserEventStatus(gate, end));
	/* PoCL 3.1 does not call back when a command fails. */
	if (end == CL_COMPLETE)
		wait_for_callback();
	call("wait", clWaitForEvents(1, &event));
	print_event("gate", gate);
	print_event("behind it", event);
	call("retain", clRetainEvent(event));
	call("release", clReleaseEvent(event));
	call("release", clReleaseEvent(event));
	call("release", clReleaseEvent(gate));
}

static void try_waits(cl_command_queue queue)
{
	const cl_event nothing = NULL;

	call("wait for none", clWaitForEvents(0, NULL));
	call("wait without list", clWaitForEvents(1, NULL));
	call("wait for nothing", clWaitForEvents(1, &nothing));
	call("finish nothing", clFinish(NULL));
	call("flush nothing", clFlush(NULL));
	call("barrier", clEnqueueBarrier(queue));
	call("barrier nowhere", clEnqueueBarrier(NULL));
	call("release no queue", clReleaseCommandQueue(NULL));
	call("retain no queue", clRetainCommandQueue(NULL));
	call("release no event", clReleaseEvent(NULL));
	call("marker without event", clEnqueueMarker(queue, NULL));
	call("status of nothing", clSetUserEventStatus(NULL, CL_COMPLETE));
	ask_event("no event", NULL);
}

/* ---- Programs and the end of things ---- */

static void CL_CALLBACK on_built(cl_program built, void *data)
{
	(void)built;
	(void)data;
	atomic_store(&called_with, 0);
}

static void try_programs(void)
{
	const char *text = source, *bad = "kernel void add(";
	cl_int error = 77;
	cl_program broken = clCreateProgramWithSource(context, 1, &bad, NULL, &error),
		   made;

	call("broken program", clBuildProgram(broken, 0, NULL, "", NULL, NULL));
	call("no program", clBuildProgram(NULL, 0, NULL, "", NULL, NULL));
	clReleaseProgram(broken);
	made = clCreateProgramWithSource(context, 1, &text, NULL, &error);
	call("compile", clCompileProgram(made, 0, NULL, "", 0, NULL, NULL, NULL, NULL));
	program = clLinkProgram(context, 0, NULL, "", 1, &made, NULL, NULL, &error);
	call("link", error);
	call("link nothing",
	     clLinkProgram(context, 0, NULL, "", 0, NULL, NULL, NULL, NULL) ? 1 : 0);
	clReleaseProgram(made);
	made = clCreateProgramWithSource(context, 1, &text, NULL, &error);
	atomic_store(&called_with, 77);
	call("build", clBuildProgram(made, 0, NULL, "", on_built, NULL));
	wait_for_callback();
	clReleaseProgram(made);
}

static void CL_CALLBACK on_memory_gone(cl_mem memory, void *name)
{
	(void)memory;
	printf("gone: %s\n", (const char *)name);
}

static void CL_CALLBACK on_context_gone(cl_context gone, void *name)
{
	(void)gone;
	printf("gone: %s\n", (const char *)name);
}

/* What is over and was not waited for must not be kept alive by whoever watches. */
static void try_ends(void)
{
	cl_int error = 77;
	cl_context own = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	cl_command_queue queue = clCreateCommandQueue(own, device, 0, &error);
	cl_mem memory = clCreateBuffer(own, CL_MEM_READ_WRITE, SIZE, NULL, &error);
	cl_uint references = 77;

	clSetMemObjectDestructorCallback(memory, on_memory_gone,
					 (void *)(uintptr_t) "memory");
	clSetContextDestructorCallback(own, on_context_gone,
				       (void *)(uintptr_t) "context");
	for (int i = 0; i < 10; i++)
		command("fill", clEnqueueFillBuffer(queue, memory, "abcd", 4, 0, SIZE, 0,
						    NULL, NULL));
	call("flush", clFlush(queue));
	for (int i = 0; i < 400 && references != 1; i++) {
		nap();
		clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof(references),
				   &references, NULL);
	}
	settle(own, queue);
	clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof(references),
			      &references, NULL);
	printf("queue references: %u\n", references);
	clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof(references),
			   &references, NULL);
	printf("memory references: %u\n", references);
	call("release", clReleaseMemObject(memory));
	call("release", clReleaseCommandQueue(queue));
	call("release", clReleaseContext(own));
}

static void set_up_objects(struct given *good)
{
	const cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
	const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
				    .image_width = 16,
				    .image_height = 8};
	cl_int error;

	good->kernel = clCreateKernel(program, "add", &error);
	good->buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, SIZE, NULL, &error);
	good->other = clCreateBuffer(context, CL_MEM_READ_WRITE, SIZE, NULL, &error);
	good->image =
		clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
	good->other_image =
		clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
	good->shared = clSVMAlloc(context, CL_MEM_READ_WRITE, SIZE, 0);
	good->other_shared = clSVMAlloc(context, CL_MEM_READ_WRITE, SIZE, 0);
	good->host = calloc(1, SIZE);
	good->size = 64;
	good->dimensions = 1;
	call("argument",
	     clSetKernelArg(good->kernel, 0, sizeof(good->buffer), &good->buffer));
}

int main(void)
{
	const cl_command_queue_properties properties[] = {
		0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE};
	struct given good = {0};
	cl_int error;

	if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) !=
		    CL_SUCCESS) {
		puts("skip: no OpenCL device");
		return 77;
	}
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	try_queues();
	try_extension();
	try_programs();
	set_up_objects(&good);
	for (size_t i = 0; i < 3; i++) {
		good.queue = make_queue("queue", properties[i]);
		ask_queue(good.queue);
		try_all_kinds(&good);
		try_gate(&good, CL_COMPLETE);
		try_gate(&good, -7);
		try_waits(good.queue);
		call("finish", clFinish(good.queue));
		settle(context, good.queue);
		print_queue("used queue", good.queue);
		call("release", clReleaseCommandQueue(good.queue));
	}
	try_ends();
	print_commands();
	return 5;
}
