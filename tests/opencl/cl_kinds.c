/* SPDX-License-Identifier: BSD-3-Clause */
#include "cl_kinds.h"

#include <stdio.h>

static const size_t origin[3] = {0, 0, 0}, region[3] = {8, 4, 1},
		    sizes[4] = {64, 1, 1, 1};

#define REST given->wait_count, given->wait_list, given->event

#define KIND(name, ...)                               \
	static cl_int name(const struct given *given) \
	{                                             \
		return __VA_ARGS__;                   \
	}

KIND(launch, clEnqueueNDRangeKernel(given->queue, given->kernel, given->dimensions, NULL,
				    sizes, NULL, REST))
KIND(task, clEnqueueTask(given->queue, given->kernel, REST))
KIND(read_buffer, clEnqueueReadBuffer(given->queue, given->buffer, CL_FALSE, 0,
				      given->size, given->host, REST))
KIND(write_buffer, clEnqueueWriteBuffer(given->queue, given->buffer, CL_FALSE, 0,
					given->size, given->host, REST))
KIND(copy_buffer, clEnqueueCopyBuffer(given->queue, given->buffer, given->other, 0, 0,
				      given->size, REST))
KIND(fill_buffer,
     clEnqueueFillBuffer(given->queue, given->buffer, "abcd", 4, 0, given->size, REST))
KIND(read_rect, clEnqueueReadBufferRect(given->queue, given->buffer, CL_FALSE, origin,
					origin, region, 0, 0, 0, 0, given->host, REST))
KIND(write_rect, clEnqueueWriteBufferRect(given->queue, given->buffer, CL_FALSE, origin,
					  origin, region, 0, 0, 0, 0, given->host, REST))
KIND(copy_rect, clEnqueueCopyBufferRect(given->queue, given->buffer, given->other, origin,
					origin, region, 0, 0, 0, 0, REST))
KIND(read_image, clEnqueueReadImage(given->queue, given->image, CL_FALSE, origin, region,
				    0, 0, given->host, REST))
KIND(write_image, clEnqueueWriteImage(given->queue, given->image, CL_FALSE, origin,
				      region, 0, 0, given->host, REST))
KIND(copy_image, clEnqueueCopyImage(given->queue, given->image, given->other_image,
				    origin, origin, region, REST))
KIND(fill_image,
     clEnqueueFillImage(given->queue, given->image, given->host, origin, region, REST))
KIND(image_to_buffer, clEnqueueCopyImageToBuffer(given->queue, given->image,
						 given->buffer, origin, region, 0, REST))
KIND(buffer_to_image, clEnqueueCopyBufferToImage(given->queue, given->buffer,
						 given->image, 0, origin, region, REST))
KIND(migrate, clEnqueueMigrateMemObjects(given->queue, 1, &given->buffer, 0, REST))
KIND(svm_copy, clEnqueueSVMMemcpy(given->queue, CL_FALSE, given->shared,
				  given->other_shared, given->size, REST))
KIND(svm_fill,
     clEnqueueSVMMemFill(given->queue, given->shared, "abcd", 4, given->size, REST))
KIND(svm_map, clEnqueueSVMMap(given->queue, CL_FALSE, CL_MAP_READ, given->shared,
			      given->size, REST))
KIND(svm_unmap, clEnqueueSVMUnmap(given->queue, given->shared, REST))
KIND(marker, clEnqueueMarker(given->queue, given->event))
KIND(marker_with_list, clEnqueueMarkerWithWaitList(given->queue, REST))
KIND(barrier_with_list, clEnqueueBarrierWithWaitList(given->queue, REST))

static cl_int svm_migrate(const struct given *given)
{
	const void *shared = given->shared;

	return clEnqueueSVMMigrateMem(given->queue, 1, &shared, NULL, 0, REST);
}

/* On any queue the unmapping must come after the mapping. */
static cl_int unmap(const struct given *given, cl_mem object, void *mapped, cl_int error)
{
	if (!mapped)
		return error;
	clFinish(given->queue);
	command("unmap",
		clEnqueueUnmapMemObject(given->queue, object, mapped, 0, NULL, NULL));
	return error;
}

static cl_int map_buffer(const struct given *given)
{
	cl_int error = 77;
	void *mapped = clEnqueueMapBuffer(given->queue, given->buffer, CL_FALSE,
					  CL_MAP_READ, 0, given->size, REST, &error);

	return unmap(given, given->buffer, mapped, error);
}

