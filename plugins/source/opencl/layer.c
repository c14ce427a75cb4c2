/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loaded by OpenCL's loader through OPENCL_LAYERS, at the program's first OpenCL call.
 *
 * The loader calls clInitLayer once, under a lock of its own: nothing here may call
 * OpenCL. Where nobody records (no agent in the process), the loader gets its own table
 * back and the program runs as if the layer were not there.
 */
#include "layer.h"

#include <CL/cl_layer.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include <kymo/inject.h>

#include "probe.h"

#define LAYER_NAME "kymo"

struct ky_layer ky_layers[KY_LAYER_COUNT];

static atomic_uint init_count;
static atomic_int is_in_use;
static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER; /* ky_layers' use */

/*
 * Keeps the loader mapped as we are: pending commands are resolved through its table
 * until the process ends, also if the program closes its handle to libOpenCL.
 */
static void pin_loader(const cl_icd_dispatch *target)
{
	void *function = NULL;
	Dl_info info;

	memcpy(&function, &target->clGetPlatformIDs, sizeof(function));
	if (function && dladdr(function, &info) && info.dli_fname)
		/* cppcheck-suppress leakReturnValNotUsed */
		dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

static void install(struct ky_layer *layer)
{
	cl_icd_dispatch *table = &layer->wrapped;

	if (layer == &ky_layers[0]) {
		ky_kernel_call_install_0(table);
		ky_copy_call_install_0(table);
		ky_queue_call_install_0(table);
		ky_host_call_install_0(table);
		ky_extension_call_install_0(table);
	} else {
		ky_kernel_call_install_1(table);
		ky_copy_call_install_1(table);
		ky_queue_call_install_1(table);
		ky_host_call_install_1(table);
		ky_extension_call_install_1(table);
	}
}

/* The layer for this table: the one it had before, else a free one, else NULL. */
static struct ky_layer *claim_layer(const cl_icd_dispatch *target, cl_uint count)
{
	struct ky_layer *layer = NULL;
	size_t size = count * sizeof(void *);

	pthread_mutex_lock(&init_lock);
	for (size_t i = 0; i < KY_LAYER_COUNT && !layer; i++) {
		if (!ky_layers[i].origin || ky_layers[i].origin == target)
			layer = &ky_layers[i];
	}
	if (layer && !layer->origin) {
		memcpy(&layer->target, target, size);
		memcpy(&layer->wrapped, target, size);
		install(layer);
		layer->origin = target;
	}
	pthread_mutex_unlock(&init_lock);
	return layer;
}

static int attach(void)
{
	const struct kymo_host *host = NULL;

	if (kymo_inject(&ky_opencl_plugin, &host, NULL) != KYMO_OK || !host)
		return 0;
	ky_state.host = host;
	return 1;
}

KYMO_API cl_int CL_API_CALL clGetLayerInfo(cl_layer_info param_name,
					   size_t param_value_size, void *param_value,
					   size_t *param_value_size_ret)
{
	static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
	const void *answer;
	size_t size;

	if (param_name == CL_LAYER_API_VERSION) {
		answer = &version;
		size = sizeof(version);
	} else if (param_name == CL_LAYER_NAME) {
		answer = LAYER_NAME;
		size = sizeof(LAYER_NAME);
	} else {
		return CL_INVALID_VALUE;
	}
	if (param_value) {
		if (param_value_size < size)
			return CL_INVALID_VALUE;
		memcpy(param_value, answer, size);
	}
	if (param_value_size_ret)
		*param_value_size_ret = size;
	return CL_SUCCESS;
}

KYMO_API cl_int CL_API_CALL clInitLayer(cl_uint num_entries,
					const cl_icd_dispatch *target_dispatch,
					cl_uint *num_entries_ret,
					const cl_icd_dispatch **layer_dispatch_ret)
{
	const cl_uint known = sizeof(cl_icd_dispatch) / sizeof(void *);
	const cl_uint count = num_entries < known ? num_entries : known;
	struct ky_layer *layer;

	if (!target_dispatch || !num_entries_ret || !layer_dispatch_ret)
		return CL_INVALID_VALUE;

	atomic_fetch_add(&init_count, 1);
	layer = attach() ? claim_layer(target_dispatch, count) : NULL;
	if (layer) {
		atomic_store(&is_in_use, 1);
		pin_loader(target_dispatch);
		*num_entries_ret = count;
		*layer_dispatch_ret = &layer->wrapped;
	} else {
		*num_entries_ret = num_entries;
		*layer_dispatch_ret = target_dispatch;
	}
	return CL_SUCCESS;
}

int ky_layer_is_in_use(void)
{
	return atomic_load(&is_in_use);
}

unsigned ky_layer_init_count(void)
{
	return atomic_load(&init_count);
}
