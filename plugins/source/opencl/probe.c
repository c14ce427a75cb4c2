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

/*
 * "Portable Computing Language (PoCL 3.1+debian)": by the standard a platform's version
 * is "OpenCL 3.0", a blank, and words of the vendor's, of which the first two name it.
 */
static void describe_platform(const struct loader *loader, cl_platform_id platform,
			      char *out, size_t size)
{
	char name[48] = "", version[256] = "", word[2][20] = {"", ""};

	loader->get_platform_info(platform, CL_PLATFORM_NAME, sizeof(name), name, NULL);
	loader->get_platform_info(platform, CL_PLATFORM_VERSION, sizeof(version), version,
				  NULL);
	if (sscanf(version, "OpenCL %*s %19[^ ,] %19[^ ,]", word[0], word[1]) < 1)
		sscanf(version, "%19s %19s", word[0], word[1]);
	snprintf(out, size, "%s (%s%s%s)", name, word[0], word[1][0] ? " " : "", word[1]);
}

/* Writes "3 devices: NVIDIA CUDA (CUDA 12.2.140), ..." and tells how many. */
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
		char platform[96];

		loader->get_devices(platforms[i], CL_DEVICE_TYPE_ALL, 0, NULL, &count);
		describe_platform(loader, platforms[i], platform, sizeof(platform));
		snprintf(names + used, sizeof(names) - used, "%s%.90s", used ? ", " : "",
			 platform);
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
