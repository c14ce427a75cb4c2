/* SPDX-License-Identifier: BSD-3-Clause */
#include "registry/static_types.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <kymo/activity_type.h>
#include <kymo/session.h>

#include "support/test.h"

static struct kymo_str str(const char *text)
{
	return (struct kymo_str){text, strlen(text)};
}

/* Never to be changed: the numbers and names that traces have had from the beginning. */
static const struct {
	const char *enumerator, *name;
	uint32_t number, canonical;
	int is_default;
} pinned[] = {
	{"CPU_OP", "cpu_op", 0, 0, 1},
	{"USER_ANNOTATION", "user_annotation", 1, 1, 1},
	{"GPU_USER_ANNOTATION", "gpu_user_annotation", 2, 2, 1},
	{"GPU_MEMCPY", "gpu_memcpy", 3, 3, 1},
	{"GPU_MEMSET", "gpu_memset", 4, 4, 1},
	{"CONCURRENT_KERNEL", "kernel", 5, 5, 1},
	{"EXTERNAL_CORRELATION", "external_correlation", 6, 6, 1},
	{"CUDA_RUNTIME", "cuda_runtime", 7, 7, 1},
	{"CUDA_DRIVER", "cuda_driver", 8, 8, 1},
	{"CPU_INSTANT_EVENT", "cpu_instant_event", 9, 9, 1},
	{"PYTHON_FUNCTION", "python_function", 10, 10, 1},
	{"OVERHEAD", "overhead", 11, 11, 1},
	{"MTIA_RUNTIME", "mtia_runtime", 12, 7, 1},
	{"MTIA_CCP_EVENTS", "mtia_ccp_events", 13, 5, 1},
	{"MTIA_INSIGHT", "mtia_insight", 14, 14, 1},
	{"CUDA_SYNC", "cuda_sync", 15, 15, 1},
	{"CUDA_EVENT", "cuda_event", 16, 16, 1},
	{"MTIA_COUNTERS", "mtia_counters", 17, 28, 0}, /* counters when named only */
	{"GLOW_RUNTIME", "glow_runtime", 18, 7, 1},    /* by what it stands for */
	{"CUDA_PROFILER_RANGE", "cuda_profiler_range", 19, 19, 0},
	{"HPU_OP", "hpu_op", 20, 7, 1},
	{"XPU_RUNTIME", "xpu_runtime", 21, 7, 1},
	{"XPU_DRIVER", "xpu_driver", 22, 8, 1},
	{"COLLECTIVE_COMM", "collective_comm", 23, 23, 0},
	{"PRIVATEUSE1_RUNTIME", "privateuse1_runtime", 24, 7, 1},
	{"PRIVATEUSE1_DRIVER", "privateuse1_driver", 25, 8, 1},
	{"XPU_SCOPE_PROFILER", "xpu_scope_profiler", 26, 26, 0},
	{"XPU_SYNC", "xpu_sync", 27, 27, 0},
	{"HARDWARE_COUNTERS", "hardware_counters", 28, 28, 0},
};

static void every_number_has_its_name_its_generic_type_and_its_default(void **state)
{
	(void)state;
	assert_int_equal(sizeof(pinned) / sizeof(pinned[0]), KY_TYPE_STATIC_COUNT);
	for (uint32_t i = 0; i < KY_TYPE_STATIC_COUNT; i++) {
		uint32_t number = 99;
		int alias;

		assert_int_equal(pinned[i].number, i);
		assert_int_equal(ky_type_static_canonical(i), pinned[i].canonical);
		assert_int_equal(ky_type_static_is_default(i), pinned[i].is_default);
		assert_int_equal(
			ky_type_static_find(str(pinned[i].name), 0, &number, &alias),
			KYMO_OK);
		assert_int_equal(number, pinned[i].canonical);
		assert_int_equal(ky_type_static_find(str(pinned[i].enumerator), 1,
						     &number, &alias),
				 KYMO_OK);
		assert_int_equal(number, pinned[i].canonical);
		assert_int_equal(ky_type_static_find(str(pinned[i].enumerator), 0,
						     &number, &alias),
				 KYMO_ERROR_NOT_FOUND);
	}
}

static void generic_types_have_their_own_names(void **state)
{
	(void)state;
	assert_string_equal(ky_type_static_name(KYMO_ACTIVITY_TYPE_RUNTIME), "runtime");
	assert_string_equal(ky_type_static_name(KYMO_ACTIVITY_TYPE_DRIVER), "driver");
	assert_string_equal(ky_type_static_name(KYMO_ACTIVITY_TYPE_KERNEL), "kernel");
	assert_string_equal(ky_type_static_name(KYMO_ACTIVITY_TYPE_GPU_PM_COUNTER),
			    "gpu_pm_counter");
	assert_null(ky_type_static_name(KY_TYPE_STATIC_COUNT));
	assert_null(ky_type_static_name(UINT32_MAX));
	assert_int_equal(ky_type_static_canonical(70001), 70001);
}

static void every_alias_stands_for_a_generic_type(void **state)
{
	uint32_t number, found, count = 0;
	const char *name;
	int alias;

	(void)state;
	for (; (name = ky_type_alias(count, &number)); count++) {
		assert_int_equal(ky_type_static_canonical(number), number);
		assert_int_equal(ky_type_static_find(str(name), 0, &found, &alias),
				 KYMO_OK);
		assert_int_equal(alias, count);
		assert_int_equal(found, number);
	}
	assert_int_equal(count, 13);
	/* Those with a meaning of their own are none. */
	assert_int_equal(ky_type_static_find(KYMO_STR("CUDA_sync"), 1, &found, &alias),
			 KYMO_OK);
	assert_int_equal(alias, -1);
}

static void the_default_set_is_a_constant(void **state)
{
	uint32_t bits = 0;

	(void)state;
	KYMO_STATIC_ASSERT(KYMO_ACTIVITY_TYPES_DEFAULT ==
			   (0xfffu | 1u << 14 | 1u << 15 | 1u << 16));
	for (uint32_t i = 0; i < 32; i++)
		if (ky_type_static_canonical(i) == i && ky_type_static_is_default(i))
			bits |= 1u << i;
	assert_int_equal(bits, KYMO_ACTIVITY_TYPES_DEFAULT);
}

static uint32_t warnings;

static void count_warning(void *context, uint32_t severity, const char *message)
{
	(void)context;
	assert_int_equal(severity, KYMO_SEVERITY_WARNING);
	assert_non_null(strstr(message, "use \"runtime\""));
	warnings++;
}

static void an_alias_is_warned_of_once_until_it_is_forgotten(void **state)
{
	uint32_t number;
	int alias;

	(void)state;
	kymo_log_to(count_warning, NULL);
	ky_type_static_find(KYMO_STR("hpu_op"), 0, &number, &alias);
	ky_type_alias_warn(alias);
	ky_type_alias_warn(alias);
	ky_type_alias_warn(-1);
	assert_int_equal(warnings, 1);
	ky_type_aliases_forget();
	ky_type_alias_warn(alias);
	assert_int_equal(warnings, 2);
	kymo_log_to(NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			every_number_has_its_name_its_generic_type_and_its_default),
		cmocka_unit_test(generic_types_have_their_own_names),
		cmocka_unit_test(every_alias_stands_for_a_generic_type),
		cmocka_unit_test(the_default_set_is_a_constant),
		cmocka_unit_test(an_alias_is_warned_of_once_until_it_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
