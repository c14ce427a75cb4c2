/* SPDX-License-Identifier: BSD-3-Clause */
/* PM sampling as a part of this source: which device, which clock, whose tick. */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_PM_SOURCE_H
#define KYMO_PLUGINS_SOURCE_CUDA_PM_SOURCE_H

#include "pm.h"
#include "source.h"

void ky_pm_create(void);

/* Attached to CUPTI, between start and stop; or that by the driver, in its cuInit(). */
void ky_pm_attached(int is_in_driver);

/* Every pm_period(), while attached. */
void ky_pm_tick(void);

/* A context was created: what CUPTI's callback is given. */
void ky_pm_context(const struct cupti_resource_data *data);

#endif
