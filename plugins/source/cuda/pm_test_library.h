/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CUPTI for tests of PM sampling, as a table of functions. Its samples last 1000 ticks
 * each and follow each other; value i of sample n is n * 1000 + i. Metrics whose names
 * have "bad" do not exist, each "big" takes a pass more.
 */
#ifndef KYMO_CUDA_PM_TEST_LIBRARY_H
#define KYMO_CUDA_PM_TEST_LIBRARY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pm_cupti.h"

#define PM_FAKE_LENGTH 1000u

/* The library's objects, so that a wrong one is seen. */
struct pm_fake_host {
	uint32_t magic; /* 0x4057 */
	size_t big;
};

static struct {
	/* What it does. */
	const char *chip;
	const char *failing; /* the call of that name in the table */
	int32_t rc;
	uint32_t fails_only; /* so many times; 0: always */
	uint32_t fails_at;   /* the call of that number fails with 999 */
	const char *huge;    /* the call that wants or gives a size beyond reason */
	size_t sample_size, claims;
	void (*on_enable)(void);
	int is_old, unsupported, zero_times, is_memory_full, is_endless, stops_early;

	/* What came of it. */
	uint32_t calls, enables, disables, starts;
	int open_hosts, open_samplers, running;
	int has_failed;
	const char *failed;
	uint64_t interval, buffer_size;
	uint32_t trigger, append, max_samples;

	/* Of the one memory that all devices share here. */
	uint64_t first, end,
		decoded; /* numbers of samples: next to decode, behind the last */
	uint64_t image_first;
	int has_overflown;
} pm_fake;

static uint64_t pm_fake_epoch, pm_fake_offset;

static inline uint64_t pm_fake_begin(uint64_t sample)
{
	return pm_fake_epoch + pm_fake_offset + sample * PM_FAKE_LENGTH;
}

static inline void pm_fake_reset(void)
{
	memset(&pm_fake, 0, sizeof(pm_fake));
	pm_fake.chip = "GH100";
	pm_fake.sample_size = 64;
	pm_fake_epoch = 5000000;
	pm_fake_offset = 0;
}

static inline void pm_fake_add_samples(uint64_t count)
{
	pm_fake.end += count;
}

static inline void pm_fake_lose_samples(uint64_t count)
{
	pm_fake.end += count;
	pm_fake.first = pm_fake.end;
	pm_fake.has_overflown = 1;
}

static inline int32_t pm_fake_enter(const char *call)
{
	const int is_named = pm_fake.failing && strcmp(pm_fake.failing, call) == 0;
	const int is_numbered = ++pm_fake.calls == pm_fake.fails_at;

	if (!is_named && !is_numbered)
		return PM_RC_SUCCESS;
	pm_fake.has_failed = 1;
	pm_fake.failed = call;
	if (is_named && pm_fake.fails_only && --pm_fake.fails_only == 0)
		pm_fake.failing = NULL;
	return is_named ? pm_fake.rc : 999;
}

#define PM_FAKE_ENTER(call)                                  \
	do {                                                 \
		const int32_t entered = pm_fake_enter(call); \
                                                             \
		if (entered != PM_RC_SUCCESS)                \
			return entered;                      \
	} while (0)

static inline size_t pm_fake_size(const char *call, size_t size)
{
	return pm_fake.huge && strcmp(pm_fake.huge, call) == 0 ? SIZE_MAX : size;
}

