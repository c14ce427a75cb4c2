/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_PROBE_H
#define KYMO_PLUGINS_SOURCE_CUDA_PROBE_H

#include <kymo/plugin.h>

/* Can CUDA be recorded here? In a process that is thrown away. */
int32_t ky_probe(struct kymo_probe *out, struct kymo_error *error);

#endif
