/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PM sampling of the CUPTI that stands in. Questions about metrics go to the vendor's own
 * library ($CUPTI_REAL, which needs no device for them); the samples are made up: value i
 * of sample n is 1000 n + i. README.md lists the scenario's lines, which begin with
 * "cupti pm".
 *
 * A device has made, at any moment, as many samples as intervals have passed since it was
 * started, up to the scenario's number.
 */
#include "standin.h"

#if CUPTI_API_VERSION >= 24 /* 12.6 */

#include <cupti_pmsampling.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "scenario.h"

#define EXPORT  STUB_API
#define DEVICES 8

struct CUpti_PmSampling_Object {
	size_t device;
	uint64_t interval, begun, stopped; /* stopped: 0 while it samples */
	uint64_t next;                     /* sample to decode */
	int is_enabled, is_configured, is_started, has_overflown;
};

/* What is in a counter data image. */
struct image {
	uint64_t magic, max_samples, first, count;
	const CUpti_PmSampling_Object *sampler;
};

static const uint64_t image_magic = 0x706d2d696d616765;

static struct {
	char chip[32];
	uint64_t samples, overflow_at, overflow_by, zero_at, early;
	int is_realtime;
	CUpti_PmSampling_Object devices[DEVICES];
	uint32_t enabled, disabled, hosts_opened, hosts_closed;
	unsigned long long decoded;
} pm = {.chip = "GH100",
	.samples = 100,
	.overflow_at = UINT64_MAX,
	.zero_at = UINT64_MAX};

/* ---- The scenario ---- */

static void take_line(char **words, int count)
{
	const struct {
		const char *name;
		uint64_t *value;
	} numbers[] = {
		{"samples", &pm.samples},
		{"overflow", &pm.overflow_at},
		{"zero", &pm.zero_at},
		{"early", &pm.early},
	};

	if (count < 2 || strcmp(*words++, "pm") != 0)
		return;
	count--;
	pm.is_realtime |= strcmp(words[0], "realtime") == 0;
	if (count < 2)
		return;
	if (strcmp(words[0], "chip") == 0)
		snprintf(pm.chip, sizeof(pm.chip), "%s", words[1]);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strcmp(words[0], numbers[i].name) == 0)
			*numbers[i].value = strtoull(words[1], NULL, 0);
	if (strcmp(words[0], "overflow") == 0 && count > 2)
		pm.overflow_by = strtoull(words[2], NULL, 0);
}

__attribute__((constructor)) static void begin(void)
{
	scenario_read("cupti", take_line);
}

/* What was opened and closed, for the test. */
__attribute__((destructor)) static void end(void)
{
	const char *name = getenv("PM_REPORT");
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s.%d", name ? name : "", (int)getpid());
	file = name && pm.hosts_opened ? fopen(path, "we") : NULL;
	if (!file)
		return;
	fprintf(file,
		"{\"enabled\": %u, \"disabled\": %u, \"hosts_opened\": %u, "
		"\"hosts_closed\": %u, \"decoded\": %llu}\n",
		pm.enabled, pm.disabled, pm.hosts_opened, pm.hosts_closed, pm.decoded);
	fclose(file);
}

/* ---- The host library: the vendor's header of it is C++ ---- */

typedef CUptiResult (*host_function)(void *params);

static void *find_real(const char *function)
{
	static void *library;
	const char *path = getenv("CUPTI_REAL");

	if (!library && path)
		library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return library ? dlsym(library, function) : NULL;
}

static CUptiResult forward(const char *name, void *params)
{
	host_function function;

	STANDIN_ENTER_ANYWHERE(0);
	*(void **)&function = find_real(name);
	return standin_result(function ? function(params) : CUPTI_ERROR_NOT_INITIALIZED);
}

#define FORWARD(name)                             \
	EXPORT CUptiResult name(void *params);    \
	EXPORT CUptiResult name(void *params)     \
	{                                         \
		return forward(__func__, params); \
	}

FORWARD(cuptiProfilerHostGetSupportedChips)
FORWARD(cuptiProfilerHostGetBaseMetrics)
FORWARD(cuptiProfilerHostGetSubMetrics)
FORWARD(cuptiProfilerHostGetMetricProperties)
FORWARD(cuptiProfilerHostConfigAddMetrics)
FORWARD(cuptiProfilerHostGetConfigImageSize)
FORWARD(cuptiProfilerHostGetConfigImage)
FORWARD(cuptiProfilerHostGetNumOfPasses)

