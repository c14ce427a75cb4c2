/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Holds the structs of PM sampling against the vendor's headers: each field lies where
 * the vendor's does, and the size that we say is one that the vendor knows. Compiled,
 * never run. C++, since the header of the profiler host library is.
 */
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_result.h>
#include <cupti_target.h>

#include <cstddef>

#include "pm_cupti.h"

#define PIN(ours, field, theirs, name)                                 \
	static_assert(offsetof(ours, field) == offsetof(theirs, name), \
		      #theirs "." #name);                              \
	static_assert(sizeof(ours::field) == sizeof(theirs::name), #theirs "." #name)

/* The last field that we know; the vendor's struct may have grown behind it. */
#define PIN_LAST(ours, field, theirs, name)         \
	PIN(ours, field, theirs, name);             \
	PIN(ours, struct_size, theirs, structSize); \
	PIN(ours, reserved, theirs, pPriv)

#define SAMPLING(name) CUpti_PmSampling_##name##_Params
#define HOST(name)     CUpti_Profiler_Host_##name##_Params

static_assert(sizeof(pm_initialize) == CUpti_Profiler_Initialize_Params_STRUCT_SIZE, "");

using Supported = CUpti_Profiler_DeviceSupported_Params;
PIN(pm_device_supported, device, Supported, cuDevice);
PIN(pm_device_supported, is_supported, Supported, isSupported);
PIN(pm_device_supported, architecture, Supported, architecture);
PIN(pm_device_supported, sli, Supported, sli);
PIN(pm_device_supported, vgpu, Supported, vGpu);
PIN(pm_device_supported, confidential, Supported, confidentialCompute);
PIN(pm_device_supported, mining, Supported, cmp);
PIN(pm_device_supported, wsl, Supported, wsl);
PIN_LAST(pm_device_supported, api, Supported, api);
static_assert(PM_API == CUPTI_PROFILER_PM_SAMPLING, "");
static_assert(PM_SUPPORT_UNKNOWN == CUPTI_PROFILER_CONFIGURATION_UNKNOWN, "");
static_assert(PM_SUPPORTED == CUPTI_PROFILER_CONFIGURATION_SUPPORTED, "");

PIN(pm_chip_name, device, CUpti_Device_GetChipName_Params, deviceIndex);
PIN_LAST(pm_chip_name, chip, CUpti_Device_GetChipName_Params, pChipName);

PIN(pm_host_initialize, kind, HOST(Initialize), profilerType);
PIN(pm_host_initialize, chip, HOST(Initialize), pChipName);
PIN(pm_host_initialize, availability, HOST(Initialize), pCounterAvailabilityImage);
PIN_LAST(pm_host_initialize, host, HOST(Initialize), pHostObject);
static_assert(PM_KIND_OF_PROFILER == CUPTI_PROFILER_TYPE_PM_SAMPLING, "");

PIN_LAST(pm_host_end, host, HOST(Deinitialize), pHostObject);

PIN(pm_host_chips, count, HOST(GetSupportedChips), numChips);
PIN_LAST(pm_host_chips, names, HOST(GetSupportedChips), ppChipNames);

PIN(pm_host_metrics, host, HOST(GetBaseMetrics), pHostObject);
PIN(pm_host_metrics, type, HOST(GetBaseMetrics), metricType);
PIN(pm_host_metrics, names, HOST(GetBaseMetrics), ppMetricNames);
PIN_LAST(pm_host_metrics, count, HOST(GetBaseMetrics), numMetrics);
static_assert(PM_METRIC_TYPES == CUPTI_METRIC_TYPE__COUNT, "");

PIN(pm_host_suffixes, host, HOST(GetSubMetrics), pHostObject);
PIN(pm_host_suffixes, type, HOST(GetSubMetrics), metricType);
PIN(pm_host_suffixes, metric, HOST(GetSubMetrics), pMetricName);
PIN(pm_host_suffixes, count, HOST(GetSubMetrics), numOfSubmetrics);
PIN_LAST(pm_host_suffixes, names, HOST(GetSubMetrics), ppSubMetrics);

PIN(pm_host_properties, host, HOST(GetMetricProperties), pHostObject);
PIN(pm_host_properties, metric, HOST(GetMetricProperties), pMetricName);
PIN(pm_host_properties, description, HOST(GetMetricProperties), pDescription);
PIN(pm_host_properties, hardware_unit, HOST(GetMetricProperties), pHwUnit);
PIN(pm_host_properties, unit, HOST(GetMetricProperties), pDimUnit);
PIN_LAST(pm_host_properties, type, HOST(GetMetricProperties), metricType);

PIN(pm_host_add, host, HOST(ConfigAddMetrics), pHostObject);
PIN(pm_host_add, metrics, HOST(ConfigAddMetrics), ppMetricNames);
PIN_LAST(pm_host_add, count, HOST(ConfigAddMetrics), numMetrics);

PIN(pm_host_image_size, host, HOST(GetConfigImageSize), pHostObject);
PIN_LAST(pm_host_image_size, size, HOST(GetConfigImageSize), configImageSize);

PIN(pm_host_image, host, HOST(GetConfigImage), pHostObject);
PIN(pm_host_image, size, HOST(GetConfigImage), configImageSize);
PIN_LAST(pm_host_image, image, HOST(GetConfigImage), pConfigImage);

PIN(pm_host_passes, size, HOST(GetNumOfPasses), configImageSize);
PIN(pm_host_passes, image, HOST(GetNumOfPasses), pConfigImage);
PIN_LAST(pm_host_passes, count, HOST(GetNumOfPasses), numOfPasses);

PIN(pm_host_evaluate, host, HOST(EvaluateToGpuValues), pHostObject);
PIN(pm_host_evaluate, data, HOST(EvaluateToGpuValues), pCounterDataImage);
PIN(pm_host_evaluate, size, HOST(EvaluateToGpuValues), counterDataImageSize);
PIN(pm_host_evaluate, sample, HOST(EvaluateToGpuValues), rangeIndex);
PIN(pm_host_evaluate, metrics, HOST(EvaluateToGpuValues), ppMetricNames);
PIN(pm_host_evaluate, count, HOST(EvaluateToGpuValues), numMetrics);
PIN_LAST(pm_host_evaluate, values, HOST(EvaluateToGpuValues), pMetricValues);

PIN(pm_availability, device, SAMPLING(GetCounterAvailability), deviceIndex);
PIN(pm_availability, size, SAMPLING(GetCounterAvailability),
    counterAvailabilityImageSize);
PIN_LAST(pm_availability, image, SAMPLING(GetCounterAvailability),
	 pCounterAvailabilityImage);

PIN(pm_enable, device, SAMPLING(Enable), deviceIndex);
PIN_LAST(pm_enable, sampler, SAMPLING(Enable), pPmSamplingObject);

PIN_LAST(pm_sampler, sampler, SAMPLING(Start), pPmSamplingObject);
PIN_LAST(pm_sampler, sampler, SAMPLING(Stop), pPmSamplingObject);
PIN_LAST(pm_sampler, sampler, SAMPLING(Disable), pPmSamplingObject);

PIN(pm_set_config, sampler, SAMPLING(SetConfig), pPmSamplingObject);
PIN(pm_set_config, size, SAMPLING(SetConfig), configSize);
PIN(pm_set_config, image, SAMPLING(SetConfig), pConfig);
PIN(pm_set_config, buffer_size, SAMPLING(SetConfig), hardwareBufferSize);
PIN(pm_set_config, interval, SAMPLING(SetConfig), samplingInterval);
PIN(pm_set_config, trigger, SAMPLING(SetConfig), triggerMode);
PIN_LAST(pm_set_config, append, SAMPLING(SetConfig), hwBufferAppendMode);
static_assert(PM_TRIGGER_CYCLES == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL,
	      "");
static_assert(PM_TRIGGER_TIME == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL, "");
static_assert(PM_KEEP_OLDEST == CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST,
	      "");
static_assert(PM_KEEP_LATEST == CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST,
	      "");

PIN(pm_data_size, sampler, SAMPLING(GetCounterDataSize), pPmSamplingObject);
PIN(pm_data_size, metrics, SAMPLING(GetCounterDataSize), pMetricNames);
PIN(pm_data_size, count, SAMPLING(GetCounterDataSize), numMetrics);
PIN(pm_data_size, max_samples, SAMPLING(GetCounterDataSize), maxSamples);
PIN_LAST(pm_data_size, size, SAMPLING(GetCounterDataSize), counterDataSize);

PIN(pm_data_initialize, sampler, SAMPLING(CounterDataImage_Initialize),
    pPmSamplingObject);
PIN(pm_data_initialize, size, SAMPLING(CounterDataImage_Initialize), counterDataSize);
PIN_LAST(pm_data_initialize, data, SAMPLING(CounterDataImage_Initialize), pCounterData);

PIN(pm_decode, sampler, SAMPLING(DecodeData), pPmSamplingObject);
PIN(pm_decode, data, SAMPLING(DecodeData), pCounterDataImage);
PIN(pm_decode, size, SAMPLING(DecodeData), counterDataImageSize);
PIN(pm_decode, stop_reason, SAMPLING(DecodeData), decodeStopReason);
PIN_LAST(pm_decode, overflow, SAMPLING(DecodeData), overflow);
static_assert(PM_STOPPED_OTHERWISE == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_OTHER, "");
static_assert(PM_STOPPED_FULL == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL,
	      "");
static_assert(PM_STOPPED_AT_THE_END ==
		      CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS,
	      "");

PIN(pm_data_info, data, SAMPLING(GetCounterDataInfo), pCounterDataImage);
PIN(pm_data_info, size, SAMPLING(GetCounterDataInfo), counterDataImageSize);
PIN(pm_data_info, total, SAMPLING(GetCounterDataInfo), numTotalSamples);
PIN(pm_data_info, populated, SAMPLING(GetCounterDataInfo), numPopulatedSamples);
PIN_LAST(pm_data_info, completed, SAMPLING(GetCounterDataInfo), numCompletedSamples);

PIN(pm_sample_info, sampler, SAMPLING(CounterData_GetSampleInfo), pPmSamplingObject);
PIN(pm_sample_info, data, SAMPLING(CounterData_GetSampleInfo), pCounterDataImage);
PIN(pm_sample_info, size, SAMPLING(CounterData_GetSampleInfo), counterDataImageSize);
PIN(pm_sample_info, sample, SAMPLING(CounterData_GetSampleInfo), sampleIndex);
PIN(pm_sample_info, start, SAMPLING(CounterData_GetSampleInfo), startTimestamp);
PIN_LAST(pm_sample_info, end, SAMPLING(CounterData_GetSampleInfo), endTimestamp);

static_assert(PM_RC_INVALID_PARAMETER == CUPTI_ERROR_INVALID_PARAMETER, "");
static_assert(PM_RC_INVALID_OPERATION == CUPTI_ERROR_INVALID_OPERATION, "");
static_assert(PM_RC_OUT_OF_MEMORY == CUPTI_ERROR_OUT_OF_MEMORY, "");
static_assert(PM_RC_INVALID_METRIC_NAME == CUPTI_ERROR_INVALID_METRIC_NAME, "");
static_assert(PM_RC_HARDWARE_BUSY == CUPTI_ERROR_HARDWARE_BUSY, "");
static_assert(PM_RC_NOT_SUPPORTED == CUPTI_ERROR_NOT_SUPPORTED, "");
static_assert(PM_RC_VIRTUALIZED == CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, "");
static_assert(PM_RC_PRIVILEGES == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "");
static_assert(PM_RC_VIRTUALIZED_PRIVILEGES ==
		      CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES,
	      "");
static_assert(PM_RC_CONFIDENTIAL == CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED, "");
static_assert(PM_RC_MIG == CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, "");
static_assert(PM_RC_WSL == CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED, "");

/* Each function is there, and takes one struct. */
template <typename Params> static Params *first_of(CUptiResult (*)(Params *));
#define TAKES(field, name, type) \
	static_assert(sizeof(*first_of(name)) >= sizeof(size_t) + sizeof(void *), #name);
PM_FUNCTIONS(TAKES)
static_assert(sizeof(*first_of(cuptiProfilerDeviceSupported)) > 0, "");
