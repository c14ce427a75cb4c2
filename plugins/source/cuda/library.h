/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI's library: where it is looked for, and its functions as found in the one that was
 * taken. What a version does not have is NULL here: the feature is off.
 */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_LIBRARY_H
#define KYMO_PLUGINS_SOURCE_CUDA_LIBRARY_H

#include <limits.h>

#include "cupti.h"

#define KY_LIBRARY_CANDIDATES 48

struct ky_library {
	void *handle;
	uint32_t version; /* what cuptiGetVersion says */
	char path[PATH_MAX];

	/* Required. */
	cuptiGetVersion_fn GetVersion;
	cuptiGetTimestamp_fn GetTimestamp;
	cuptiGetResultString_fn GetResultString;
	cuptiGetCallbackName_fn GetCallbackName;
	cuptiSubscribe_fn Subscribe;
	cuptiUnsubscribe_fn Unsubscribe;
	cuptiActivityRegisterCallbacks_fn ActivityRegisterCallbacks;
	cuptiActivityEnable_fn ActivityEnable;
	cuptiActivityDisable_fn ActivityDisable;
	cuptiActivityFlushAll_fn ActivityFlushAll;
	cuptiActivityGetNextRecord_fn ActivityGetNextRecord;
	cuptiActivityGetNumDroppedRecords_fn ActivityGetNumDroppedRecords;

	/* NULL where the version lacks it. */
	cuptiSubscribe_v2_fn Subscribe_v2;
	cuptiGetDeviceId_fn GetDeviceId;
	cuptiEnableCallback_fn EnableCallback;
	cuptiFinalize_fn Finalize;
	cuptiSetThreadIdType_fn SetThreadIdType;
	cuptiActivityEnableAndDump_fn ActivityEnableAndDump;
	cuptiActivityRegisterTimestampCallback_fn ActivityRegisterTimestampCallback;
	cuptiActivityPushExternalCorrelationId_fn ActivityPushExternalCorrelationId;
	cuptiActivityPopExternalCorrelationId_fn ActivityPopExternalCorrelationId;
	cuptiActivityEnableLatencyTimestamps_fn ActivityEnableLatencyTimestamps;
	cuptiActivityEnableCudaEventDeviceTimestamps_fn
		ActivityEnableCudaEventDeviceTimestamps;
	cuptiActivityConfigureUnifiedMemoryCounter_fn
		ActivityConfigureUnifiedMemoryCounter;
};

/* Paths or names to try, in order. Those of folders have been seen to exist. */
struct ky_library_list {
	size_t count;
	char path[KY_LIBRARY_CANDIDATES][PATH_MAX];
};

/* What the environment says, read once: a program may change it from any thread. */
struct ky_library_places {
	char folders[PATH_MAX]; /* LD_LIBRARY_PATH */
	char home[4][PATH_MAX]; /* of CUDA, by priority; "": not said */
	char python[2][PATH_MAX];
};

void ky_library_read_environment(struct ky_library_places *places);

/* `setting`: a path that the user gave; if not empty nothing else is tried. */
void ky_library_find(struct ky_library_list *list, const char *setting,
		     const struct ky_library_places *places);

/*
 * Loads it; 0 if it cannot be, or lacks a required function: `why` has the reason. The
 * same again changes nothing.
 */
int ky_library_open(struct ky_library *library, const char *path, char *why, size_t size);
void ky_library_close(struct ky_library *library);

/* "13.0" */
void ky_library_version_text(uint32_t version, char *text, size_t size);

#endif
