/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What PM sampling knows of CUPTI's binary interface, 12.6 and later: the structs that
 * its functions take, and the functions. Each struct begins with the size that the caller
 * knows it by, up to its last field and without the padding behind, and grows only at its
 * end. tests/cuda pins every field against the vendor's headers.
 *
 * The profiler host library (cuptiProfilerHost*) needs no device: it knows what each chip
 * can count. cuptiPmSampling* is the device.
 */
#ifndef KYMO_CUDA_PM_CUPTI_H
#define KYMO_CUDA_PM_CUPTI_H

#include <stddef.h>
#include <stdint.h>

/* Results that are told apart. */
#define PM_RC_SUCCESS                0
#define PM_RC_INVALID_PARAMETER      1
#define PM_RC_INVALID_OPERATION      7
#define PM_RC_OUT_OF_MEMORY          8
#define PM_RC_INVALID_METRIC_NAME    17
#define PM_RC_HARDWARE_BUSY          26
#define PM_RC_NOT_SUPPORTED          27
#define PM_RC_VIRTUALIZED            33
#define PM_RC_PRIVILEGES             35
#define PM_RC_VIRTUALIZED_PRIVILEGES 40
#define PM_RC_CONFIDENTIAL           41
#define PM_RC_MIG                    43
#define PM_RC_WSL                    45
#define PM_RC_INVALID_CHIP_NAME      46 /* before 13.0 an invalid parameter */

#define PM_KIND_OF_PROFILER 1u /* PM sampling, of the host library's kinds */
#define PM_API              3u /* and of those that a device is asked about */
#define PM_SUPPORT_UNKNOWN  0u /* the answers */
#define PM_SUPPORTED        3u
#define PM_METRIC_TYPES     3u /* counters, ratios, throughputs */

#define PM_TRIGGER_CYCLES 0u
#define PM_TRIGGER_TIME   1u

#define PM_KEEP_OLDEST 0u
#define PM_KEEP_LATEST 1u

#define PM_STOPPED_OTHERWISE  0u
#define PM_STOPPED_FULL       1u
#define PM_STOPPED_AT_THE_END 2u

/* A struct's first field: the size up to and with its last one. */
#define PM_SIZE(type, last) \
	(offsetof(struct type, last) + sizeof(((struct type *)0)->last))
#define PM_SIZED(type, last) .struct_size = PM_SIZE(type, last)

struct pm_initialize {
	size_t struct_size;
	void *reserved;
};

struct pm_device_supported {
	size_t struct_size;
	void *reserved;
	int32_t device;
	uint32_t is_supported, architecture, sli, vgpu, confidential, mining, wsl;
	uint32_t api; /* in */
};

struct pm_chip_name {
	size_t struct_size;
	void *reserved;
	size_t device;
	const char *chip; /* out */
};

/* ---- The host library ---- */

struct pm_host_initialize {
	size_t struct_size;
	void *reserved;
	uint32_t kind;
	const char *chip;
	const uint8_t *availability;
	void *host; /* out */
};

struct pm_host_end {
	size_t struct_size;
	void *reserved;
	void *host;
};

struct pm_host_chips {
	size_t struct_size;
	void *reserved;
	size_t count;             /* out */
	const char *const *names; /* out */
};

struct pm_host_metrics {
	size_t struct_size;
	void *reserved;
	void *host;
	uint32_t type;
	const char **names; /* out */
	size_t count;       /* out */
};

struct pm_host_suffixes {
	size_t struct_size;
	void *reserved;
	void *host;
	uint32_t type;
	const char *metric;
	size_t count;       /* out */
	const char **names; /* out, each with its '.' */
};

struct pm_host_properties {
	size_t struct_size;
	void *reserved;
	void *host;
	const char *metric;
	const char *description, *hardware_unit, *unit; /* out */
	uint32_t type;                                  /* out */
};

struct pm_host_add {
	size_t struct_size;
	void *reserved;
	void *host;
	const char **metrics;
	size_t count;
};

struct pm_host_image_size {
	size_t struct_size;
	void *reserved;
	void *host;
	size_t size; /* out */
};

struct pm_host_image {
	size_t struct_size;
	void *reserved;
	void *host;
	size_t size;
	uint8_t *image;
};

struct pm_host_passes {
	size_t struct_size;
	void *reserved;
	size_t size;
	uint8_t *image;
	size_t count; /* out */
};

struct pm_host_evaluate {
	size_t struct_size;
	void *reserved;
	void *host;
	const uint8_t *data;
	size_t size;
	size_t sample;
	const char **metrics;
	size_t count;
	double *values;
};

/* ---- The device ---- */

