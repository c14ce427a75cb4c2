/* SPDX-License-Identifier: BSD-3-Clause */
#include "pm_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

#define AVAILABILITY_MAX (64u << 20) /* bytes; more is a mistake of the library's */
#define DATA_MAX         (32u << 20) /* bytes for samples of one device */
#define SAMPLES_MAX      4096u       /* decoded at once; fewer where that needs more */
#define SAMPLES_MIN      16u

static int explain(const struct pm_cupti *cupti, const char *call, int32_t rc,
		   struct pm_problem *problem)
{
	pm_cupti_explain(cupti, call, rc, problem);
	return 0;
}

static int no_memory(struct pm_problem *problem, const char *what)
{
	snprintf(problem->reason, sizeof(problem->reason), "no memory for %s", what);
	problem->remedy[0] = '\0';
	return 0;
}

void pm_device_close(struct pm_device *device, const struct pm_cupti *cupti)
{
	struct pm_sampler disable = {PM_SIZED(pm_sampler, sampler),
				     .sampler = device->sampler};

	if (device->sampler)
		cupti->disable(&disable);
	device->sampler = NULL;
	pm_set_close(&device->set, cupti);
	free(device->data);
	device->data = NULL;
}

/* ---- What can be known before it is touched ---- */

static int read_chip(struct pm_device *device, const struct pm_cupti *cupti,
		     struct pm_problem *problem)
{
	struct pm_initialize initialize = {PM_SIZED(pm_initialize, reserved)};
	struct pm_chip_name name = {PM_SIZED(pm_chip_name, chip),
				    .device = device->index};
	int32_t rc = cupti->initialize(&initialize);

	if (rc != PM_RC_SUCCESS)
		return explain(cupti, "cuptiProfilerInitialize", rc, problem);
	rc = cupti->chip_name(&name);
	if (rc != PM_RC_SUCCESS || !name.chip)
		return explain(cupti, "cuptiDeviceGetChipName", rc, problem);
	snprintf(device->chip, sizeof(device->chip), "%s", name.chip);
	return 1;
}

/* The driver's number of a device is its index, so far in every driver. */
static int check_support(const struct pm_device *device, const struct pm_cupti *cupti,
			 struct pm_problem *problem)
{
	struct pm_device_supported answer = {PM_SIZED(pm_device_supported, api),
					     .device = (int32_t)device->index,
					     .api = PM_API};

	if (!cupti->device_supported ||
	    cupti->device_supported(&answer) != PM_RC_SUCCESS ||
	    answer.is_supported == PM_SUPPORTED ||
	    answer.is_supported == PM_SUPPORT_UNKNOWN)
		return 1;
	snprintf(problem->reason, sizeof(problem->reason), "%s has no PM sampling%s",
		 device->chip,
		 answer.architecture != PM_SUPPORTED ? ": it is too old"
		 : answer.sli != PM_SUPPORTED        ? " in an SLI group"
		 : answer.vgpu != PM_SUPPORTED
			 ? " here: profiling of the virtual GPU is off"
		 : answer.confidential != PM_SUPPORTED ? " under confidential computing"
		 : answer.mining != PM_SUPPORTED       ? ": it is made for mining"
		 : answer.wsl != PM_SUPPORTED          ? " under WSL"
						       : " here");
	problem->remedy[0] = '\0';
	return 0;
}

/* Returns the image, to be freed; NULL, with the problem, if it is not to be had. */
static uint8_t *read_availability(const struct pm_device *device,
				  const struct pm_cupti *cupti,
				  struct pm_problem *problem)
{
	struct pm_availability ask = {PM_SIZED(pm_availability, image),
				      .device = device->index};
	int32_t rc = cupti->availability(&ask);

	if (rc == PM_RC_SUCCESS && ask.size <= AVAILABILITY_MAX) {
		ask.image = malloc(ask.size);
		if (!ask.image) {
			no_memory(problem, "the list of counters");
			return NULL;
		}
		rc = cupti->availability(&ask);
		if (rc == PM_RC_SUCCESS)
			return ask.image;
		free(ask.image);
	}
	explain(cupti, "cuptiPmSamplingGetCounterAvailability", rc, problem);
	return NULL;
}

/* Turing and GA100 count cycles of a clock that varies; all later ones go by time. */
static int goes_by_time(const char *chip)
{
	return strncmp(chip, "TU", 2) != 0 && strcmp(chip, "GA100") != 0;
}

static int choose_interval(struct pm_device *device, const struct pm_options *options,
			   struct pm_problem *problem)
{
	const int by_time = goes_by_time(device->chip);

