/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that uses OpenCL in every way the layer has to see through, and prints
 * whatever OpenCL answers, but no time and no address: its output must be the same with
 * and without a layer.
 *
 * The last line counts the commands that were enqueued with success ("commands N"). It
 * exits with work in flight and with a command that waits for a user event for ever.
 */
#include "cl_print.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZE 4096

static const char source[] =
	"kernel void add(global int *a) { a[get_global_id(0)] += 1; }\n"
	"kernel void "
	"a_kernel_with_a_name_that_is_longer_than_sixty_four_characters_as_such_"
	"(global int *a) { a[get_global_id(0)] *= 2; }\n"
	"kernel void hipMemcpyLike(global int *a) { a[get_global_id(0)] -= 1; }\n"
	"kernel void slow(global int *a) { int s = 0; for (int i = 0; i < 200000; i++)\n"
	"  s += a[i % 8] * i; a[get_global_id(0)] = s; }\n";

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

static cl_kernel make_kernel(const char *name, cl_mem buffer)
{
	cl_int error = 77;
	cl_kernel kernel = clCreateKernel(program, name, &error);

	call(name, error);
	clSetKernelArg(kernel, 0, sizeof(buffer), &buffer);
	return kernel;
}

/* ---- Commands ---- */

static void try_maps(cl_command_queue queue, cl_mem buffer)
{
	cl_event event = (cl_event)1;
	cl_int error, *mapped;

	mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
				    SIZE, 0, NULL, NULL, &error);
	command("map", error);
	printf("mapped: %d\n", mapped[0]);
	command("unmap", clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, &event));
	call("release event", clReleaseEvent(event));
	event = (cl_event)1;
	mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, SIZE, SIZE, 0,
				    NULL, &event, &error);
	call("bad map", error);
	printf("event after failure: %s\n",
	       event == (cl_event)1 ? "untouched" : "changed");
	call("bad map without error",
	     clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, SIZE, SIZE, 0, NULL,
				NULL, NULL)
		     ? 1
		     : 0);
}

static void try_buffers(cl_command_queue queue)
{
	const size_t origin[3] = {0, 0, 0}, region[3] = {16, 4, 2}, bad[3] = {0, 0, 0};
	const cl_buffer_region part = {1024, 1024};
	cl_int error, zero = 0, *host = calloc(1, SIZE);
	cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, SIZE, NULL, &error);
	cl_mem other = clCreateBuffer(context, CL_MEM_READ_WRITE, SIZE, NULL, &error);
	cl_mem sub = clCreateSubBuffer(buffer, CL_MEM_READ_WRITE,
				       CL_BUFFER_CREATE_TYPE_REGION, &part, &error);
	cl_event event = NULL;

	call("sub-buffer", error);
	command("write", clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, SIZE, host, 0,
					      NULL, &event));
	print_event("write", event);
	call("release event", clReleaseEvent(event));
	command("write sub",
		clEnqueueWriteBuffer(queue, sub, CL_FALSE, 0, 1024, host, 0, NULL, NULL));
	command("fill", clEnqueueFillBuffer(queue, buffer, &zero, sizeof(zero), 0, SIZE,
					    0, NULL, NULL));
	command("copy",
		clEnqueueCopyBuffer(queue, buffer, other, 0, 0, SIZE, 0, NULL, &event));
	call("wait", clWaitForEvents(1, &event));
	print_event("copy", event);
	clReleaseEvent(event);
	command("write rect",
		clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, origin, origin, region,
					 64, 512, 64, 512, host, 0, NULL, NULL));
	command("read rect",
		clEnqueueReadBufferRect(queue, buffer, CL_TRUE, origin, origin, region,
					64, 512, 64, 512, host, 0, NULL, NULL));
	command("copy rect",
		clEnqueueCopyBufferRect(queue, buffer, other, origin, origin, region, 64,
					512, 64, 512, 0, NULL, NULL));
	call("bad rect", clEnqueueReadBufferRect(queue, buffer, CL_TRUE, origin, origin,
						 bad, 0, 0, 0, 0, host, 0, NULL, NULL));
	try_maps(queue, buffer);
	command("migrate",
		clEnqueueMigrateMemObjects(queue, 1, &buffer, 0, 0, NULL, NULL));
	command("migrate to host",
		clEnqueueMigrateMemObjects(queue, 1, &buffer, CL_MIGRATE_MEM_OBJECT_HOST,
					   0, NULL, NULL));
	command("migrate nothing",
		clEnqueueMigrateMemObjects(queue, 1, &buffer,
					   CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0,
					   NULL, NULL));
	command("read", clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, SIZE, host, 0,
					    NULL, NULL));
	call("bad read", clEnqueueReadBuffer(queue, buffer, CL_TRUE, SIZE, SIZE, host, 0,
					     NULL, NULL));
	clReleaseMemObject(sub);
	clReleaseMemObject(other);
	clReleaseMemObject(buffer);
	free(host);
}