static cl_int map_image(const struct given *given)
{
	size_t pitch;
	cl_int error = 77;
	void *mapped =
		clEnqueueMapImage(given->queue, given->image, CL_FALSE, CL_MAP_READ,
				  origin, region, &pitch, NULL, REST, &error);

	return unmap(given, given->image, mapped, error);
}

static void CL_CALLBACK native(void *data)
{
	(void)data;
}

static cl_int native_kernel(const struct given *given)
{
	return clEnqueueNativeKernel(given->queue, native, given->host, 8, 0, NULL, NULL,
				     REST);
}

/* Ways to be wrong. */
enum { WRONG_OBJECT = 1, WRONG_SIZE = 2, WRONG_LIST = 4 };

static const struct {
	const char *name;
	cl_int (*enqueue)(const struct given *given);
	unsigned unchecked; /* what PoCL 3.1 does not look at, and crashes */
} kinds[] = {
	{"launch", launch, WRONG_LIST},
	{"task", task, WRONG_LIST},
	{"native kernel", native_kernel, 0},
	{"read buffer", read_buffer, 0},
	{"write buffer", write_buffer, 0},
	{"copy buffer", copy_buffer, 0},
	{"fill buffer", fill_buffer, 0},
	{"read rect", read_rect, 0},
	{"write rect", write_rect, 0},
	{"copy rect", copy_rect, WRONG_OBJECT},
	{"map buffer", map_buffer, 0},
	{"read image", read_image, 0},
	{"write image", write_image, 0},
	{"copy image", copy_image, 0},
	{"fill image", fill_image, 0},
	{"image to buffer", image_to_buffer, 0},
	{"buffer to image", buffer_to_image, 0},
	{"map image", map_image, 0},
	{"migrate", migrate, 0},
	{"svm copy", svm_copy, WRONG_SIZE},
	{"svm fill", svm_fill, WRONG_SIZE},
	{"svm map", svm_map, WRONG_SIZE},
	{"svm unmap", svm_unmap, WRONG_SIZE},
	{"svm migrate", svm_migrate, WRONG_SIZE},
	{"marker", marker, 0},
	{"marker with list", marker_with_list, 0},
	{"barrier with list", barrier_with_list, 0},
};

/* A wrong way must leave the event alone. */
static void try_wrong(size_t kind, const char *way, const struct given *good,
		      struct given given)
{
	cl_event event = (cl_event)1;
	cl_int error;

	given.event = &event;
	error = kinds[kind].enqueue(&given);
	printf("%s, %s: %d, event %s\n", kinds[kind].name, way, error,
	       event == (cl_event)1 ? "untouched" : "given");
	if (error == CL_SUCCESS && event != (cl_event)1) {
		count_command();
		clFinish(good->queue);
		clReleaseEvent(event);
	}
}

static void try_wrong_ways(size_t kind, const struct given *good)
{
	const unsigned unchecked = kinds[kind].unchecked;
	const cl_event nothing = NULL;
	struct given given = *good;

	given.queue = NULL;
	try_wrong(kind, "no queue", good, given);
	given = *good;
	given.buffer = given.image = NULL;
	if (!(unchecked & WRONG_OBJECT))
		try_wrong(kind, "no object", good, given);
	given = *good;
	given.size = (size_t)1 << 40;
	given.dimensions = 4;
	if (!(unchecked & WRONG_SIZE))
		try_wrong(kind, "too large", good, given);
	if (unchecked & WRONG_LIST)
		return;
	given = *good;
	given.wait_count = 1;
	try_wrong(kind, "no wait list", good, given);
	given.wait_list = &nothing;
	try_wrong(kind, "a wait list of nothing", good, given);
	given.wait_count = 0;
	try_wrong(kind, "a wait list without count", good, given);
}

static void try_kind(size_t kind, const struct given *good)
{
	struct given given = *good;
	cl_event event = NULL;

	try_wrong_ways(kind, good);
	command(kinds[kind].name, kinds[kind].enqueue(good));
	given.event = &event;
	command(kinds[kind].name, kinds[kind].enqueue(&given));
	call("finish", clFinish(good->queue));
	if (!event)
		return;
	print_event(kinds[kind].name, event);
	ask_event(kinds[kind].name, event);
	clReleaseEvent(event);
}

void try_all_kinds(const struct given *good)
{
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(*kinds); kind++)
		try_kind(kind, good);
}

cl_int enqueue_launch(const struct given *given)
{
	return launch(given);
}
