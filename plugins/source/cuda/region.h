/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions that the host opens and closes around calls: CUPTI has three stacks for them in
 * each thread, and notes what is innermost of each beside every call.
 */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_REGION_H
#define KYMO_PLUGINS_SOURCE_CUDA_REGION_H

#include "source.h"

void ky_region_push(void *source, uint16_t domain, uint64_t value);
void ky_region_pop(void *source, uint16_t domain);

/* The domain whose regions are on that stack of CUPTI's; 0: none of ours. */
uint16_t ky_region_domain(uint32_t external_kind);

#endif