struct pm_availability {
	size_t struct_size;
	void *reserved;
	size_t device;
	size_t size; /* out where image is NULL */
	uint8_t *image;
};

struct pm_enable {
	size_t struct_size;
	void *reserved;
	size_t device;
	void *sampler; /* out */
};

/* Of start, stop and disable. */
struct pm_sampler {
	size_t struct_size;
	void *reserved;
	void *sampler;
};

struct pm_set_config {
	size_t struct_size;
	void *reserved;
	void *sampler;
	size_t size;
	const uint8_t *image;
	size_t buffer_size;
	uint64_t interval;
	uint32_t trigger;
	uint32_t append;
};

struct pm_data_size {
	size_t struct_size;
	void *reserved;
	void *sampler;
	const char **metrics;
	size_t count;
	uint32_t max_samples;
	size_t size; /* out */
};

struct pm_data_initialize {
	size_t struct_size;
	void *reserved;
	void *sampler;
	size_t size;
	uint8_t *data;
};

struct pm_decode {
	size_t struct_size;
	void *reserved;
	void *sampler;
	uint8_t *data;
	size_t size;
	uint32_t stop_reason; /* out */
	uint8_t overflow;     /* out */
};

struct pm_data_info {
	size_t struct_size;
	void *reserved;
	const uint8_t *data;
	size_t size;
	size_t total, populated, completed; /* out */
};

struct pm_sample_info {
	size_t struct_size;
	void *reserved;
	void *sampler;
	const uint8_t *data;
	size_t size;
	size_t sample;
	uint64_t start, end; /* out */
};

/* Field of the table, the vendor's name, what it takes. */
#define PM_FUNCTIONS(_)                                                              \
	_(initialize, cuptiProfilerInitialize, pm_initialize)                        \
	_(chip_name, cuptiDeviceGetChipName, pm_chip_name)                           \
	_(host_initialize, cuptiProfilerHostInitialize, pm_host_initialize)          \
	_(host_end, cuptiProfilerHostDeinitialize, pm_host_end)                      \
	_(host_chips, cuptiProfilerHostGetSupportedChips, pm_host_chips)             \
	_(host_metrics, cuptiProfilerHostGetBaseMetrics, pm_host_metrics)            \
	_(host_suffixes, cuptiProfilerHostGetSubMetrics, pm_host_suffixes)           \
	_(host_properties, cuptiProfilerHostGetMetricProperties, pm_host_properties) \
	_(host_add, cuptiProfilerHostConfigAddMetrics, pm_host_add)                  \
	_(host_image_size, cuptiProfilerHostGetConfigImageSize, pm_host_image_size)  \
	_(host_image, cuptiProfilerHostGetConfigImage, pm_host_image)                \
	_(host_passes, cuptiProfilerHostGetNumOfPasses, pm_host_passes)              \
	_(host_evaluate, cuptiProfilerHostEvaluateToGpuValues, pm_host_evaluate)     \
	_(availability, cuptiPmSamplingGetCounterAvailability, pm_availability)      \
	_(enable, cuptiPmSamplingEnable, pm_enable)                                  \
	_(set_config, cuptiPmSamplingSetConfig, pm_set_config)                       \
	_(data_size, cuptiPmSamplingGetCounterDataSize, pm_data_size)                \
	_(data_initialize, cuptiPmSamplingCounterDataImageInitialize,                \
	  pm_data_initialize)                                                        \
	_(start, cuptiPmSamplingStart, pm_sampler)                                   \
	_(decode, cuptiPmSamplingDecodeData, pm_decode)                              \
	_(data_info, cuptiPmSamplingGetCounterDataInfo, pm_data_info)                \
	_(sample_info, cuptiPmSamplingCounterDataGetSampleInfo, pm_sample_info)      \
	_(stop, cuptiPmSamplingStop, pm_sampler)                                     \
	_(disable, cuptiPmSamplingDisable, pm_sampler)

struct pm_cupti {
#define FIELD(field, name, type) int32_t (*field)(struct type * params);
	PM_FUNCTIONS(FIELD)
#undef FIELD
	/* May be missing. */
	int32_t (*device_supported)(struct pm_device_supported *params);
	int32_t (*result_text)(int32_t result, const char **text);
};

/*
 * Takes the functions from the library, a handle of dlopen(). False: it has no PM
 * sampling, being older than 12.6.
 */
int pm_cupti_load(struct pm_cupti *cupti, void *library);

/* Room for what people are told: one line each. */
struct pm_problem {
	char reason[512], remedy[512];
};

/* Says that a call failed, with what is known about that result. */
void pm_cupti_explain(const struct pm_cupti *cupti, const char *call, int32_t result,
		      struct pm_problem *problem);

#endif
