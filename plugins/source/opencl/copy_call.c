/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrapped calls that move bytes between buffers, images, shared memory and the host.
 * Compiled once per loader, see layer.h; called by any thread.
 */
#include "enqueue.h"

/* The bytes of a region of a buffer: x counts bytes. */
static uint64_t count_rect(const size_t *region)
{
	return (uint64_t)region[0] * region[1] * region[2];
}

/* The bytes of a region of an image: x counts pixels. */
static uint64_t count_pixels(cl_mem image, const size_t *region)
{
	size_t pixel_size = 0;

	if (KY_TARGET->clGetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof(pixel_size),
				      &pixel_size, NULL) != CL_SUCCESS)
		return KY_BYTES_UNKNOWN;
	return count_rect(region) * pixel_size;
}

static uint64_t count_objects(const cl_mem *objects, cl_uint count)
{
	uint64_t sum = 0;

	for (cl_uint i = 0; i < count; i++) {
		size_t size = 0;

		if (KY_TARGET->clGetMemObjectInfo(objects[i], CL_MEM_SIZE, sizeof(size),
						  &size, NULL) != CL_SUCCESS)
			return KY_BYTES_UNKNOWN;
		sum += size;
	}
	return sum;
}

/* Sizes may be NULL, or 0 for "all of the allocation". */
static uint64_t count_sizes(const size_t *sizes, cl_uint count)
{
	uint64_t sum = 0;

	for (cl_uint i = 0; i < count; i++) {
		if (!sizes || sizes[i] == 0)
			return KY_BYTES_UNKNOWN;
		sum += sizes[i];
	}
	return sum;
}

/* What a migration may move; nothing where the old contents are given up. */
static uint64_t count_migration(cl_mem_migration_flags flags, uint64_t size)
{
	return flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED ? KY_BYTES_UNKNOWN : size;
}

/* What a map may bring to the host; nothing where the old contents are given up. */
static uint64_t count_map(cl_map_flags flags, uint64_t size)
{
	return flags & CL_MAP_WRITE_INVALIDATE_REGION ? KY_BYTES_UNKNOWN : size;
}

/* ---- Buffers ---- */

static cl_int CL_API_CALL enqueue_read_buffer(cl_command_queue queue, cl_mem buffer,
					      cl_bool blocking, size_t offset,
					      size_t size, void *host, cl_uint wait_count,
					      const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_READ_BUFFER, size, blocking, KY_TARGET->clEnqueueReadBuffer,
		   queue, buffer, blocking, offset, size, host, wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_write_buffer(cl_command_queue queue, cl_mem buffer,
					       cl_bool blocking, size_t offset,
					       size_t size, const void *host,
					       cl_uint wait_count,
					       const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_WRITE_BUFFER, size, blocking, KY_TARGET->clEnqueueWriteBuffer,
		   queue, buffer, blocking, offset, size, host, wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_copy_buffer(cl_command_queue queue, cl_mem source,
					      cl_mem target, size_t source_offset,
					      size_t target_offset, size_t size,
					      cl_uint wait_count,
					      const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_COPY_BUFFER, size, CL_FALSE, KY_TARGET->clEnqueueCopyBuffer,
		   queue, source, target, source_offset, target_offset, size, wait_count,
		   wait_list);
}

static cl_int CL_API_CALL enqueue_fill_buffer(cl_command_queue queue, cl_mem buffer,
					      const void *pattern, size_t pattern_size,
					      size_t offset, size_t size,
					      cl_uint wait_count,
					      const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_FILL_BUFFER, size, CL_FALSE, KY_TARGET->clEnqueueFillBuffer,
		   queue, buffer, pattern, pattern_size, offset, size, wait_count,
		   wait_list);
}

static cl_int CL_API_CALL enqueue_read_buffer_rect(
	cl_command_queue queue, cl_mem buffer, cl_bool blocking,
	const size_t *buffer_origin, const size_t *host_origin, const size_t *region,
	size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch,
	size_t host_slice_pitch, void *host, cl_uint wait_count,
	const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_READ_BUFFER_RECT, count_rect(region), blocking,
		   KY_TARGET->clEnqueueReadBufferRect, queue, buffer, blocking,
		   buffer_origin, host_origin, region, buffer_row_pitch,
		   buffer_slice_pitch, host_row_pitch, host_slice_pitch, host, wait_count,
		   wait_list);
}