/* Kernels that come and go; a handle that comes back names another one. */
static void try_kernel_objects(cl_command_queue queue, cl_kernel add, cl_mem buffer)
{
	const size_t size = 64;
	cl_kernel many[8] = {0}, copy;
	cl_uint count = 0;
	cl_int error;

	copy = clCloneKernel(add, &error);
	call("clone", error);
	if (copy)
		call("release clone", clReleaseKernel(copy));
	call("kernels", clCreateKernelsInProgram(program, 8, many, &count));
	printf("kernels: %u\n", count);
	for (cl_uint i = 0; i < count; i++)
		clReleaseKernel(many[i]);
	for (int i = 0; i < 6; i++) {
		cl_kernel kernel = make_kernel(i % 2 ? "add" : "hipMemcpyLike", buffer);

		command("recycled kernel",
			clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0,
					       NULL, NULL));
		clFinish(queue);
		clReleaseKernel(kernel);
	}
}

static void try_kernels(cl_command_queue queue)
{
	const size_t global[3] = {64, 4, 2}, local[3] = {8, 2, 1}, offset[1] = {8};
	const size_t bad_local[1] = {7};
	cl_int error;
	cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, SIZE, NULL, &error);
	cl_kernel add = make_kernel("add", buffer);
	cl_kernel named =
		make_kernel("a_kernel_with_a_name_that_is_longer_than_sixty_four_"
			    "characters_as_such_",
			    buffer);
	cl_event events[3];

	command("kernel", clEnqueueNDRangeKernel(queue, add, 1, NULL, global, NULL, 0,
						 NULL, &events[0]));
	command("kernel 3d", clEnqueueNDRangeKernel(queue, add, 3, NULL, global, local, 1,
						    events, &events[1]));
	command("kernel with offset",
		clEnqueueNDRangeKernel(queue, add, 1, offset, global, local, 0, NULL,
				       NULL));
	command("named kernel", clEnqueueNDRangeKernel(queue, named, 1, NULL, global,
						       NULL, 0, NULL, NULL));
	command("task", clEnqueueTask(queue, add, 0, NULL, NULL));
	call("bad group", clEnqueueNDRangeKernel(queue, add, 1, NULL, global, bad_local,
						 0, NULL, NULL));
	call("bad dimension",
	     clEnqueueNDRangeKernel(queue, add, 4, NULL, global, NULL, 0, NULL, NULL));
	call("no queue",
	     clEnqueueNDRangeKernel(NULL, add, 1, NULL, global, NULL, 0, NULL, NULL));
	command("marker", clEnqueueMarker(queue, &events[2]));
	command("barrier", clEnqueueBarrierWithWaitList(queue, 0, NULL, NULL));
	command("marker with list", clEnqueueMarkerWithWaitList(queue, 2, events, NULL));
	call("barrier without event", clEnqueueBarrier(queue));
	call("flush", clFlush(queue));
	call("wait", clWaitForEvents(3, events));
	call("wait for nothing", clWaitForEvents(0, NULL));
	call("finish", clFinish(queue));
	for (int i = 0; i < 3; i++) {
		print_event("kernel event", events[i]);
		call("release event", clReleaseEvent(events[i]));
	}
	try_kernel_objects(queue, add, buffer);
	clReleaseKernel(named);
	clReleaseKernel(add);
	clReleaseMemObject(buffer);
}

