/* SPDX-License-Identifier: BSD-3-Clause */
/* What somebody may have meant who named a metric that the chip does not have. */
#ifndef KYMO_CUDA_PM_SUGGEST_H
#define KYMO_CUDA_PM_SUGGEST_H

#include "pm_host.h"

/*
 * Writes the nearest of the chip's metrics to `out`, separated by commas; "" if the
 * library does not list any. `host` is an open host object of the chip.
 */
void pm_suggest(const struct pm_cupti *cupti, void *host, const char *metric, char *out,
		size_t size);

#endif
