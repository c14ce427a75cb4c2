/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A framework in short, on a real device: an annotation of the user's, "step", whose work
 * is launched by two threads on two queues, then a backward pass in a third thread, which
 * is no part of it. Status 77 without a device.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <kymo/link.h>

#define STEP 5u

static const char source[] = "kernel void add(global int *a) { a[get_global_id(0)]++; }";

static cl_context context;
static cl_device_id device;
static cl_kernel kernel;
static cl_command_queue queues[2];

static void need(cl_int error, const char *what)
{
	if (error == CL_SUCCESS)
		return;
	fprintf(stderr, "linked: %s: %d\n", what, (int)error);
	exit(1);
}

static void open_device(void)
{
	const char *text = source;
	cl_platform_id platform;
	cl_program program;
	cl_mem memory;
	cl_int error;

	if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) !=
		    CL_SUCCESS) {
		puts("skip: no OpenCL device");
		exit(77);
	}
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	need(error, "context");
	program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
	need(error, "program");
	need(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
	kernel = clCreateKernel(program, "add", &error);
	need(error, "kernel");
	memory = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, &error);
	need(error, "memory");
	need(clSetKernelArg(kernel, 0, sizeof(cl_mem), &memory), "argument");
	for (int i = 0; i < 2; i++) {
		queues[i] = clCreateCommandQueue(context, device,
						 CL_QUEUE_PROFILING_ENABLE, &error);
		need(error, "queue");
	}
}

static uint32_t name_of(const char *text)
{
	return kymo_mark_intern(text, strlen(text));
}

/* An operation with a number of its own and so many kernels. */
static void operate(uint64_t number, const char *name, cl_command_queue queue, int count)
{
	const size_t size = 1024;
	uint64_t begin = kymo_mark_begin();

	kymo_link_push(KYMO_LINK_OP, number);
	for (int i = 0; i < count; i++)
		need(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL,
					    NULL),
		     "launch");
	kymo_link_pop(KYMO_LINK_OP);
	kymo_link_end(KYMO_LINK_OP, number, begin, name_of(name), NULL, 0);
	need(clFinish(queue), "finish");
}

static void *help(void *unused)
{
	kymo_link_push(KYMO_LINK_USER, STEP);
	operate(101, "handed on", queues[1], 3);
	kymo_link_pop(KYMO_LINK_USER);
	return unused;
}

static void *go_backward(void *unused)
{
	operate(200, "MmBackward0", queues[1], 2);
	return unused;
}

static void in_thread(void *(*run)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, NULL) != 0)
		exit(1);
	pthread_join(thread, NULL);
}

int main(void)
{
	uint64_t begin;
	uint16_t kind;

	open_device();
	begin = kymo_mark_begin();
	kymo_link_push(KYMO_LINK_USER, STEP);
	operate(100, "aten::mm", queues[0], 4);
	in_thread(help);
	kymo_link_pop(KYMO_LINK_USER);
	kymo_link_end(KYMO_LINK_USER, STEP, begin, name_of("step"), NULL, 0);
	in_thread(go_backward);
	kind = kymo_link_kind(KYMO_LINK_FORWARD_BACKWARD);
	for (int i = 0; i < 3; i++)
		kymo_link_arrow(kind, KYMO_LINK_OP, 100, KYMO_LINK_OP, 200);
	return 0;
}
