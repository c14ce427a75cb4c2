/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs in one, by argument, for what cl_demo does not do. Each prints "commands N",
 * the commands it enqueued with success.
 *
 *   stress        four threads share two queues and make, use and release others
 *   fork          a child is forked with commands pending, and launches its own
 *   buffer        cl_khr_command_buffer; exits with 77 where there is none
 *   blocked       5000 commands wait for one event before any may run
 *   errno         every call leaves errno as it was
 *   devices       a context and two queues for each device and sub-device, "devices N"
 *   released      1000 queues are released with a command in flight
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <CL/cl.h>
#include <CL/cl_ext.h>
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

/* Launches on two queues of a context with this device alone. */
static void use_device(cl_device_id used)
{
	const char *text = source;
	cl_kernel kernel;

	context = clCreateContext(NULL, 1, &used, NULL, NULL, NULL);
	program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
	clBuildProgram(program, 0, NULL, "", NULL, NULL);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
	kernel = make_kernel("add");
	shared[0] = clCreateCommandQueue(context, used, 0, NULL);
	shared[1] = clCreateCommandQueue(context, used, 0, NULL);
	for (int i = 0; i < 20; i++)
		launch(shared[i % 2], kernel, NULL);
	clFinish(shared[0]);
	clFinish(shared[1]);
}

static int run_devices(void)
{
	const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1,
							0};
	cl_device_id devices[8], parts[8];
	cl_uint count = 0, used = 0;

	clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 8, devices, &count);
	for (cl_uint i = 0; i < count; i++) {
		cl_uint part_count = 0;

		use_device(devices[i]);
		if (clCreateSubDevices(devices[i], equally, 8, parts, &part_count) !=
		    CL_SUCCESS)
			part_count = 0;
		for (cl_uint part = 0; part < part_count; part++)
			use_device(parts[part]);
		used += 1 + part_count;
	}
	printf("devices %u\n", used);
	return 0;
}

/* Nobody waits for these, and yet their events must not be kept. */
static int run_released(void)
{
	cl_kernel kernel = make_kernel("add");
	cl_command_queue queue;
	cl_uint before = 0, references = 0;

	clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof(before), &before,
			 NULL);
	for (int i = 0; i < 1000; i++) {
		queue = clCreateCommandQueue(context, device, 0, NULL);
		launch(queue, kernel, NULL);
		clReleaseCommandQueue(queue);
	}
	/* Who still works on them lets go of them; a new queue has the layer look. */
	for (int i = 0; i < 100 && (i == 0 || references > before + 1); i++) {
		usleep(200000);
		queue = clCreateCommandQueue(context, device, 0, NULL);
		clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof(references),
				 &references, NULL);
		clReleaseCommandQueue(queue);
	}
	printf("context references %u\n", references);
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
	else if (strcmp(mode, "buffer") == 0)
		result = run_buffer();
	else if (strcmp(mode, "blocked") == 0)
		result = run_blocked();
	else if (strcmp(mode, "errno") == 0)
		result = run_errno();
	else if (strcmp(mode, "devices") == 0)
		result = run_devices();
	else if (strcmp(mode, "released") == 0)
		result = run_released();
	printf("commands %u\n", atomic_load(&commands));
	return result;
}
