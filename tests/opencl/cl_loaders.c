/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that is not linked with OpenCL: it opens each library that it is given for
 * itself alone (RTLD_LOCAL), finds functions by name, launches ten kernels through each,
 * closes all and ends, commands of the last batch perhaps still running.
 *
 *   cl_loaders LIBRARY...
 */
#define CL_TARGET_OPENCL_VERSION 120

#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define LAUNCHES 10

static const char *const source =
	"kernel void add(global int *a) { a[get_global_id(0)] += 1; }\n";

/* The functions of one libOpenCL, by the names that the headers have for their types. */
#define FUNCTIONS(X)                 \
	X(clGetPlatformIDs)          \
	X(clGetDeviceIDs)            \
	X(clCreateContext)           \
	X(clCreateCommandQueue)      \
	X(clCreateProgramWithSource) \
	X(clBuildProgram)            \
	X(clCreateKernel)            \
	X(clCreateBuffer)            \
	X(clSetKernelArg)            \
	X(clEnqueueNDRangeKernel)    \
	X(clFlush)

struct loader {
#define MEMBER(name) cl_api_##name name;
	FUNCTIONS(MEMBER)
};

static int find(void *library, const char *name, void *function)
{
	void *symbol = dlsym(library, name);

	memcpy(function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

static int load(void *library, struct loader *out)
{
#define FIND(name)                               \
	if (!find(library, #name, &(out)->name)) \
		return 0;
	FUNCTIONS(FIND)
	return 1;
}

static unsigned launch(const struct loader *cl)
{
	const size_t size = 64;
	const char *text = source;
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel;
	cl_mem memory;
	unsigned count = 0;

	if (cl->clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
	    cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) !=
		    CL_SUCCESS)
		return 0;
	context = cl->clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	queue = cl->clCreateCommandQueue(context, device, 0, NULL);
	program = cl->clCreateProgramWithSource(context, 1, &text, NULL, NULL);
	cl->clBuildProgram(program, 0, NULL, "", NULL, NULL);
	kernel = cl->clCreateKernel(program, "add", NULL);
	memory = cl->clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
	cl->clSetKernelArg(kernel, 0, sizeof(memory), &memory);
	for (int i = 0; i < LAUNCHES; i++)
		count += cl->clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL,
						    0, NULL, NULL) == CL_SUCCESS;
	cl->clFlush(queue);
	return count;
}

int main(int argc, char **argv)
{
	unsigned count = 0;

	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		struct loader loader;

		if (!library || !load(library, &loader)) {
			printf("%s\n", dlerror());
			return 1;
		}
		count += launch(&loader);
		dlclose(library);
	}
	printf("commands %u\n", count);
	return count ? 0 : 77;
}