static cl_int CL_API_CALL enqueue_write_buffer_rect(
	cl_command_queue queue, cl_mem buffer, cl_bool blocking,
	const size_t *buffer_origin, const size_t *host_origin, const size_t *region,
	size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch,
	size_t host_slice_pitch, const void *host, cl_uint wait_count,
	const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_WRITE_BUFFER_RECT, count_rect(region), blocking,
		   KY_TARGET->clEnqueueWriteBufferRect, queue, buffer, blocking,
		   buffer_origin, host_origin, region, buffer_row_pitch,
		   buffer_slice_pitch, host_row_pitch, host_slice_pitch, host, wait_count,
		   wait_list);
}

static cl_int CL_API_CALL enqueue_copy_buffer_rect(
	cl_command_queue queue, cl_mem source, cl_mem target, const size_t *source_origin,
	const size_t *target_origin, const size_t *region, size_t source_row_pitch,
	size_t source_slice_pitch, size_t target_row_pitch, size_t target_slice_pitch,
	cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_COPY_BUFFER_RECT, count_rect(region), CL_FALSE,
		   KY_TARGET->clEnqueueCopyBufferRect, queue, source, target,
		   source_origin, target_origin, region, source_row_pitch,
		   source_slice_pitch, target_row_pitch, target_slice_pitch, wait_count,
		   wait_list);
}

/* ---- Images ---- */

