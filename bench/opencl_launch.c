/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launches a kernel of 8 work items LAUNCHES times in batches of BATCH, each finished,
 * and prints the microseconds per launch. What opencl_launch.py runs with and without
 * Kymo.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LAUNCHES 10000
#define BATCH    1000

static const char *const text = "__kernel void nothing(__global int *x) {"
				"    if (x[0] == 12345) x[1] = get_global_id(0); }";

static void must(cl_int code, const char *what)
{
	if (code == CL_SUCCESS)
		return;
	fprintf(stderr, "opencl_launch: %s: %d\n", what, code);
	exit(77);
}

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void launch(cl_command_queue queue, cl_kernel kernel)
{
	const size_t size = 8;

	for (int i = 0; i < LAUNCHES; i++) {
		must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL,
					    NULL),
		     "clEnqueueNDRangeKernel");
		if (i % BATCH == BATCH - 1)
			must(clFinish(queue), "clFinish");
	}
}

int main(void)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_command_queue queue;
	cl_context context;
	cl_program program;
	cl_kernel kernel;
	cl_mem memory;
	cl_int code;
	uint64_t begin;

	must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
	must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL),
	     "clGetDeviceIDs");
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
	must(code, "clCreateContext");
	queue = clCreateCommandQueue(context, device, 0, &code);
	must(code, "clCreateCommandQueue");
	program = clCreateProgramWithSource(context, 1, (const char **)(uintptr_t)&text,
					    NULL, &code);
	must(code, "clCreateProgramWithSource");
	must(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
	kernel = clCreateKernel(program, "nothing", &code);
	must(code, "clCreateKernel");
	memory = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &code);
	must(code, "clCreateBuffer");
	must(clSetKernelArg(kernel, 0, sizeof(memory), &memory), "clSetKernelArg");

	launch(queue, kernel); /* compiles, warms */
	begin = now_ns();
	launch(queue, kernel);
	printf("%.4f\n", (double)(now_ns() - begin) / 1000 / LAUNCHES);

	clReleaseMemObject(memory);
	clReleaseKernel(kernel);
	clReleaseProgram(program);
	clReleaseCommandQueue(queue);
	clReleaseContext(context);
	return 0;
}
