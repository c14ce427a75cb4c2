/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of static types: numbers are positions, and never change. */
#include "registry/static_types.h"

#include <string.h>

#include <kymo/activity_type.h>

#include "base/log.h"
#include "base/str.h"

/* Name of each number, and the one that it stands for. */
static const struct {
	const char *name;
	uint32_t canonical;
} types[] = {
	[0] = {"cpu_op", 0},
	[1] = {"user_annotation", 1},
	[2] = {"gpu_user_annotation", 2},
	[3] = {"gpu_memcpy", 3},
	[4] = {"gpu_memset", 4},
	[5] = {"kernel", 5},
	[6] = {"external_correlation", 6},
	[7] = {"runtime", 7},
	[8] = {"driver", 8},
	[9] = {"cpu_instant_event", 9},
	[10] = {"python_function", 10},
	[11] = {"overhead", 11},
	[12] = {"mtia_runtime", 7},
	[13] = {"mtia_ccp_events", 5},
	[14] = {"mtia_insight", 14},
	[15] = {"cuda_sync", 15},
	[16] = {"cuda_event", 16},
	[17] = {"mtia_counters", 28},
	[18] = {"glow_runtime", 7},
	[19] = {"cuda_profiler_range", 19},
	[20] = {"hpu_op", 7},
	[21] = {"xpu_runtime", 7},
	[22] = {"xpu_driver", 8},
	[23] = {"collective_comm", 23},
	[24] = {"privateuse1_runtime", 7},
	[25] = {"privateuse1_driver", 8},
	[26] = {"xpu_scope_profiler", 26},
	[27] = {"xpu_sync", 27},
	[28] = {"gpu_pm_counter", 28},
};

KYMO_STATIC_ASSERT(sizeof(types) / sizeof(types[0]) == KY_TYPE_STATIC_COUNT);

/* Every name that stands for a type of another name. */
static const struct {
	const char *name;
	uint32_t number;
} aliases[] = {
	{"cuda_runtime", 7},      {"mtia_runtime", 7},        {"glow_runtime", 7},
	{"xpu_runtime", 7},       {"privateuse1_runtime", 7}, {"hpu_op", 7},
	{"cuda_driver", 8},       {"xpu_driver", 8},          {"privateuse1_driver", 8},
	{"concurrent_kernel", 5}, {"mtia_ccp_events", 5},     {"hardware_counters", 28},
	{"mtia_counters", 28},
};

#define ALIAS_COUNT ((uint32_t)(sizeof(aliases) / sizeof(aliases[0])))

KYMO_STATIC_ASSERT(ALIAS_COUNT <= 32);

static uint32_t warned; /* a bit for each alias; atomic */

static int is_same(struct kymo_str text, const char *other, int any_case)
{
	return any_case ? ky_str_is_any_case(text, other) : ky_str_is(text, other);
}

const char *ky_type_static_name(uint32_t number)
{
	return number < KY_TYPE_STATIC_COUNT ? types[number].name : NULL;
}

uint32_t ky_type_static_canonical(uint32_t number)
{
	return number < KY_TYPE_STATIC_COUNT ? types[number].canonical : number;
}

int ky_type_static_is_default(uint32_t number)
{
	return number < KY_TYPE_STATIC_COUNT &&
	       (KYMO_ACTIVITY_TYPES_DEFAULT >> types[number].canonical & 1);
}

const char *ky_type_alias(uint32_t index, uint32_t *number)
{
	if (index >= ALIAS_COUNT)
		return NULL;
	*number = aliases[index].number;
	return aliases[index].name;
}

int32_t ky_type_static_find(struct kymo_str name, int any_case, uint32_t *number,
			    int *alias)
{
	*alias = -1;
	for (uint32_t i = 0; i < ALIAS_COUNT; i++) {
		if (!is_same(name, aliases[i].name, any_case))
			continue;
		*alias = (int)i;
		*number = aliases[i].number;
		return KYMO_OK;
	}
	for (uint32_t i = 0; i < KY_TYPE_STATIC_COUNT; i++) {
		if (!is_same(name, types[i].name, any_case))
			continue;
		*number = i;
		return KYMO_OK;
	}
	return KYMO_ERROR_NOT_FOUND;
}

void ky_type_alias_warn(int alias)
{
	const uint32_t bit = alias < 0 ? 0 : 1u << alias;

	if (bit == 0 || (__atomic_fetch_or(&warned, bit, __ATOMIC_RELAXED) & bit))
		return;
	ky_log(KYMO_SEVERITY_WARNING,
	       "the activity type \"%s\" is deprecated: use \"%s\", which it stands for",
	       aliases[alias].name, types[aliases[alias].number].name);
}

void ky_type_aliases_forget(void)
{
	__atomic_store_n(&warned, 0, __ATOMIC_RELAXED);
}
