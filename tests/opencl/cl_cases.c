/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs in one, by argument, for what cl_demo does not do. Each prints "commands N",
 * the commands it enqueued with success.
 *
 *   stress        four threads share two queues and make, use and release others
 *   fork          a child is forked with commands pending, and launches its own
 *   loaders LIB   a second OpenCL loader, a copy of the first at another path
 *   buffer        cl_khr_command_buffer; exits with 77 where there is none
 *   blocked       5000 commands wait for one event before any may run
 *   errno         every call leaves errno as it was
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIP 77

static const char *const source =
	"kernel void add(global int *a) { a[get_global_id(0)] += 1; }\n"
	"kernel void sub(global int *a) { a[get_global_id(0)] -= 1; }\n";
static const size_t size = 64;

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_program program;
static cl_mem buffer;
static cl_command_queue shared[2];
static atomic_uint commands;

static int set_up(void)
{
	const char *text = source;

	if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
		return 0;
	context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
	program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
	return clBuildProgram(program, 0, NULL, "", NULL, NULL) == CL_SUCCESS;
}

static void launch(cl_command_queue queue, cl_kernel kernel, cl_event *event)
{
	if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL, event) ==
	    CL_SUCCESS)
		atomic_fetch_add(&commands, 1);
}

static cl_kernel make_kernel(const char *name)
{
	cl_kernel kernel = clCreateKernel(program, name, NULL);

	clSetKernelArg(kernel, 0, sizeof(buffer), &buffer);
	return kernel;
}

static void *stress(void *data)
{
	for (int round = 0; round < 20; round++) {
		cl_command_queue own = clCreateCommandQueue(context, device, 0, NULL);
		cl_kernel kernel = make_kernel(round % 2 ? "add" : "sub");
		cl_event event;

		for (int i = 0; i < 100; i++)
			launch(i % 3 == 2 ? own : shared[i % 3], kernel, NULL);
		launch(own, kernel, &event);
		clFlush(own);
		clWaitForEvents(1, &event);
		clReleaseEvent(event);
		clFinish(shared[round % 2]);
		clReleaseKernel(kernel);
		clReleaseCommandQueue(own);
	}
	return data;
}

static int run_stress(void)
{
	pthread_t threads[4];

	shared[0] = clCreateCommandQueue(context, device, 0, NULL);
	shared[1] = clCreateCommandQueue(context, device,
					 CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, stress, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	clFinish(shared[0]);
	clFinish(shared[1]);
	return 0;
}

/*
 * A driver's threads do not survive fork, so the child must not use OpenCL but for what
 * destructors do: release. It must neither hang nor touch the parent's events.
 */
static int run_fork(void)
{
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
	cl_kernel kernel = make_kernel("add");
	int status = -1;
	pid_t child;

	for (int i = 0; i < 40; i++)
		launch(queue, kernel, NULL);
	child = fork();
	if (child == 0) {
		cl_command_queue_properties properties = 77;

		alarm(20);
		clRetainCommandQueue(queue);
		clReleaseCommandQueue(queue);
		clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(properties),
				      &properties, NULL);
		exit(properties == 0 ? 5 : 6);
	}
	waitpid(child, &status, 0);
	clFinish(queue);
	printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -status);
	return 0;
}

static int run_loaders(const char *path)
{
	cl_command_queue own = clCreateCommandQueue(context, device, 0, NULL), other;
	cl_kernel kernel = make_kernel("add");
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	cl_api_clGetPlatformIDs get_platforms;
	cl_api_clCreateCommandQueue create;
	cl_api_clEnqueueNDRangeKernel enqueue;
	cl_api_clFinish finish;
	cl_platform_id found = NULL;

	if (!library) {
		puts(dlerror());
		return 1;
	}
	*(void **)&get_platforms = dlsym(library, "clGetPlatformIDs");
	*(void **)&create = dlsym(library, "clCreateCommandQueue");
	*(void **)&enqueue = dlsym(library, "clEnqueueNDRangeKernel");
	*(void **)&finish = dlsym(library, "clFinish");
	printf("platforms: %d\n", get_platforms(1, &found, NULL));
	other = create(context, device, 0, NULL);
	for (int i = 0; i < 10; i++) {
		launch(own, kernel, NULL);
		if (enqueue(other, kernel, 1, NULL, &size, NULL, 0, NULL, NULL) ==
		    CL_SUCCESS)
			atomic_fetch_add(&commands, 1);
	}
	finish(other);
	clFinish(own);
	dlclose(library);
	return 0;
}

static void *find(const char *name)
{
	return clGetExtensionFunctionAddressForPlatform(platform, name);
}

static int run_buffer(void)
{
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
	cl_kernel kernel = make_kernel("add");
	clCreateCommandBufferKHR_fn create;
	clCommandNDRangeKernelKHR_fn add;
	clFinalizeCommandBufferKHR_fn finalize;
	clEnqueueCommandBufferKHR_fn enqueue;
	cl_command_buffer_khr commands_buffer;
	cl_int error = 0;

	*(void **)&create = find("clCreateCommandBufferKHR");
	*(void **)&add = find("clCommandNDRangeKernelKHR");
	*(void **)&finalize = find("clFinalizeCommandBufferKHR");
	*(void **)&enqueue = find("clEnqueueCommandBufferKHR");
	if (!create || !add || !finalize || !enqueue)
		return SKIP;
	commands_buffer = create(1, &queue, NULL, &error);
	printf("create: %d\n", error);
	printf("add: %d\n", add(commands_buffer, NULL, NULL, kernel, 1, NULL, &size, NULL,
				0, NULL, NULL, NULL));
	printf("finalize: %d\n", finalize(commands_buffer));
	for (int i = 0; i < 3; i++) {
		error = enqueue(0, NULL, commands_buffer, 0, NULL, NULL);
		printf("enqueue: %d\n", error);
		if (error == CL_SUCCESS)
			atomic_fetch_add(&commands, 1);
		clFinish(queue);
	}
	return 0;
}

static int run_blocked(void)
{
	cl_command_queue queue = clCreateCommandQueue(
		context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);
	cl_kernel kernel = make_kernel("add");
	cl_event gate = clCreateUserEvent(context, NULL);

	for (int i = 0; i < 5000; i++) {
		if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 1, &gate,
					   NULL) == CL_SUCCESS)
			atomic_fetch_add(&commands, 1);
	}
	clSetUserEventStatus(gate, CL_COMPLETE);
	clFinish(queue);
	clReleaseEvent(gate);
	return 0;
}

static int run_errno(void)
{
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
	cl_kernel kernel = make_kernel("add");
	int changed = 0;

	for (int i = 0; i < 300; i++) {
		errno = 1000 + i;
		launch(queue, kernel, NULL);
		changed += errno != 1000 + i;
	}
	errno = 99;
	clFinish(queue);
	changed += errno != 99;
	clReleaseCommandQueue(queue);
	changed += errno != 99;
	printf("changed %d\n", changed);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int result = 2;

	if (!set_up())
		return SKIP;
	if (strcmp(mode, "stress") == 0)
		result = run_stress();
	else if (strcmp(mode, "fork") == 0)
		result = run_fork();
	else if (strcmp(mode, "loaders") == 0 && argc > 2)
		result = run_loaders(argv[2]);
	else if (strcmp(mode, "buffer") == 0)
		result = run_buffer();
	else if (strcmp(mode, "blocked") == 0)
		result = run_blocked();
	else if (strcmp(mode, "errno") == 0)
		result = run_errno();
	printf("commands %u\n", atomic_load(&commands));
	return result;
}
