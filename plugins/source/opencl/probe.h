/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Can OpenCL be recorded on this system?
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENCL_PROBE_H
#define KYMO_PLUGINS_SOURCE_OPENCL_PROBE_H

#include <kymo/plugin.h>

/* The source's probe operation: loads OpenCL, so only in a process to throw away. */
int32_t ky_probe(struct kymo_probe *out, struct kymo_error *error);

/* How often a loader has initialised the layer in this process. */
unsigned ky_layer_init_count(void);

/* Whether one calls through it. */
int ky_layer_is_in_use(void);

#endif
