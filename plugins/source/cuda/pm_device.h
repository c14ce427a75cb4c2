/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One device's sampler: from the chip's name to counting. Everything that can be refused
 * is asked before the device is touched.
 */
#ifndef KYMO_CUDA_PM_DEVICE_H
#define KYMO_CUDA_PM_DEVICE_H

#include "pm_host.h"
#include "pm_option.h"

enum pm_state {
	PM_UNTOUCHED,
	PM_SAMPLING,
	PM_STOPPED, /* what it has counted is decoded */
	PM_LEFT,    /* refused, or failed: told once, not tried again in this session */
};

struct pm_counts {
	uint64_t samples;
	uint64_t skipped;    /* the first one, and those of pauses */
	uint64_t lost;       /* at the least */
	uint64_t overflows;  /* of the memory that the device writes to */
	uint64_t early_ends; /* decoding stopped for a reason that is not told */
	/* Among the lost: no values could be made of it; not decoded before the end. */
	uint64_t unevaluated, pending;
};

struct pm_device {
	uint32_t index;
	enum pm_state state;
	char chip[32];
	struct pm_set set;
	void *sampler;
	uint32_t trigger; /* PM_TRIGGER_* */
	uint32_t append;  /* PM_KEEP_* */
	uint64_t interval;
	uint8_t *data; /* samples on their way from the library to us */
	size_t data_size;
	uint32_t max_samples;
	uint32_t track, group; /* the host's numbers */

	uint32_t has_begun;  /* the first sample was skipped */
	uint32_t has_hole;   /* samples were overwritten before the next one */
	uint64_t last_begin; /* of the sample before; 0: none */
	uint64_t last_end;
	uint64_t started_ns, stopped_ns; /* CLOCK_MONOTONIC */
	struct pm_counts counts;
};

/* Ends the sampler and frees what it has. Accepts one that is zero, or half open. */
void pm_device_close(struct pm_device *device, const struct pm_cupti *cupti);

/*
 * Opens and configures, but does not start. False, with the problem: the device cannot be
 * sampled as wanted. It is to be closed in any case.
 */
int pm_device_open(struct pm_device *device, uint32_t index, const struct pm_cupti *cupti,
		   const struct pm_options *options, struct pm_problem *problem);

/*
 * Asks all that opening will ask of the host library; what it answers does not matter.
 * False: there is no such device.
 */
int pm_device_rehearse(uint32_t index, const struct pm_cupti *cupti,
		       const struct pm_options *options);

int pm_device_start(struct pm_device *device, const struct pm_cupti *cupti,
		    struct pm_problem *problem);

/* Makes the image empty, for the next samples. */
int32_t pm_device_empty(struct pm_device *device, const struct pm_cupti *cupti);

#endif
