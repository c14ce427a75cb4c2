/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Can it record here?
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENMP_PROBE_H
#define KYMO_PLUGINS_SOURCE_OPENMP_PROBE_H

#include <kymo/plugin.h>

/* The source's operation of that name. */
int32_t ky_probe(struct kymo_probe *out, struct kymo_error *error);

#endif
