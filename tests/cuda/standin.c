/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The CUPTI that stands in: its life, and which kinds are recorded. It looks for the
 * driver when it is first needed, as CUPTI does, and fails as CUPTI does where there is
 * none.
 */
#include "standin.h"

#include <dlfcn.h>
#include <string.h>
#include <time.h>

#define EXPORT STUB_API

struct standin standin = {
	.lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
	.changed = PTHREAD_COND_INITIALIZER,
};

static struct {
	void (*set_tool)(const struct stub_tool *tool);
	void (*tell_objects)(void (*tell)(const struct stub_object *object));
} driver;
static _Thread_local CUptiResult last_error;

/* ---- Time ---- */

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t standin_now(void)
{
	if (standin.timestamp)
		return standin.timestamp();
	return read_clock(CLOCK_REALTIME) + (uint64_t)standin.faults.skew_ns;
}

/* Of the tightest of some tries; device times are all turned by one and the same. */
static void measure_offset(void)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t before = read_clock(CLOCK_MONOTONIC);
		uint64_t ours = standin_now();
		uint64_t width = read_clock(CLOCK_MONOTONIC) - before;

		if (width >= best)
			continue;
		best = width;
		standin.device_offset = (int64_t)(ours - before - width / 2);
	}
}

/* ---- At each entry ---- */

CUptiResult standin_result(CUptiResult result)
{
	if (result != CUPTI_SUCCESS)
		last_error = result;
	return result;
}

CUptiResult standin_enter_without_driver(const char *function, int64_t argument)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, standin_read_faults);
	for (uint32_t i = 0; i < standin.faults.call_count; i++) {
		const struct standin_fault *fault = &standin.faults.calls[i];
		struct timespec wait = {fault->hangs_ms / 1000,
					fault->hangs_ms % 1000 * 1000000L};

		if (strcmp(fault->function, function) != 0 ||
		    (fault->only >= 0 && fault->only != argument))
			continue;
		nanosleep(&wait, NULL);
		if (fault->code)
			return standin_result((CUptiResult)fault->code);
	}
	return CUPTI_SUCCESS;
}

static void find_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	if (!library)
		return;
	*(void **)&driver.tell_objects = dlsym(library, "stub_tell_objects");
	*(void **)&driver.set_tool = dlsym(library, "stub_set_tool");
}

CUptiResult standin_enter(const char *function, int64_t argument)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_driver);
	if (!driver.set_tool)
		return standin_result(CUPTI_ERROR_UNKNOWN);
	return standin_enter_without_driver(function, argument);
}

/* ---- Life ---- */

void standin_attach(void)
{
	if (!standin.device_offset)
		measure_offset();
	driver.set_tool(&standin_tool);
}

__attribute__((destructor)) static void end(void)
{
	standin_write_report();
}

EXPORT CUptiResult cuptiGetVersion(uint32_t *version)
{
	STANDIN_ENTER_ANYWHERE(0);
	if (!version)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	*version = CUPTI_API_VERSION;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetTimestamp(uint64_t *time)
{
	STANDIN_ENTER_ANYWHERE(0);
	*time = standin_now();
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
	static const struct {
		CUptiResult result;
		const char *text;
	} texts[] = {
		{CUPTI_SUCCESS, "CUPTI_SUCCESS"},
		{CUPTI_ERROR_INVALID_PARAMETER, "CUPTI_ERROR_INVALID_PARAMETER"},
		{CUPTI_ERROR_INVALID_OPERATION, "CUPTI_ERROR_INVALID_OPERATION"},
		{CUPTI_ERROR_NOT_INITIALIZED, "CUPTI_ERROR_NOT_INITIALIZED"},
		{CUPTI_ERROR_INVALID_KIND, "CUPTI_ERROR_INVALID_KIND"},
		{CUPTI_ERROR_INSUFFICIENT_PRIVILEGES,
		 "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"},
		{CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
		 "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"},
		{CUPTI_ERROR_UNKNOWN, "CUPTI_ERROR_UNKNOWN"},
	};

	for (size_t i = 0; text && i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i].result != result)
			continue;
		*text = texts[i].text;
		return CUPTI_SUCCESS;
	}
	return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
}