/* CUpti_Profiler_Host_Initialize_Params */
struct initialize {
	size_t size;
	void *reserved;
	uint32_t kind;
	const char *chip;
	const uint8_t *availability;
	void *host;
};

/* What is made up here of a device's counters means nothing there. */
EXPORT CUptiResult cuptiProfilerHostInitialize(struct initialize *params);
EXPORT CUptiResult cuptiProfilerHostInitialize(struct initialize *params)
{
	struct initialize asked = *params;
	CUptiResult result;

	asked.availability = NULL;
	result = forward(__func__, &asked);
	params->host = asked.host;
	pm.hosts_opened += result == CUPTI_SUCCESS;
	return result;
}

EXPORT CUptiResult cuptiProfilerHostDeinitialize(void *params);
EXPORT CUptiResult cuptiProfilerHostDeinitialize(void *params)
{
	const CUptiResult result = forward(__func__, params);

	pm.hosts_closed += result == CUPTI_SUCCESS;
	return result;
}

/* CUpti_Profiler_Host_EvaluateToGpuValues_Params */
struct evaluate {
	size_t size;
	void *reserved, *host;
	const struct image *image;
	size_t image_size, sample;
	const char **metrics;
	size_t metric_count;
	double *values;
};

EXPORT CUptiResult cuptiProfilerHostEvaluateToGpuValues(struct evaluate *params);
EXPORT CUptiResult cuptiProfilerHostEvaluateToGpuValues(struct evaluate *params)
{
	const struct image *image = params->image;

	STANDIN_ENTER(params->sample);
	if (image->magic != image_magic || params->sample >= image->count)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	for (size_t i = 0; i < params->metric_count; i++)
		params->values[i] = (double)((image->first + params->sample) * 1000 + i);
	return CUPTI_SUCCESS;
}

/* ---- What a device is ---- */

EXPORT CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params *params)
{
	STANDIN_ENTER(0);
	return standin_result(params ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER);
}

