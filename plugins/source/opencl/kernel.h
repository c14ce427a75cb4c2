/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's kernels: the name of each and the attribute sets of its launches, both
 * asked for once. Any thread.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENCL_KERNEL_H
#define KYMO_PLUGINS_SOURCE_OPENCL_KERNEL_H

#include "layer.h"

/* What a launch says about its size; NULL for what it leaves to the driver. */
struct ky_kernel_size {
	cl_context context;
	cl_uint dimensions;
	const size_t *global_offset, *global_size, *local_size;
};

/* The host's numbers for the kernel's name and the launch's attribute set. */
void ky_kernel_describe(const struct ky_layer *layer, cl_kernel handle,
			const struct ky_kernel_size *size, uint32_t *name,
			uint32_t *attributes);

/*
 * A creator returned this handle: whatever it stood for before is over. This is where
 * recycled handles are found, not at the last release, which two threads may race for.
 */
void ky_kernel_forget(cl_kernel handle);

/* In a forked child: fresh locks. */
void ky_kernel_forked(void);

#endif