static cl_int CL_API_CALL enqueue_read_image(cl_command_queue queue, cl_mem image,
					     cl_bool blocking, const size_t *origin,
					     const size_t *region, size_t row_pitch,
					     size_t slice_pitch, void *host,
					     cl_uint wait_count,
					     const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_READ_IMAGE, count_pixels(image, region), blocking,
		   KY_TARGET->clEnqueueReadImage, queue, image, blocking, origin, region,
		   row_pitch, slice_pitch, host, wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_write_image(cl_command_queue queue, cl_mem image,
					      cl_bool blocking, const size_t *origin,
					      const size_t *region, size_t row_pitch,
					      size_t slice_pitch, const void *host,
					      cl_uint wait_count,
					      const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_WRITE_IMAGE, count_pixels(image, region), blocking,
		   KY_TARGET->clEnqueueWriteImage, queue, image, blocking, origin, region,
		   row_pitch, slice_pitch, host, wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_copy_image(cl_command_queue queue, cl_mem source,
					     cl_mem target, const size_t *source_origin,
					     const size_t *target_origin,
					     const size_t *region, cl_uint wait_count,
					     const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_COPY_IMAGE, count_pixels(source, region), CL_FALSE,
		   KY_TARGET->clEnqueueCopyImage, queue, source, target, source_origin,
		   target_origin, region, wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_fill_image(cl_command_queue queue, cl_mem image,
					     const void *color, const size_t *origin,
					     const size_t *region, cl_uint wait_count,
					     const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_FILL_IMAGE, count_pixels(image, region), CL_FALSE,
		   KY_TARGET->clEnqueueFillImage, queue, image, color, origin, region,
		   wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_copy_image_to_buffer(
	cl_command_queue queue, cl_mem image, cl_mem buffer, const size_t *origin,
	const size_t *region, size_t offset, cl_uint wait_count,
	const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_COPY_IMAGE_TO_BUFFER, count_pixels(image, region), CL_FALSE,
		   KY_TARGET->clEnqueueCopyImageToBuffer, queue, image, buffer, origin,
		   region, offset, wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_copy_buffer_to_image(
	cl_command_queue queue, cl_mem buffer, cl_mem image, size_t offset,
	const size_t *origin, const size_t *region, cl_uint wait_count,
	const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_COPY_BUFFER_TO_IMAGE, count_pixels(image, region), CL_FALSE,
		   KY_TARGET->clEnqueueCopyBufferToImage, queue, buffer, image, offset,
		   origin, region, wait_count, wait_list);
}

/* ---- Maps, which return a pointer and say by *error_out how it went ---- */

static void *CL_API_CALL enqueue_map_buffer(cl_command_queue queue, cl_mem buffer,
					    cl_bool blocking, cl_map_flags flags,
					    size_t offset, size_t size,
					    cl_uint wait_count, const cl_event *wait_list,
					    cl_event *event, cl_int *error_out)
{
	struct ky_enqueue enqueue;
	cl_int own_error = CL_SUCCESS, *error = error_out ? error_out : &own_error;
	void *mapped;

	if (!ky_state_is_recording())
		return KY_TARGET->clEnqueueMapBuffer(queue, buffer, blocking, flags,
						     offset, size, wait_count, wait_list,
						     event, error_out);
	ky_enqueue_begin(&enqueue, KY_CALL_MAP_BUFFER, queue, event);
	mapped = KY_TARGET->clEnqueueMapBuffer(queue, buffer, blocking, flags, offset,
					       size, wait_count, wait_list, enqueue.event,
					       error);
	ky_enqueue_returned(&enqueue, *error);
	if (enqueue.error == CL_SUCCESS)
		enqueue.command.bytes = count_map(flags, size);
	ky_enqueue_end(&enqueue, KY_LAYER, queue, blocking);
	return mapped;
}

static void *CL_API_CALL enqueue_map_image(cl_command_queue queue, cl_mem image,
					   cl_bool blocking, cl_map_flags flags,
					   const size_t *origin, const size_t *region,
					   size_t *row_pitch, size_t *slice_pitch,
					   cl_uint wait_count, const cl_event *wait_list,
					   cl_event *event, cl_int *error_out)
{
	struct ky_enqueue enqueue;
	cl_int own_error = CL_SUCCESS, *error = error_out ? error_out : &own_error;
	void *mapped;

	if (!ky_state_is_recording())
		return KY_TARGET->clEnqueueMapImage(
			queue, image, blocking, flags, origin, region, row_pitch,
			slice_pitch, wait_count, wait_list, event, error_out);
	ky_enqueue_begin(&enqueue, KY_CALL_MAP_IMAGE, queue, event);
	mapped = KY_TARGET->clEnqueueMapImage(queue, image, blocking, flags, origin,
					      region, row_pitch, slice_pitch, wait_count,
					      wait_list, enqueue.event, error);
	ky_enqueue_returned(&enqueue, *error);
	if (enqueue.error == CL_SUCCESS)
		enqueue.command.bytes = count_map(flags, count_pixels(image, region));
	ky_enqueue_end(&enqueue, KY_LAYER, queue, blocking);
	return mapped;
}

static cl_int CL_API_CALL enqueue_unmap(cl_command_queue queue, cl_mem object,
					void *mapped, cl_uint wait_count,
					const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_UNMAP, KY_BYTES_UNKNOWN, CL_FALSE,
		   KY_TARGET->clEnqueueUnmapMemObject, queue, object, mapped, wait_count,
		   wait_list);
}

static cl_int CL_API_CALL enqueue_migrate(cl_command_queue queue, cl_uint count,
					  const cl_mem *objects,
					  cl_mem_migration_flags flags,
					  cl_uint wait_count, const cl_event *wait_list,
					  cl_event *event)
{
	KY_ENQUEUE(flags & CL_MIGRATE_MEM_OBJECT_HOST ? KY_CALL_MIGRATE_TO_HOST
						      : KY_CALL_MIGRATE,
		   count_migration(flags, count_objects(objects, count)), CL_FALSE,
		   KY_TARGET->clEnqueueMigrateMemObjects, queue, count, objects, flags,
		   wait_count, wait_list);
}

/* ---- Shared virtual memory ---- */

static cl_int CL_API_CALL enqueue_svm_free(
	cl_command_queue queue, cl_uint count, void **pointers,
	void(CL_CALLBACK *function)(cl_command_queue, cl_uint, void **, void *),
	void *data, cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_SVM_FREE, KY_BYTES_UNKNOWN, CL_FALSE,
		   KY_TARGET->clEnqueueSVMFree, queue, count, pointers, function, data,
		   wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_svm_copy(cl_command_queue queue, cl_bool blocking,
					   void *target, const void *source, size_t size,
					   cl_uint wait_count, const cl_event *wait_list,
					   cl_event *event)
{
	KY_ENQUEUE(KY_CALL_SVM_COPY, size, blocking, KY_TARGET->clEnqueueSVMMemcpy, queue,
		   blocking, target, source, size, wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_svm_fill(cl_command_queue queue, void *target,
					   const void *pattern, size_t pattern_size,
					   size_t size, cl_uint wait_count,
					   const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(KY_CALL_SVM_FILL, size, CL_FALSE, KY_TARGET->clEnqueueSVMMemFill,
		   queue, target, pattern, pattern_size, size, wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_svm_map(cl_command_queue queue, cl_bool blocking,
					  cl_map_flags flags, void *pointer, size_t size,
					  cl_uint wait_count, const cl_event *wait_list,
					  cl_event *event)
{
	KY_ENQUEUE(KY_CALL_SVM_MAP, count_map(flags, size), blocking,
		   KY_TARGET->clEnqueueSVMMap, queue, blocking, flags, pointer, size,
		   wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_svm_unmap(cl_command_queue queue, void *pointer,
					    cl_uint wait_count, const cl_event *wait_list,
					    cl_event *event)
{
	KY_ENQUEUE(KY_CALL_SVM_UNMAP, KY_BYTES_UNKNOWN, CL_FALSE,
		   KY_TARGET->clEnqueueSVMUnmap, queue, pointer, wait_count, wait_list);
}

static cl_int CL_API_CALL enqueue_svm_migrate(cl_command_queue queue, cl_uint count,
					      const void **pointers, const size_t *sizes,
					      cl_mem_migration_flags flags,
					      cl_uint wait_count,
					      const cl_event *wait_list, cl_event *event)
{
	KY_ENQUEUE(flags & CL_MIGRATE_MEM_OBJECT_HOST ? KY_CALL_SVM_MIGRATE_TO_HOST
						      : KY_CALL_SVM_MIGRATE,
		   count_migration(flags, count_sizes(sizes, count)), CL_FALSE,
		   KY_TARGET->clEnqueueSVMMigrateMem, queue, count, pointers, sizes,
		   flags, wait_count, wait_list);
}

void KY_LAYER_NAME(ky_copy_call_install)(cl_icd_dispatch *table)
{
	KY_LAYER_WRAP(table, clEnqueueReadBuffer, enqueue_read_buffer);
	KY_LAYER_WRAP(table, clEnqueueWriteBuffer, enqueue_write_buffer);
	KY_LAYER_WRAP(table, clEnqueueCopyBuffer, enqueue_copy_buffer);
	KY_LAYER_WRAP(table, clEnqueueFillBuffer, enqueue_fill_buffer);
	KY_LAYER_WRAP(table, clEnqueueReadBufferRect, enqueue_read_buffer_rect);
	KY_LAYER_WRAP(table, clEnqueueWriteBufferRect, enqueue_write_buffer_rect);
	KY_LAYER_WRAP(table, clEnqueueCopyBufferRect, enqueue_copy_buffer_rect);
	KY_LAYER_WRAP(table, clEnqueueReadImage, enqueue_read_image);
	KY_LAYER_WRAP(table, clEnqueueWriteImage, enqueue_write_image);
	KY_LAYER_WRAP(table, clEnqueueCopyImage, enqueue_copy_image);
	KY_LAYER_WRAP(table, clEnqueueFillImage, enqueue_fill_image);
	KY_LAYER_WRAP(table, clEnqueueCopyImageToBuffer, enqueue_copy_image_to_buffer);
	KY_LAYER_WRAP(table, clEnqueueCopyBufferToImage, enqueue_copy_buffer_to_image);
	KY_LAYER_WRAP(table, clEnqueueMapBuffer, enqueue_map_buffer);
	KY_LAYER_WRAP(table, clEnqueueMapImage, enqueue_map_image);
	KY_LAYER_WRAP(table, clEnqueueUnmapMemObject, enqueue_unmap);
	KY_LAYER_WRAP(table, clEnqueueMigrateMemObjects, enqueue_migrate);
	KY_LAYER_WRAP(table, clEnqueueSVMFree, enqueue_svm_free);
	KY_LAYER_WRAP(table, clEnqueueSVMMemcpy, enqueue_svm_copy);
	KY_LAYER_WRAP(table, clEnqueueSVMMemFill, enqueue_svm_fill);
	KY_LAYER_WRAP(table, clEnqueueSVMMap, enqueue_svm_map);
	KY_LAYER_WRAP(table, clEnqueueSVMUnmap, enqueue_svm_unmap);
	KY_LAYER_WRAP(table, clEnqueueSVMMigrateMem, enqueue_svm_migrate);
}
