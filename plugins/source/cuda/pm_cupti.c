/* SPDX-License-Identifier: BSD-3-Clause */
#include "pm_cupti.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const struct {
	int32_t result;
	const char *reason, *remedy;
} known[] = {
	{PM_RC_PRIVILEGES, "the driver lets only administrators read counters",
	 "run as root or with CAP_SYS_ADMIN, or load the driver with "
	 "NVreg_RestrictProfilingToAdminUsers=0"},
	{PM_RC_VIRTUALIZED_PRIVILEGES, "the virtual GPU is not allowed to be profiled",
	 "have the host's administrator set enable_profiling for it"},
	{PM_RC_VIRTUALIZED, "the GPU is a virtual one without counters", ""},
	{PM_RC_HARDWARE_BUSY, "another tool holds the device's counters",
	 "end it: nsys, ncu, or DCGM (dcgmi profile --pause)"},
	{PM_RC_INVALID_OPERATION,
	 "the device's counters are in use by another tool of "
	 "this process",
	 "use one profiler at a time"},
	{PM_RC_NOT_SUPPORTED, "the device has no PM sampling", ""},
	{PM_RC_CONFIDENTIAL, "confidential computing hides the counters", ""},
	{PM_RC_MIG, "a part of a partitioned device (MIG) has no PM sampling",
	 "use the whole device"},
	{PM_RC_WSL, "there are no counters under WSL", ""},
};

int pm_cupti_load(struct pm_cupti *cupti, void *library)
{
	int is_whole = 1;

	memset(cupti, 0, sizeof(*cupti));
	/* POSIX has functions fit in what dlsym returns; ISO C has no cast for it. */
#define TAKE(field, name)                                         \
	do {                                                      \
		void *address = dlsym(library, #name);            \
                                                                  \
		memcpy(&cupti->field, &address, sizeof(address)); \
	} while (0)
#define TAKE_NEEDED(field, name, type) \
	TAKE(field, name);             \
	is_whole &= cupti->field != NULL;
	PM_FUNCTIONS(TAKE_NEEDED)
	TAKE(device_supported, cuptiProfilerDeviceSupported);
	TAKE(result_text, cuptiGetResultString);
#undef TAKE_NEEDED
#undef TAKE
	return is_whole;
}

void pm_cupti_explain(const struct pm_cupti *cupti, const char *call, int32_t result,
		      struct pm_problem *problem)
{
	const char *text = NULL;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].result == result) {
			snprintf(problem->reason, sizeof(problem->reason), "%s (%s)",
				 known[i].reason, call);
			snprintf(problem->remedy, sizeof(problem->remedy), "%s",
				 known[i].remedy);
			return;
		}
	if (cupti->result_text && cupti->result_text(result, &text) != PM_RC_SUCCESS)
		text = NULL;
	snprintf(problem->reason, sizeof(problem->reason), "%s failed with %d%s%s", call,
		 result, text ? " " : "", text ? text : "");
	problem->remedy[0] = '\0';
}
