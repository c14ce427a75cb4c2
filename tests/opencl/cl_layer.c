/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another layer, to stand before or behind ours: passes everything on, and at the end
 * writes how many launches and queues it has seen to the file PATH.seen beside itself.
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

#include <CL/cl.h>
#include <CL/cl_layer.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const cl_icd_dispatch *below;
static cl_icd_dispatch table;
static atomic_uint launches, queues;

static cl_int CL_API_CALL launch(cl_command_queue queue, cl_kernel kernel,
				 cl_uint dimensions, const size_t *offset,
				 const size_t *global, const size_t *local,
				 cl_uint wait_count, const cl_event *wait_list,
				 cl_event *event)
{
	atomic_fetch_add(&launches, 1);
	return below->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global,
					     local, wait_count, wait_list, event);
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
						 cl_command_queue_properties properties,
						 cl_int *error)
{
	atomic_fetch_add(&queues, 1);
	return below->clCreateCommandQueue(context, device, properties, error);
}

__attribute__((destructor)) static void write_seen(void)
{
	char path[4096];
	FILE *file;
	Dl_info info;

	if (!below || !dladdr(&below, &info))
		return;
	snprintf(path, sizeof(path), "%s.seen", info.dli_fname);
	file = fopen(path, "w");
	if (!file)
		return;
	fprintf(file, "%u %u\n", atomic_load(&launches), atomic_load(&queues));
	fclose(file);
}

cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value,
				  size_t *size_out)
{
	const cl_layer_api_version version = CL_LAYER_API_VERSION_100;

	if (name != CL_LAYER_API_VERSION || (value && size < sizeof(version)))
		return CL_INVALID_VALUE;
	if (value)
		memcpy(value, &version, sizeof(version));
	if (size_out)
		*size_out = sizeof(version);
	return CL_SUCCESS;
}

cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch *target,
			       cl_uint *count_out, const cl_icd_dispatch **table_out)
{
	const cl_uint known = sizeof(table) / sizeof(void *);

	if (count > known)
		count = known;
	below = target;
	memcpy(&table, target, count * sizeof(void *));
	table.clEnqueueNDRangeKernel = launch;
	table.clCreateCommandQueue = create_queue;
	*count_out = count;
	*table_out = &table;
	return CL_SUCCESS;
}