static inline int32_t pm_fake_initialize(struct pm_initialize *params)
{
	assert_int_equal(params->struct_size, 16);
	PM_FAKE_ENTER("initialize");
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_supported(struct pm_device_supported *params)
{
	assert_int_equal(params->struct_size, 52);
	assert_int_equal(params->api, PM_API);
	PM_FAKE_ENTER("device_supported");
	params->is_supported = pm_fake.unsupported ? 1 : PM_SUPPORTED;
	params->architecture = params->sli = params->confidential = PM_SUPPORTED;
	params->vgpu = pm_fake.unsupported ? 2 : PM_SUPPORTED;
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_chip_name(struct pm_chip_name *params)
{
	assert_int_equal(params->struct_size, 32);
	PM_FAKE_ENTER("chip_name");
	params->chip = pm_fake.chip;
	return PM_RC_SUCCESS;
}

/* ---- The host library ---- */

static inline struct pm_fake_host *pm_fake_host(void *object)
{
	struct pm_fake_host *host = object;

	assert_non_null(host);
	assert_int_equal(host->magic, 0x4057);
	return host;
}

static inline int32_t pm_fake_host_initialize(struct pm_host_initialize *params)
{
	struct pm_fake_host *host;

	assert_int_equal(params->struct_size, 48);
	assert_string_equal(params->chip, pm_fake.chip);
	PM_FAKE_ENTER("host_initialize");
	host = calloc(1, sizeof(*host));
	assert_non_null(host);
	host->magic = 0x4057;
	params->host = host;
	pm_fake.open_hosts++;
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_host_end(struct pm_host_end *params)
{
	assert_int_equal(params->struct_size, 24);
	free(pm_fake_host(params->host));
	pm_fake.open_hosts--;
	PM_FAKE_ENTER("host_end");
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_host_metrics(struct pm_host_metrics *params)
{
	static const char *names[] = {"sm__cycles", "sm__bar", "dram__much_longer"};

	pm_fake_host(params->host);
	PM_FAKE_ENTER("host_metrics");
	params->names = names;
	params->count = params->type == 0 ? 2 : 0;
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_host_suffixes(struct pm_host_suffixes *params)
{
	static const char *names[] = {".avg", ".sum"};

	pm_fake_host(params->host);
	PM_FAKE_ENTER("host_suffixes");
	params->names = names;
	params->count = 2;
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_host_properties(struct pm_host_properties *params)
{
	assert_int_equal(params->struct_size, 60);
	pm_fake_host(params->host);
	PM_FAKE_ENTER("host_properties");
	params->unit = "percent";
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_host_add(struct pm_host_add *params)
{
	struct pm_fake_host *host = pm_fake_host(params->host);

	PM_FAKE_ENTER("host_add");
	for (size_t i = 0; i < params->count; i++) {
		if (strstr(params->metrics[i], "bad"))
			return PM_RC_INVALID_PARAMETER;
		host->big += strstr(params->metrics[i], "big") != NULL;
	}
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_host_image_size(struct pm_host_image_size *params)
{
	pm_fake_host(params->host);
	PM_FAKE_ENTER("host_image_size");
	params->size = pm_fake_size("host_image_size", sizeof(size_t));
	return PM_RC_SUCCESS;
}

/* The image is the number of passes. */
static inline int32_t pm_fake_host_image(struct pm_host_image *params)
{
	const size_t passes = 1 + pm_fake_host(params->host)->big;

	assert_int_equal(params->size, sizeof(passes));
	PM_FAKE_ENTER("host_image");
	memcpy(params->image, &passes, sizeof(passes));
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_host_passes(struct pm_host_passes *params)
{
	PM_FAKE_ENTER("host_passes");
	memcpy(&params->count, params->image, sizeof(params->count));
	return PM_RC_SUCCESS;
}

/* ---- The device ---- */

static inline int32_t pm_fake_availability(struct pm_availability *params)
{
	assert_int_equal(params->struct_size, 40);
	PM_FAKE_ENTER("availability");
	if (params->image)
		memset(params->image, 1, params->size);
	else
		params->size = pm_fake_size("availability", 8);
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_enable(struct pm_enable *params)
{
	PM_FAKE_ENTER("enable");
	if (pm_fake.on_enable)
		pm_fake.on_enable();
	params->sampler = malloc(1);
	pm_fake.enables++;
	pm_fake.open_samplers++;
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_set_config(struct pm_set_config *params)
{
	assert_int_equal(params->struct_size, 64);
	PM_FAKE_ENTER("set_config");
	pm_fake.interval = params->interval;
	pm_fake.trigger = params->trigger;
	pm_fake.append = params->append;
	pm_fake.buffer_size = params->buffer_size;
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_data_size(struct pm_data_size *params)
{
	PM_FAKE_ENTER("data_size");
	pm_fake.max_samples = params->max_samples;
	params->size =
		pm_fake_size("data_size", params->max_samples * pm_fake.sample_size);
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_data_initialize(struct pm_data_initialize *params)
{
	PM_FAKE_ENTER("data_initialize");
	memset(params->data, 0, params->size);
	pm_fake.decoded = 0;
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_start(struct pm_sampler *params)
{
	assert_non_null(params->sampler);
	PM_FAKE_ENTER("start");
	pm_fake.running++;
	pm_fake.starts++;
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_decode(struct pm_decode *params)
{
	const uint64_t ready = pm_fake.end - pm_fake.first;
	const int is_full = ready > pm_fake.max_samples;

	assert_int_equal(params->struct_size, 45);
	PM_FAKE_ENTER("decode");
	params->overflow = (uint8_t)pm_fake.has_overflown;
	pm_fake.has_overflown = 0;
	pm_fake.image_first = pm_fake.first;
	pm_fake.decoded = is_full ? pm_fake.max_samples : ready;
	pm_fake.first += pm_fake.decoded;
	params->stop_reason = is_full || pm_fake.is_endless ? PM_STOPPED_FULL
			      : pm_fake.stops_early         ? PM_STOPPED_OTHERWISE
							    : PM_STOPPED_AT_THE_END;
	if (!pm_fake.is_memory_full)
		return PM_RC_SUCCESS;
	pm_fake.is_memory_full = 0;
	return PM_RC_OUT_OF_MEMORY;
}

static inline int32_t pm_fake_data_info(struct pm_data_info *params)
{
	PM_FAKE_ENTER("data_info");
	params->completed = pm_fake.claims ? pm_fake.claims : pm_fake.decoded;
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_sample_info(struct pm_sample_info *params)
{
	const uint64_t sample = pm_fake.image_first + params->sample;

	assert_int_equal(params->struct_size, 64);
	PM_FAKE_ENTER("sample_info");
	params->start = pm_fake_begin(sample);
	params->end = params->start + PM_FAKE_LENGTH;
	if (pm_fake.zero_times)
		params->start = params->end = 0;
	pm_fake.zero_times = 0;
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_host_evaluate(struct pm_host_evaluate *params)
{
	const uint64_t sample = pm_fake.image_first + params->sample;

	assert_int_equal(params->struct_size, 72);
	pm_fake_host(params->host);
	PM_FAKE_ENTER("host_evaluate");
	for (size_t i = 0; i < params->count; i++)
		params->values[i] = (double)(sample * 1000 + i);
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_stop(struct pm_sampler *params)
{
	assert_non_null(params->sampler);
	PM_FAKE_ENTER("stop");
	pm_fake.running--;
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_disable(struct pm_sampler *params)
{
	free(params->sampler);
	pm_fake.disables++;
	pm_fake.open_samplers--;
	PM_FAKE_ENTER("disable");
	return PM_RC_SUCCESS;
}

static inline int32_t pm_fake_result_text(int32_t result, const char **text)
{
	static char name[32];

	snprintf(name, sizeof(name), "CUPTI_ERROR_%d", result);
	*text = name;
	return PM_RC_SUCCESS;
}

static const struct pm_cupti pm_fake_table = {
	.initialize = pm_fake_initialize,
	.chip_name = pm_fake_chip_name,
	.host_initialize = pm_fake_host_initialize,
	.host_end = pm_fake_host_end,
	.host_metrics = pm_fake_host_metrics,
	.host_suffixes = pm_fake_host_suffixes,
	.host_properties = pm_fake_host_properties,
	.host_add = pm_fake_host_add,
	.host_image_size = pm_fake_host_image_size,
	.host_image = pm_fake_host_image,
	.host_passes = pm_fake_host_passes,
	.host_evaluate = pm_fake_host_evaluate,
	.availability = pm_fake_availability,
	.enable = pm_fake_enable,
	.set_config = pm_fake_set_config,
	.data_size = pm_fake_data_size,
	.data_initialize = pm_fake_data_initialize,
	.start = pm_fake_start,
	.decode = pm_fake_decode,
	.data_info = pm_fake_data_info,
	.sample_info = pm_fake_sample_info,
	.stop = pm_fake_stop,
	.disable = pm_fake_disable,
	.device_supported = pm_fake_supported,
	.result_text = pm_fake_result_text,
};

#endif