static void try_images(cl_command_queue queue)
{
	const cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
	const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
				    .image_width = 16,
				    .image_height = 8};
	const size_t origin[3] = {0, 0, 0}, region[3] = {16, 8, 1};
	const float color[4] = {0, 0, 0, 0};
	size_t pitch = 0;
	cl_int error = 77;
	cl_mem image =
		clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
	cl_mem other, buffer;
	void *mapped;
	char host[16 * 8 * 4] = {0};

	call("image", error);
	if (!image)
		return;
	other = clCreateImage(context, CL_MEM_READ_WRITE, &format, &desc, NULL, &error);
	buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, SIZE, NULL, &error);
	command("write image", clEnqueueWriteImage(queue, image, CL_TRUE, origin, region,
						   0, 0, host, 0, NULL, NULL));
	command("fill image",
		clEnqueueFillImage(queue, image, color, origin, region, 0, NULL, NULL));
	command("copy image", clEnqueueCopyImage(queue, image, other, origin, origin,
						 region, 0, NULL, NULL));
	command("image to buffer",
		clEnqueueCopyImageToBuffer(queue, image, buffer, origin, region, 0, 0,
					   NULL, NULL));
	command("buffer to image",
		clEnqueueCopyBufferToImage(queue, buffer, image, 0, origin, region, 0,
					   NULL, NULL));
	mapped = clEnqueueMapImage(queue, image, CL_TRUE, CL_MAP_READ, origin, region,
				   &pitch, NULL, 0, NULL, NULL, &error);
	command("map image", error);
	printf("pitch: %zu\n", pitch);
	command("unmap image",
		clEnqueueUnmapMemObject(queue, image, mapped, 0, NULL, NULL));
	command("read image", clEnqueueReadImage(queue, image, CL_TRUE, origin, region, 0,
						 0, host, 0, NULL, NULL));
	clReleaseMemObject(buffer);
	clReleaseMemObject(other);
	clReleaseMemObject(image);
}

static void try_svm(cl_command_queue queue)
{
	const cl_int pattern = 7;
	cl_device_svm_capabilities capabilities = 0;
	const size_t size = 1024;
	const void *part;
	void *a, *b;

	clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof(capabilities),
			&capabilities, NULL);
	printf("svm: %s\n", capabilities ? "yes" : "no");
	if (!capabilities)
		return;
	a = clSVMAlloc(context, CL_MEM_READ_WRITE, SIZE, 0);
	part = a;
	b = clSVMAlloc(context, CL_MEM_READ_WRITE, SIZE, 0);
	command("svm fill", clEnqueueSVMMemFill(queue, a, &pattern, sizeof(pattern), SIZE,
						0, NULL, NULL));
	call("finish", clFinish(queue));
	command("svm copy",
		clEnqueueSVMMemcpy(queue, CL_TRUE, b, a, SIZE, 0, NULL, NULL));
	command("svm map",
		clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, b, SIZE, 0, NULL, NULL));
	printf("svm: %d\n", ((cl_int *)b)[9]);
	command("svm unmap", clEnqueueSVMUnmap(queue, b, 0, NULL, NULL));
	command("svm migrate",
		clEnqueueSVMMigrateMem(queue, 1, &part, &size, 0, 0, NULL, NULL));
	command("svm migrate to host",
		clEnqueueSVMMigrateMem(queue, 1, &part, NULL, CL_MIGRATE_MEM_OBJECT_HOST,
				       0, NULL, NULL));
	command("svm free", clEnqueueSVMFree(queue, 1, &b, NULL, NULL, 0, NULL, NULL));
	call("finish", clFinish(queue));
	clSVMFree(context, a);
}

static void CL_CALLBACK native(void *data)
{
	(void)data;
}

static void try_native(cl_command_queue queue)
{
	int argument = 0;

	command("native kernel",
		clEnqueueNativeKernel(queue, native, &argument, sizeof(argument), 0, NULL,
				      NULL, 0, NULL, NULL));
	call("finish", clFinish(queue));
}

