/* SPDX-License-Identifier: BSD-3-Clause */
/* From what a device has counted to counter records of the host. */
#ifndef KYMO_CUDA_PM_SAMPLING_H
#define KYMO_CUDA_PM_SAMPLING_H

#include <kymo/plugin.h>

#include "pm_device.h"

/* Where samples go. */
struct pm_out {
	const struct pm_cupti *cupti;
	const struct kymo_host *host;
	struct kymo_source_host *self;
	/* Gives the device its row, now that a time of its clock is known. */
	int (*place)(struct pm_device *device, uint64_t time, struct pm_problem *problem);
	uint16_t type;
	uint16_t is_paused; /* samples are taken and thrown away */
	uint32_t reserved0;
};

/*
 * Emits what a sampling or stopped device has ready, until there is no more or the
 * deadline has passed (CLOCK_MONOTONIC). False, with the problem, if the device is not to
 * be asked again; `*is_drained` tells whether there was no more.
 */
int pm_sampling_decode(struct pm_device *device, const struct pm_out *out,
		       uint64_t deadline_ns, int *is_drained, struct pm_problem *problem);

/*
 * Stops the device and emits what it has counted, up to the deadline; what is left then
 * is counted as pending. False, with the problem, if it did not go as it should.
 */
int pm_sampling_stop(struct pm_device *device, const struct pm_out *out,
		     uint64_t deadline_ns, struct pm_problem *problem);

#endif
