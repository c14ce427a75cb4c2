/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of kernels: 1024 buckets of entries that are added but never taken out, and
 * used again for the same handle. Looking one up takes no lock; its contents are under
 * its own, which two threads share only if they launch the same cl_kernel object.
 */
#include "kernel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BUCKET_COUNT 1024
#define DIMENSIONS   3
#define SHAPE_COUNT  8   /* launch sizes kept per kernel; more are asked for each time */
#define NAME_SIZE    512 /* longer names are allocated */

/* The sizes of a launch by value; absent arrays are zero, dimensions tells the rest. */
struct shape {
	cl_context context;
	cl_uint dimensions, has_local;
	uint64_t offset[DIMENSIONS], global[DIMENSIONS], local[DIMENSIONS];
};

struct kernel {
	struct kernel *next;  /* in its bucket; never changes */
	cl_kernel handle;     /* never changes */
	pthread_mutex_t lock; /* what stands below */
	uint32_t name;        /* 0: not asked for yet */
	uint32_t shape_count, oldest;
	struct shape shapes[SHAPE_COUNT];
	uint32_t attributes[SHAPE_COUNT];
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER; /* adding entries */
static struct kernel *_Atomic buckets[BUCKET_COUNT];

static struct kernel *_Atomic *find_bucket(cl_kernel handle)
{
	const uintptr_t bits = (uintptr_t)handle;

	return &buckets[((bits >> 4) ^ (bits >> 14)) % BUCKET_COUNT];
}

static struct kernel *find_kernel(cl_kernel handle)
{
	struct kernel *kernel =
		atomic_load_explicit(find_bucket(handle), memory_order_acquire);

	while (kernel && kernel->handle != handle)
		kernel = kernel->next;
	return kernel;
}

static struct kernel *add_kernel(cl_kernel handle)
{
	struct kernel *_Atomic *bucket = find_bucket(handle);
	struct kernel *kernel;

	pthread_mutex_lock(&table_lock);
	kernel = find_kernel(handle);
	if (!kernel) {
		kernel = calloc(1, sizeof(*kernel));
		if (kernel) {
			kernel->handle = handle;
			pthread_mutex_init(&kernel->lock, NULL);
			kernel->next = *bucket;
			atomic_store_explicit(bucket, kernel, memory_order_release);
		}
	}
	pthread_mutex_unlock(&table_lock);
	return kernel;
}

static uint32_t ask_name(const struct ky_layer *layer, cl_kernel handle)
{
	const cl_icd_dispatch *target = &layer->target;
	struct kymo_str text = KYMO_STR("(kernel without a name)");
	char buffer[NAME_SIZE], *name = buffer;
	uint32_t number;
	size_t size = 0;

	if (target->clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, 0, NULL, &size) !=
	    CL_SUCCESS)
		size = 0;
	if (size > sizeof(buffer))
		name = malloc(size);
	if (name && size > 1 &&
	    target->clGetKernelInfo(handle, CL_KERNEL_FUNCTION_NAME, size, name, NULL) ==
		    CL_SUCCESS)
		text = (struct kymo_str){name, size - 1};
	number = ky_state.host->string(ky_state.source, text);
	if (name != buffer)
		free(name);
	return number;
}

static uint32_t ask_attributes(const struct shape *shape)
{
	struct kymo_value values[4];
	size_t count = 0;

	values[count++] = ky_value_number(KY_KEY_CONTEXT, (uintptr_t)shape->context);
	values[count++] =
		ky_value_array(KY_KEY_GLOBAL_SIZE, shape->global, shape->dimensions);
	if (shape->has_local)
		values[count++] = ky_value_array(KY_KEY_LOCAL_SIZE, shape->local,
						 shape->dimensions);
	if (shape->offset[0] || shape->offset[1] || shape->offset[2])
		values[count++] = ky_value_array(KY_KEY_GLOBAL_OFFSET, shape->offset,
						 shape->dimensions);
	return ky_state.host->attributes(ky_state.source, values, count);
}

/* The attribute set of a shape; the kernel's lock is held. */
static uint32_t find_attributes(struct kernel *kernel, const struct shape *shape)
{
	uint32_t at;

	for (at = 0; at < kernel->shape_count; at++) {
		if (memcmp(&kernel->shapes[at], shape, sizeof(*shape)) == 0)
			return kernel->attributes[at];
	}
	if (kernel->shape_count < SHAPE_COUNT) {
		kernel->shape_count++;
	} else {
		at = kernel->oldest;
		kernel->oldest = (kernel->oldest + 1) % SHAPE_COUNT;
	}
	kernel->shapes[at] = *shape;
	kernel->attributes[at] = ask_attributes(shape);
	return kernel->attributes[at];
}

/* memcmp compares shapes, so each byte is set. */
static void fill_shape(struct shape *shape, const struct ky_kernel_size *size)
{
	memset(shape, 0, sizeof(*shape));
	shape->context = size->context;
	shape->dimensions = size->dimensions < DIMENSIONS ? size->dimensions : DIMENSIONS;
	shape->has_local = size->local_size != NULL;
	for (cl_uint i = 0; i < shape->dimensions; i++) {
		shape->global[i] = size->global_size ? size->global_size[i] : 0;
		shape->local[i] = size->local_size ? size->local_size[i] : 0;
		shape->offset[i] = size->global_offset ? size->global_offset[i] : 0;
	}
}

void ky_kernel_describe(const struct ky_layer *layer, cl_kernel handle,
			const struct ky_kernel_size *size, uint32_t *name,
			uint32_t *attributes)
{
	struct kernel *kernel = find_kernel(handle);
	struct shape shape;

	fill_shape(&shape, size);
	if (!kernel)
		kernel = add_kernel(handle);
	if (!kernel) {
		*name = ask_name(layer, handle);
		*attributes = ask_attributes(&shape);
		return;
	}

	pthread_mutex_lock(&kernel->lock);
	*name = kernel->name;
	*attributes = find_attributes(kernel, &shape);
	pthread_mutex_unlock(&kernel->lock);
	if (*name)
		return;

	/* Asks OpenCL, so without the lock. */
	*name = ask_name(layer, handle);
	pthread_mutex_lock(&kernel->lock);
	kernel->name = *name;
	pthread_mutex_unlock(&kernel->lock);
}

void ky_kernel_forget(cl_kernel handle)
{
	struct kernel *kernel = find_kernel(handle);

	if (!kernel)
		return;
	pthread_mutex_lock(&kernel->lock);
	kernel->name = 0;
	kernel->shape_count = kernel->oldest = 0;
	pthread_mutex_unlock(&kernel->lock);
}

void ky_kernel_forked(void)
{
	pthread_mutex_init(&table_lock, NULL);
	for (size_t i = 0; i < BUCKET_COUNT; i++) {
		struct kernel *kernel = atomic_load(&buckets[i]);

		for (; kernel; kernel = kernel->next)
			pthread_mutex_init(&kernel->lock, NULL);
	}
}