EXPORT CUptiResult cuptiGetLastError(void)
{
	CUptiResult result = last_error;

	last_error = CUPTI_SUCCESS;
	return result;
}

EXPORT CUptiResult
cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc callback)
{
	STANDIN_ENTER_ANYWHERE(0);
	if (!callback)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	standin.timestamp = callback;
	measure_offset();
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiFinalize(void)
{
	STANDIN_ENTER(0);
	driver.set_tool(NULL);
	if (pthread_mutex_lock(&standin.lock))
		return standin_result(CUPTI_ERROR_INVALID_OPERATION);
	memset(standin.enabled, 0, sizeof(standin.enabled));
	standin.flush_period_ms = 0;
	standin_drop_subscriber();
	pthread_mutex_unlock(&standin.lock);
	return CUPTI_SUCCESS;
}

/* ---- Kinds ---- */

static CUptiResult set_kind(uint32_t kind, uint8_t enabled)
{
	if (kind >= STANDIN_KINDS || !standin_record_size(kind))
		return standin_result(CUPTI_ERROR_INVALID_KIND);
	if (pthread_mutex_lock(&standin.lock))
		return standin_result(CUPTI_ERROR_INVALID_OPERATION);
	standin.enabled[kind] = enabled;
	pthread_mutex_unlock(&standin.lock);
	if (enabled)
		standin_attach();
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	STANDIN_ENTER(kind);
	return set_kind(kind, 1);
}

EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	STANDIN_ENTER(kind);
	return set_kind(kind, 0);
}

static enum stub_object_kind dumped;

static void dump(const struct stub_object *object)
{
	pthread_mutex_lock(&standin.lock);
	if (object->kind == dumped)
		standin_write_object(object);
	pthread_mutex_unlock(&standin.lock);
}

EXPORT CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind)
{
	CUptiResult result;

	STANDIN_ENTER(kind);
	result = set_kind(kind, 1);
	if (result != CUPTI_SUCCESS)
		return result;
	if (kind == CUPTI_ACTIVITY_KIND_DEVICE)
		dumped = STUB_DEVICE;
	else if (kind == CUPTI_ACTIVITY_KIND_CONTEXT)
		dumped = STUB_CONTEXT;
	else if (kind == CUPTI_ACTIVITY_KIND_STREAM)
		dumped = STUB_STREAM;
	else
		return CUPTI_SUCCESS;
	driver.tell_objects(dump);
	return CUPTI_SUCCESS;
}

/* ---- Settings ---- */

EXPORT CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute,
					     size_t *size, void *value)
{
	STANDIN_ENTER(attribute);
	if (!size || !value)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attribute,
					     size_t *size, void *value)
{
	STANDIN_ENTER(attribute);
	if (!size || !value)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	memset(value, 0, *size);
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	STANDIN_ENTER(enable);
	standin.latency_timestamps = enable;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	STANDIN_ENTER_ANYWHERE(type);
	standin.thread_id_type = type;
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(
	CUpti_ActivityUnifiedMemoryCounterConfig *config, uint32_t count)
{
	STANDIN_ENTER(count);
	return standin_result(config && count ? CUPTI_SUCCESS
					      : CUPTI_ERROR_INVALID_PARAMETER);
}

EXPORT CUptiResult cuptiGetContextId(CUcontext context, uint32_t *id)
{
	STANDIN_ENTER(0);
	if (!context || !id)
		return standin_result(CUPTI_ERROR_INVALID_CONTEXT);
	*id = *(const uint32_t *)(const void *)
		      context; /* stub_driver.h: the first member */
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *id)
{
	STANDIN_ENTER(0);
	if (!context || !id)
		return standin_result(CUPTI_ERROR_INVALID_CONTEXT);
	*id = ((const uint32_t *)(const void *)context)[1]; /* and the second */
	return CUPTI_SUCCESS;
}

#if CUPTI_API_VERSION >= 130000
EXPORT CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t enable)
{
	STANDIN_ENTER(enable);
	return CUPTI_SUCCESS;
}
#endif