EXPORT CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params *params)
{
	STANDIN_ENTER(params->deviceIndex);
	params->pChipName = pm.chip;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params *params)
{
	STANDIN_ENTER(params->cuDevice);
	params->isSupported = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiPmSamplingGetCounterAvailability(
	CUpti_PmSampling_GetCounterAvailability_Params *params)
{
	STANDIN_ENTER(params->deviceIndex);
	if (params->pCounterAvailabilityImage)
		memset(params->pCounterAvailabilityImage, 0,
		       params->counterAvailabilityImageSize);
	params->counterAvailabilityImageSize = 64;
	return CUPTI_SUCCESS;
}

/* ---- Sampling ---- */

static uint64_t now(void)
{
	struct timespec time;

	if (!pm.is_realtime)
		return standin_now();
	clock_gettime(CLOCK_REALTIME, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

EXPORT CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params *params)
{
	CUpti_PmSampling_Object *sampler;

	STANDIN_ENTER(params->deviceIndex);
	if (params->deviceIndex >= DEVICES)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	sampler = &pm.devices[params->deviceIndex];
	if (sampler->is_enabled)
		return standin_result(CUPTI_ERROR_INVALID_OPERATION);
	*sampler =
		(CUpti_PmSampling_Object){.device = params->deviceIndex, .is_enabled = 1};
	params->pPmSamplingObject = sampler;
	pm.enabled++;
	return CUPTI_SUCCESS;
}

/* CUpti_Profiler_Host_GetNumOfPasses_Params */
struct passes {
	size_t struct_size;
	void *reserved;
	size_t image_size;
	const uint8_t *image;
	size_t count;
};

EXPORT CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params *params)
{
	CUpti_PmSampling_Object *sampler = params->pPmSamplingObject;
	struct passes passes = {.struct_size = sizeof(passes),
				.image_size = params->configSize,
				.image = params->pConfig};

	STANDIN_ENTER(sampler->device);
	if (!sampler->is_enabled || params->samplingInterval == 0 ||
	    params->hardwareBufferSize == 0)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	if (cuptiProfilerHostGetNumOfPasses(&passes) != CUPTI_SUCCESS)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	if (passes.count != 1)
		return standin_result(CUPTI_ERROR_NOT_SUPPORTED);
	sampler->interval = params->samplingInterval;
	sampler->is_configured = 1;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params *params)
{
	STANDIN_ENTER(params->pPmSamplingObject->device);
	if (!params->pMetricNames || params->numMetrics == 0)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	params->counterDataSize =
		sizeof(struct image) + params->maxSamples * params->numMetrics * 8;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiPmSamplingCounterDataImageInitialize(
	CUpti_PmSampling_CounterDataImage_Initialize_Params *params)
{
	struct image *image = (void *)params->pCounterData;

	STANDIN_ENTER(params->pPmSamplingObject->device);
	*image = (struct image){.magic = image_magic,
				.max_samples = 64, /* fewer than fit, so that it fills */
				.sampler = params->pPmSamplingObject};
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params *params)
{
	CUpti_PmSampling_Object *sampler = params->pPmSamplingObject;

	STANDIN_ENTER(sampler->device);
	if (!sampler->is_configured || sampler->is_started)
		return standin_result(CUPTI_ERROR_INVALID_OPERATION);
	sampler->is_started = 1;
	sampler->begun = now();
	sampler->stopped = 0;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params *params)
{
	CUpti_PmSampling_Object *sampler = params->pPmSamplingObject;

	STANDIN_ENTER(sampler->device);
	if (!sampler->is_started)
		return standin_result(CUPTI_ERROR_INVALID_OPERATION);
	sampler->is_started = 0;
	sampler->stopped = now();
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params *params)
{
	STANDIN_ENTER(params->pPmSamplingObject->device);
	params->pPmSamplingObject->is_enabled = 0;
	pm.disabled++;
	return CUPTI_SUCCESS;
}

/* Behind the last sample that is there. */
static uint64_t end_of(const CUpti_PmSampling_Object *sampler)
{
	const uint64_t until = sampler->stopped ? sampler->stopped : now();
	const uint64_t count = (until - sampler->begun) / sampler->interval;

	return count < pm.samples ? count : pm.samples;
}

static void overwrite(CUpti_PmSampling_Object *sampler, uint64_t end, uint8_t *overflow)
{
	if (sampler->has_overflown || sampler->next < pm.overflow_at ||
	    end < pm.overflow_at + pm.overflow_by)
		return;
	sampler->has_overflown = 1;
	sampler->next += pm.overflow_by;
	*overflow = 1;
}

EXPORT CUptiResult cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params *params)
{
	CUpti_PmSampling_Object *sampler = params->pPmSamplingObject;
	struct image *image = (void *)params->pCounterDataImage;
	uint64_t end, ready;

	STANDIN_ENTER(sampler->device);
	if (image->magic != image_magic || image->sampler != sampler || image->count != 0)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	end = end_of(sampler);
	params->overflow = 0;
	overwrite(sampler, end, &params->overflow);
	/* Up to where the memory overflows: what is behind is of the next decode. */
	if (!sampler->has_overflown && end > pm.overflow_at)
		end = pm.overflow_at;
	ready = end > sampler->next ? end - sampler->next : 0;
	image->first = sampler->next;
	image->count = ready < image->max_samples ? ready : image->max_samples;
	sampler->next += image->count;
	pm.decoded += image->count;
	params->decodeStopReason =
		ready > image->max_samples
			? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL
			: CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
	if (pm.early && pm.early--)
		params->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_OTHER;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult
cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params *params)
{
	const struct image *image = (const void *)params->pCounterDataImage;

	STANDIN_ENTER(0);
	if (image->magic != image_magic)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	params->numTotalSamples = image->max_samples;
	params->numPopulatedSamples = params->numCompletedSamples = image->count;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiPmSamplingCounterDataGetSampleInfo(
	CUpti_PmSampling_CounterData_GetSampleInfo_Params *params)
{
	const struct image *image = (const void *)params->pCounterDataImage;
	const uint64_t sample = image->first + params->sampleIndex;

	STANDIN_ENTER(params->sampleIndex);
	if (image->magic != image_magic || params->sampleIndex >= image->count)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	params->startTimestamp =
		image->sampler->begun + sample * image->sampler->interval;
	params->endTimestamp = params->startTimestamp + image->sampler->interval;
	if (sample == pm.zero_at)
		params->startTimestamp = params->endTimestamp = 0;
	return CUPTI_SUCCESS;
}

#endif
