/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a chip can count, asked of CUPTI's profiler host library: whether a metric exists,
 * and how many passes over the program a set of metrics takes. Sampling has one pass, so
 * that is settled before anything starts. Needs no device.
 */
#ifndef KYMO_CUDA_PM_HOST_H
#define KYMO_CUDA_PM_HOST_H

#include "pm_cupti.h"
#include "pm_option.h"

struct pm_chip {
	const struct pm_cupti *cupti;
	const char *name;
	const uint8_t *availability; /* the image of what this very device has, or NULL */
};

/* Metrics that are sampled together. */
struct pm_set {
	const char *metrics[PM_METRICS_MAX]; /* borrowed */
	size_t count;
	void *host; /* the library's, which knows the metrics */
	uint8_t *image;
	size_t image_size, passes;
};

/* Accepts one that is zero, or half built. */
void pm_set_close(struct pm_set *set, const struct pm_cupti *cupti);

/*
 * The set of the named metrics, or, of none, a default for the chip. False, with a
 * problem that names what is wrong and what would be right, if it cannot be sampled.
 */
int pm_set_choose(struct pm_set *set, const struct pm_chip *chip,
		  const char *const *metrics, size_t count, struct pm_problem *problem);

/* The unit of a metric's values, "" if the library does not say. Valid as long as the
 * set. */
const char *pm_set_unit(const struct pm_set *set, const struct pm_cupti *cupti,
			const char *metric);

#endif
