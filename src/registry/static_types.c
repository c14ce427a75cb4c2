/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of static types: numbers are positions, and never change. */
#include "registry/static_types.h"

#include <string.h>

struct static_type {
	const char *name;
	const char *former; /* the vendor's name that a generic one replaces, or NULL */
};

static const struct static_type types[] = {
	[0] = {.name = "cpu_op"},
	[1] = {.name = "user_annotation"},
	[2] = {.name = "gpu_user_annotation"},
	[3] = {.name = "gpu_memcpy"},
	[4] = {.name = "gpu_memset"},
	[5] = {.name = "kernel"},
	[6] = {.name = "external_correlation"},
	[7] = {.name = "runtime", .former = "cuda_runtime"},
	[8] = {.name = "driver", .former = "cuda_driver"},
	[9] = {.name = "cpu_instant_event"},
	[10] = {.name = "python_function"},
	[11] = {.name = "overhead"},
	[12] = {.name = "mtia_runtime"},
	[13] = {.name = "mtia_ccp_events"},
	[14] = {.name = "mtia_insight"},
	[15] = {.name = "cuda_sync"},
	[16] = {.name = "cuda_event"},
	[17] = {.name = "mtia_counters"},
	[18] = {.name = "glow_runtime"},
	[19] = {.name = "cuda_profiler_range"},
	[20] = {.name = "hpu_op"},
	[21] = {.name = "xpu_runtime"},
	[22] = {.name = "xpu_driver"},
	[23] = {.name = "collective_comm"},
	[24] = {.name = "privateuse1_runtime"},
	[25] = {.name = "privateuse1_driver"},
	[26] = {.name = "xpu_scope_profiler"},
	[27] = {.name = "xpu_sync"},
	[28] = {.name = "gpu_pm_counter", .former = "hardware_counters"},
};

KYMO_STATIC_ASSERT(sizeof(types) / sizeof(types[0]) == KY_TYPE_STATIC_COUNT);

static int equals(struct kymo_str text, const char *other)
{
	return other && strlen(other) == text.size &&
	       memcmp(text.data, other, text.size) == 0;
}

int32_t ky_type_static_number(struct kymo_str name, uint32_t *number)
{
	for (uint32_t i = 0; i < KY_TYPE_STATIC_COUNT; i++) {
		if (equals(name, types[i].name) || equals(name, types[i].former)) {
			*number = i;
			return KYMO_OK;
		}
	}
	return KYMO_ERROR_NOT_FOUND;
}

const char *ky_type_static_name(uint32_t number)
{
	return number < KY_TYPE_STATIC_COUNT ? types[number].name : NULL;
}
