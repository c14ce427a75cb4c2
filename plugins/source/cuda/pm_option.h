/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of PM sampling. A comma ends an option, so lists are joined by '+'. */
#ifndef KYMO_CUDA_PM_OPTION_H
#define KYMO_CUDA_PM_OPTION_H

#include <kymo/plugin.h>

#include "pm_cupti.h"

#define PM_METRICS_MAX 64u /* of one device */
#define PM_TEXT_MAX    2048u
#define PM_DEVICES_MAX 64u

#define PM_INTERVAL_DEFAULT_NS     1000000u
#define PM_INTERVAL_DEFAULT_CYCLES 1000000u /* about as long, at 1 GHz */

struct pm_options {
	char text[PM_TEXT_MAX]; /* the metrics, each terminated */
	const char *metrics[PM_METRICS_MAX];
	size_t metric_count; /* 0: a default */
	uint64_t interval;   /* 0: a default */
	uint32_t trigger;    /* PM_TRIGGER_*: what the interval counts */
	uint32_t reserved0;
	uint64_t buffer_size;
	uint64_t devices; /* a bit for each that may be sampled */
};

/* For the source's table of options. */
extern const struct kymo_option_desc pm_option_metrics, pm_option_interval,
	pm_option_buffer, pm_option_devices;

/* Reads what is set. False, with the problem, if something cannot be meant. */
int pm_options_read(struct pm_options *options, const struct kymo_host *host,
		    struct kymo_source_host *self, struct pm_problem *problem);

#endif