/* ---- Together ---- */

static void *run_thread(void *data)
{
	const size_t size = 64;
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
	cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, SIZE, NULL, NULL);
	cl_kernel kernel = clCreateKernel(program, "add", NULL);

	clSetKernelArg(kernel, 0, sizeof(buffer), &buffer);
	for (int i = 0; i < 200; i++) {
		if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL, 0, NULL,
					   NULL) == CL_SUCCESS)
			count_command();
		if (i % 50 == 49)
			clFinish(queue);
	}
	clReleaseKernel(kernel);
	clReleaseMemObject(buffer);
	clReleaseCommandQueue(queue);
	return data;
}

static void try_threads(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, run_thread, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static void try_user_event(cl_command_queue queue)
{
	const size_t size = 64;
	cl_int error;
	cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, SIZE, NULL, &error);
	cl_kernel kernel = make_kernel("add", buffer);
	cl_event gate = clCreateUserEvent(context, &error), waiting = NULL;

	call("user event", error);
	command("kernel behind it", clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size,
							   NULL, 1, &gate, &waiting));
	print_event("user event", gate);
	call("set status", clSetUserEventStatus(gate, CL_COMPLETE));
	call("set status again", clSetUserEventStatus(gate, CL_COMPLETE));
	call("wait", clWaitForEvents(1, &waiting));
	print_event("kernel behind it", waiting);
	clReleaseEvent(waiting);
	clReleaseEvent(gate);

	/* A failed user event fails what waits for it: -14 where somebody waits. */
	gate = clCreateUserEvent(context, &error);
	command("kernel to fail", clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size,
							 NULL, 1, &gate, &waiting));
	call("set status", clSetUserEventStatus(gate, -7));
	call("wait", clWaitForEvents(1, &waiting));
	print_event("kernel to fail", waiting);
	clReleaseEvent(waiting);
	clReleaseEvent(gate);
	clReleaseKernel(kernel);
	clReleaseMemObject(buffer);
}

static void leave_in_flight(cl_command_queue queue)
{
	const size_t size = 64;
	cl_int error;
	cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, SIZE, NULL, &error);
	cl_kernel kernel = make_kernel("slow", buffer);
	cl_event never = clCreateUserEvent(context, &error);

	command("in flight", clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size, NULL,
						    0, NULL, NULL));
	call("flush", clFlush(queue));
	if (!getenv("DEMO_NO_ORPHAN")) {
		queue = make_queue("queue that hangs", 0);
		command("never", clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &size,
							NULL, 1, &never, NULL));
	}
}

static int set_up(void)
{
	const char *text = source;
	cl_uint count = 0;
	cl_int error;

	if (clGetPlatformIDs(1, &platform, &count) != CL_SUCCESS || count == 0 ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
		return 0;
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	call("context", error);
	program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
	call("program", error);
	call("build", clBuildProgram(program, 0, NULL, "-bad-option", NULL, NULL));
	return call("build", clBuildProgram(program, 0, NULL, "", NULL, NULL)) ==
	       CL_SUCCESS;
}

int main(void)
{
	const cl_command_queue_properties kinds[] = {
		0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE};
	cl_command_queue queue = NULL;
	cl_uint references = 0;

	if (!set_up()) {
		puts("no OpenCL device");
		return 77;
	}
	for (size_t i = 0; i < 3; i++) {
		queue = make_queue("queue", kinds[i]);
		print_queue("queue", queue);
		try_buffers(queue);
		try_kernels(queue);
		try_images(queue);
		try_svm(queue);
		try_native(queue);
		try_user_event(queue);
		call("finish", clFinish(queue));
		settle(context, queue);
		print_queue("used queue", queue);
		if (i < 2)
			call("release", clReleaseCommandQueue(queue));
	}
	try_threads();
	settle(context, queue);
	clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof(references),
			 &references, NULL);
	printf("context references: %u\n", references);
	leave_in_flight(queue);
	print_commands();
	return 3;
}
