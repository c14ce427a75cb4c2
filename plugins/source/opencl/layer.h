/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layer as OpenCL's loader sees it: a table of functions in front of another.
 *
 * A process may hold two loaders (Python wheels bring their own), and each initialises
 * the layer with a table of its own. A wrapped function cannot tell by its arguments
 * which loader called it, so all files of wrapped calls are compiled twice: as loader 0
 * by themselves, as loader 1 through second_loader.c. A third loader is passed through.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENCL_LAYER_H
#define KYMO_PLUGINS_SOURCE_OPENCL_LAYER_H

#include "state.h"

#define KY_LAYER_COUNT 2

struct ky_layer {
	cl_icd_dispatch target; /* what lies below us; entries beyond its size are NULL */
	cl_icd_dispatch wrapped; /* what the loader gets */
	const void *origin;      /* the table given, to know a loader that comes again */
};

extern struct ky_layer ky_layers[KY_LAYER_COUNT];

#ifndef KY_LAYER_INDEX
#define KY_LAYER_INDEX 0
#endif

#define KY_LAYER  (&ky_layers[KY_LAYER_INDEX])
#define KY_TARGET (&ky_layers[KY_LAYER_INDEX].target)

/* `name` of this compilation: name_0 or name_1. */
#define KY_LAYER_JOIN(name, index)   name##_##index
#define KY_LAYER_EXPAND(name, index) KY_LAYER_JOIN(name, index)
#define KY_LAYER_NAME(name)          KY_LAYER_EXPAND(name, KY_LAYER_INDEX)

/* Puts a wrapper where the table below has the function. */
#define KY_LAYER_WRAP(table, function, wrapper)        \
	do {                                           \
		if ((table)->function)                 \
			(table)->function = (wrapper); \
	} while (0)

/* Each file of wrapped calls puts its own into a copy of the table below. */
void ky_kernel_call_install_0(cl_icd_dispatch *table);
void ky_kernel_call_install_1(cl_icd_dispatch *table);
void ky_copy_call_install_0(cl_icd_dispatch *table);
void ky_copy_call_install_1(cl_icd_dispatch *table);
void ky_queue_call_install_0(cl_icd_dispatch *table);
void ky_queue_call_install_1(cl_icd_dispatch *table);
void ky_host_call_install_0(cl_icd_dispatch *table);
void ky_host_call_install_1(cl_icd_dispatch *table);
void ky_extension_call_install_0(cl_icd_dispatch *table);
void ky_extension_call_install_1(cl_icd_dispatch *table);

/* The extension's creator of queues, which no table holds. */
void *ky_queue_call_create_khr_0(void);
void *ky_queue_call_create_khr_1(void);

#endif