	device->trigger = options->trigger;
	device->interval = options->interval;
	if (device->interval == 0) {
		device->trigger = by_time ? PM_TRIGGER_TIME : PM_TRIGGER_CYCLES;
		device->interval =
			by_time ? PM_INTERVAL_DEFAULT_NS : PM_INTERVAL_DEFAULT_CYCLES;
	}
	if (device->trigger == PM_TRIGGER_TIME && !by_time) {
		snprintf(problem->reason, sizeof(problem->reason),
			 "%s cannot sample by time", device->chip);
		snprintf(problem->remedy, sizeof(problem->remedy),
			 "say pm_interval=%ucycles for about 1 ms",
			 PM_INTERVAL_DEFAULT_CYCLES);
		return 0;
	}
	/* Turing does not know the other way. */
	device->append =
		strncmp(device->chip, "TU", 2) == 0 ? PM_KEEP_OLDEST : PM_KEEP_LATEST;
	return 1;
}

static int choose(struct pm_device *device, const struct pm_cupti *cupti,
		  const struct pm_options *options, struct pm_problem *problem)
{
	uint8_t *availability = read_availability(device, cupti, problem);
	const struct pm_chip chip = {cupti, device->chip, availability};
	int is_good;

	if (!availability)
		return 0;
	is_good = pm_set_choose(&device->set, &chip, options->metrics,
				options->metric_count, problem);
	free(availability);
	return is_good;
}

/* ---- The sampler ---- */

int32_t pm_device_empty(struct pm_device *device, const struct pm_cupti *cupti)
{
	struct pm_data_initialize initialize = {
		PM_SIZED(pm_data_initialize, data), .sampler = device->sampler,
		.size = device->data_size, .data = device->data};

	return cupti->data_initialize(&initialize);
}

/* As many samples at once as fit into a bounded image. */
static int make_data(struct pm_device *device, const struct pm_cupti *cupti,
		     struct pm_problem *problem)
{
	struct pm_data_size ask = {
		PM_SIZED(pm_data_size, size), .sampler = device->sampler,
		.metrics = device->set.metrics, .count = device->set.count,
		.max_samples = SAMPLES_MAX};
	int32_t rc = cupti->data_size(&ask);

	while (rc == PM_RC_SUCCESS && ask.size > DATA_MAX &&
	       ask.max_samples > SAMPLES_MIN) {
		ask.max_samples /= 2;
		rc = cupti->data_size(&ask);
	}
	if (rc != PM_RC_SUCCESS)
		return explain(cupti, "cuptiPmSamplingGetCounterDataSize", rc, problem);
	device->data = ask.size <= DATA_MAX ? malloc(ask.size) : NULL;
	if (!device->data)
		return no_memory(problem, "samples");
	device->data_size = ask.size;
	device->max_samples = ask.max_samples;
	rc = pm_device_empty(device, cupti);
	return rc == PM_RC_SUCCESS
		       ? 1
		       : explain(cupti, "cuptiPmSamplingCounterDataImageInitialize", rc,
				 problem);
}

static int enable(struct pm_device *device, const struct pm_cupti *cupti,
		  const struct pm_options *options, struct pm_problem *problem)
{
	struct pm_enable enable = {PM_SIZED(pm_enable, sampler), .device = device->index};
	struct pm_set_config config = {
		PM_SIZED(pm_set_config, append), .size = device->set.image_size,
		.image = device->set.image,      .buffer_size = options->buffer_size,
		.interval = device->interval,    .trigger = device->trigger,
		.append = device->append};
	int32_t rc = cupti->enable(&enable);

	if (rc != PM_RC_SUCCESS)
		return explain(cupti, "cuptiPmSamplingEnable", rc, problem);
	device->sampler = config.sampler = enable.sampler;
	rc = cupti->set_config(&config);
	return rc == PM_RC_SUCCESS
		       ? make_data(device, cupti, problem)
		       : explain(cupti, "cuptiPmSamplingSetConfig", rc, problem);
}

int pm_device_open(struct pm_device *device, uint32_t index, const struct pm_cupti *cupti,
		   const struct pm_options *options, struct pm_problem *problem)
{
	memset(device, 0, sizeof(*device));
	device->index = index;
	return read_chip(device, cupti, problem) &&
	       check_support(device, cupti, problem) &&
	       choose_interval(device, options, problem) &&
	       choose(device, cupti, options, problem) &&
	       enable(device, cupti, options, problem);
}

int pm_device_rehearse(uint32_t index, const struct pm_cupti *cupti,
		       const struct pm_options *options)
{
	struct pm_device device = {.index = index};
	const struct pm_chip chip = {cupti, device.chip, NULL};
	struct pm_problem problem;
	struct pm_set set;

	if (!read_chip(&device, cupti, &problem))
		return 0;
	pm_set_choose(&set, &chip, options->metrics, options->metric_count, &problem);
	pm_set_close(&set, cupti);
	return 1;
}

int pm_device_start(struct pm_device *device, const struct pm_cupti *cupti,
		    struct pm_problem *problem)
{
	struct pm_sampler start = {PM_SIZED(pm_sampler, sampler),
				   .sampler = device->sampler};
	const int32_t rc = cupti->start(&start);

	if (rc != PM_RC_SUCCESS)
		return explain(cupti, "cuptiPmSamplingStart", rc, problem);
	device->started_ns = ky_monotonic_ns();
	device->state = PM_SAMPLING;
	return 1;
}
