/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP threads that each have a queue of an OpenCL device: each launches kernels within
 * a region, and computes the same itself. Exits with 0 where both agree.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <omp.h>
#include <stdio.h>

#define THREADS 2
#define ROUNDS  5
#define COUNT   4096

static const char *const text =
	"kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }";

static cl_context context;
static cl_device_id device;
static cl_program program;

static int compute(void)
{
	static float mine[THREADS][COUNT], theirs[THREADS][COUNT];
	float *a = mine[omp_get_thread_num()], *b = theirs[omp_get_thread_num()];
	cl_command_queue queue =
		clCreateCommandQueueWithProperties(context, device, NULL, NULL);
	cl_kernel kernel = clCreateKernel(program, "twice", NULL);
	const size_t size = COUNT;
	cl_mem memory;
	int wrong = 0;

	for (int i = 0; i < COUNT; i++)
		a[i] = b[i] = (float)i;
	memory = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(mine[0]), b, NULL);
	clSetKernelArg(kernel, 0, sizeof(memory), &memory);
	for (int round = 0; round < ROUNDS; round++) {
		clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL,
				       NULL);
		for (int i = 0; i < COUNT; i++)
			a[i] *= 2;
	}
	clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof(mine[0]), b, 0, NULL, NULL);
	for (int i = 0; i < COUNT; i++)
		wrong += a[i] != b[i];
	clReleaseMemObject(memory);
	clReleaseKernel(kernel);
	clReleaseCommandQueue(queue);
	return wrong;
}

int main(void)
{
	cl_platform_id platform;
	int wrong = 0;

	if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
		return 77;
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	program = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, NULL);
	if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS)
		return 1;
#pragma omp parallel num_threads(THREADS) reduction(+ : wrong)
	wrong += compute();
	clReleaseProgram(program);
	clReleaseContext(context);
	printf("%d differ\n", wrong);
	return wrong != 0;
}
