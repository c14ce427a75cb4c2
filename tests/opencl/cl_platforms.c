/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses two platforms at once: a real one for markers, and cl_driver.c for all that it has
 * and PoCL lacks. Prints what both answer.
 */
#include "cl_print.h"

#include <stdio.h>
#include <string.h>

#include <CL/cl_icd.h>

#define SIZE 4096

/* A platform with what is made for it. */
struct place {
	cl_platform_id platform;
	cl_context context;
	cl_device_id device;
	cl_command_queue queue;
};

static int use(struct place *place)
{
	cl_int error = 77;

	if (clGetDeviceIDs(place->platform, CL_DEVICE_TYPE_ALL, 1, &place->device,
			   NULL) != CL_SUCCESS)
		return 0;
	place->context = clCreateContext(NULL, 1, &place->device, NULL, NULL, &error);
	call("context", error);
	place->queue = clCreateCommandQueue(place->context, place->device, 0, &error);
	call("queue", error);
	return 1;
}

static void print_properties(const char *name, cl_command_queue queue)
{
	cl_command_queue_properties properties = 77;
	cl_ulong stamp;
	cl_event event = NULL;

	clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(properties), &properties,
			      NULL);
	printf("%s: properties 0x%llx\n", name, (unsigned long long)properties);
	command(name, clEnqueueMarker(queue, &event));
	clFinish(queue);
	printf("%s: stamp %d\n", name,
	       clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(stamp),
				       &stamp, NULL));
	clReleaseEvent(event);
}

static void set_property(cl_command_queue queue, cl_command_queue_properties property,
			 cl_bool enable)
{
	cl_command_queue_properties old = 77;

	call("set property", clSetCommandQueueProperty(queue, property, enable, &old));
	printf("before: 0x%llx\n", (unsigned long long)old);
	print_properties("set", queue);
}

static int find(const struct place *place, const char *name, void *function)
{
	void *found = clGetExtensionFunctionAddressForPlatform(place->platform, name);

	printf("%s: %s\n", name, found ? "there" : "missing");
	memcpy(function, &found, sizeof(found));
	return found != NULL;
}

static void try_usm(const struct place *place)
{
	static char source[SIZE], target[SIZE];
	clEnqueueMemcpyINTEL_fn copy;
	clEnqueueMemFillINTEL_fn fill;
	clEnqueueMigrateMemINTEL_fn migrate;
	clEnqueueMemAdviseINTEL_fn advise;
	cl_event event = NULL;

	if (!find(place, "clEnqueueMemcpyINTEL", &copy) ||
	    !find(place, "clEnqueueMemFillINTEL", &fill) ||
	    !find(place, "clEnqueueMigrateMemINTEL", &migrate) ||
	    !find(place, "clEnqueueMemAdviseINTEL", &advise))
		return;
	command("fill", fill(place->queue, source, "abc", 4, SIZE, 0, NULL, NULL));
	command("copy",
		copy(place->queue, CL_TRUE, target, source, SIZE, 0, NULL, &event));
	print_event("copy", event);
	clReleaseEvent(event);
	command("migrate", migrate(place->queue, target, SIZE, 0, 0, NULL, NULL));
	command("advise", advise(place->queue, target, SIZE, 0, 0, NULL, NULL));
	printf("copied: %s\n", target);
	call("copy nowhere", copy(NULL, CL_TRUE, target, source, SIZE, 0, NULL, NULL));
}

static void try_sharing(const struct place *place)
{
	cl_api_clEnqueueAcquireGLObjects acquire;
	cl_api_clEnqueueReleaseGLObjects release;

	if (!find(place, "clEnqueueAcquireGLObjects", &acquire) ||
	    !find(place, "clEnqueueReleaseGLObjects", &release))
		return;
	command("acquire", acquire(place->queue, 0, NULL, 0, NULL, NULL));
	command("release", release(place->queue, 0, NULL, 0, NULL, NULL));
}

int main(void)
{
	cl_platform_id platforms[8];
	struct place places[2];
	cl_event event = NULL;
	cl_uint count = 0;

	clGetPlatformIDs(8, platforms, &count);
	if (count != 2) {
		printf("skip: %u platforms\n", count);
		return 77;
	}
	for (int i = 0; i < 2; i++) {
		char name[256] = "";

		places[i].platform = platforms[i];
		clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name,
				  NULL);
		printf("platform %s\n", name);
		if (!use(&places[i]))
			return 77;
		print_properties("marker", places[i].queue);
		call("no marker", clEnqueueMarker(places[i].queue, NULL));
		try_usm(&places[i]);
		try_sharing(&places[i]);
		if (strcmp(name, "No device at all") != 0)
			continue;
		set_property(places[i].queue, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
			     CL_TRUE);
		set_property(places[i].queue, CL_QUEUE_PROFILING_ENABLE, CL_TRUE);
		set_property(places[i].queue, CL_QUEUE_PROFILING_ENABLE, CL_FALSE);
		command("marker", clEnqueueMarker(places[i].queue, &event));
		call("queue waits", clEnqueueWaitForEvents(places[i].queue, 1, &event));
		call("queue waits for none",
		     clEnqueueWaitForEvents(places[i].queue, 0, NULL));
		clReleaseEvent(event);
	}
	for (int i = 0; i < 2; i++)
		call("release", clReleaseCommandQueue(places[i].queue));
	print_commands();
	return 0;
}
