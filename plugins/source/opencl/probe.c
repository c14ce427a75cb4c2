/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The probe asks the real thing: it loads OpenCL with this plug-in as a layer, looks
 * whether the loader took it, and counts the devices.
 */
#include "probe.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer.h"

#define PLATFORM_COUNT 16

/* The functions of libOpenCL that the probe calls. */
struct loader {
	cl_api_clGetPlatformIDs get_platforms;
	cl_api_clGetPlatformInfo get_platform_info;
	cl_api_clGetDeviceIDs get_devices;
};

static int32_t answer(struct kymo_probe *out, uint32_t state, const char *why,
		      const char *remedy)
{
	out->state = state;
	snprintf(out->why, sizeof(out->why), "%s", why);
	snprintf(out->remedy, sizeof(out->remedy), "%s", remedy);
	return KYMO_OK;
}

static int find_symbol(void *library, const char *name, void *function)
{
	void *symbol = dlsym(library, name);

	memcpy(function, &symbol, sizeof(symbol));
	return symbol != NULL;
}

/* Our own path in front of OPENCL_LAYERS, as the recorder would set it. */
static void ask_for_layer(void)
{
	Dl_info info;

	if (dladdr(&ky_opencl_plugin, &info) && info.dli_fname)
		setenv("OPENCL_LAYERS", info.dli_fname, 1);
}

/* Writes "3 devices: PoCL, NVIDIA CUDA" and tells how many. */
static unsigned describe_devices(const struct loader *loader, struct kymo_probe *out)
{
	cl_platform_id platforms[PLATFORM_COUNT];
	cl_uint platform_count = 0, sum = 0;
	char names[96] = "";

	if (loader->get_platforms(PLATFORM_COUNT, platforms, &platform_count) !=
	    CL_SUCCESS)
		platform_count = 0;
	for (cl_uint i = 0; i < platform_count && i < PLATFORM_COUNT; i++) {
		const size_t used = strlen(names);
		cl_uint count = 0;
		char name[64] = "";

		loader->get_devices(platforms[i], CL_DEVICE_TYPE_ALL, 0, NULL, &count);
		loader->get_platform_info(platforms[i], CL_PLATFORM_NAME,
					  sizeof(name) - 1, name, NULL);
		snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "",
			 name);
		sum += count;
	}
	snprintf(out->what, sizeof(out->what), "%u device%s: %s", sum,
		 sum == 1 ? "" : "s", sum ? names : "none");
	return sum;
}

int32_t ky_probe(struct kymo_probe *out, struct kymo_error *error)
{
	struct loader loader;
	void *library;

	(void)error;
	ask_for_layer();
	library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return answer(out, KYMO_STATE_ABSENT, "there is no libOpenCL.so.1",
			      "install an OpenCL loader, for example ocl-icd-libopencl1");
	if (!find_symbol(library, "clGetPlatformIDs", &loader.get_platforms) ||
	    !find_symbol(library, "clGetPlatformInfo", &loader.get_platform_info) ||
	    !find_symbol(library, "clGetDeviceIDs", &loader.get_devices))
		return answer(out, KYMO_STATE_FAILED, "libOpenCL.so.1 lacks functions",
			      "install an OpenCL loader, for example ocl-icd-libopencl1");
	if (describe_devices(&loader, out) == 0)
		return answer(
			out, KYMO_STATE_ABSENT, "OpenCL has no device here",
			"install a driver, for example pocl-opencl-icd (processors)");
	if (ky_layer_init_count() == 0)
		return answer(
			out, KYMO_STATE_FAILED, "this OpenCL loader does not load layers",
			"use ocl-icd 2.3 or newer, or the Khronos loader of 2020 or "
			"newer");
	return answer(out, KYMO_STATE_READY, "", "");
}
