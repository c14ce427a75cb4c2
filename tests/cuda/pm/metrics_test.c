/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the vendor's profiler host library says of metrics, chip by chip, through the code
 * that asks it before a device is sampled. No GPU and no driver is needed: CUPTI 12.6
 * to 13.0 answer without one (13.5 wants libcuda.so.1).
 *
 * $KYMO_TEST_CUPTI is the library to ask, else the one that the build has found.
 */
#include "support/test.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pm_host.h"

static struct pm_cupti cupti;
static struct pm_set set;
static struct pm_problem problem;

/* Sampled by time, and the two whose clock varies. */
static const char *const chips[] = {"TU102", "GA100", "GA102", "GH100", "AD102", "GB202"};

static int open_library(void)
{
	const char *path = getenv("KYMO_TEST_CUPTI");
	struct pm_host_chips known = {PM_SIZED(pm_host_chips, names)};
	void *library;

	if (!path)
		path = CUPTI_PATH;
	library = path[0] ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	return library && pm_cupti_load(&cupti, library) &&
	       cupti.host_chips(&known) == PM_RC_SUCCESS;
}

static int begin_test(void **state)
{
	(void)state;
	memset(&problem, 0, sizeof(problem));
	return 0;
}

static int end_test(void **state)
{
	(void)state;
	pm_set_close(&set, &cupti);
	return 0;
}

/* The metrics end with NULL. */
static int choose(const char *name, const char *const *metrics)
{
	const struct pm_chip chip = {&cupti, name, NULL};
	size_t count = 0;

	while (metrics[count])
		count++;
	return pm_set_choose(&set, &chip, metrics, count, &problem);
}

#define CHOOSE(chip, ...) choose(chip, (const char *const[]){__VA_ARGS__, NULL})

static void a_metric_of_one_pass_is_taken_with_its_unit(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
		if (!CHOOSE(chips[i], "sm__cycles_active.avg"))
			fail_msg("%s: %s", chips[i], problem.reason);
		assert_int_equal(set.passes, 1);
		assert_int_equal(set.count, 1);
		assert_true(set.image_size > 0);
		assert_string_equal(pm_set_unit(&set, &cupti, set.metrics[0]),
				    "gpc_cycle");
		pm_set_close(&set, &cupti);
	}
	assert_true(
		CHOOSE("GH100", "dram__throughput.avg.pct_of_peak_sustained_elapsed"));
	assert_string_equal(pm_set_unit(&set, &cupti, set.metrics[0]), "percent");
}

static void a_default_fits_on_every_chip(void **state)
{
	static const char *const none[] = {NULL};
	struct pm_host_chips known = {PM_SIZED(pm_host_chips, names)};

	(void)state;
	for (size_t i = 0; i < sizeof(chips) / sizeof(chips[0]); i++) {
		if (!choose(chips[i], none))
			fail_msg("%s: %s", chips[i], problem.reason);
		assert_int_equal(set.passes, 1);
		assert_true(set.count >= 5);
		pm_set_close(&set, &cupti);
	}
	/*
	 * The number is not told, the list is: the chips are those that it knows in full.
	 */
	assert_int_equal(cupti.host_chips(&known), PM_RC_SUCCESS);
	assert_true(known.count > sizeof(chips) / sizeof(chips[0]));
	for (size_t i = 0; i < known.count; i++)
		if (!choose(known.names[i], none))
			assert_non_null(strstr(problem.reason, "Turing and later have"));
		else
			pm_set_close(&set, &cupti);
}

static void a_chip_gets_what_is_worth_most_by_default(void **state)
{
	static const char *const none[] = {NULL};
	static const char *const wanted[] = {
		"sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
		"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
		"sm__warps_active.avg.pct_of_peak_sustained_active",
		"dram__throughput.avg.pct_of_peak_sustained_elapsed",
		"dram__bytes_read.sum.per_second",
		"dram__bytes_write.sum.per_second",
	};
	static const char *const full[] = {"GH100", "GA100", "GA102", "AD102"};

	(void)state;
	for (size_t i = 0; i < sizeof(full) / sizeof(full[0]); i++) {
		assert_true(choose(full[i], none));
		for (size_t j = 0; j < sizeof(wanted) / sizeof(wanted[0]); j++)
			if (strcmp(set.metrics[j], wanted[j]) != 0)
				fail_msg("%s has %s in the place of %s", full[i],
					 set.metrics[j], wanted[j]);
		pm_set_close(&set, &cupti);
	}
}

static void passes_differ_by_chip(void **state)
{
	static const char tensor[] = "sm__inst_executed_pipe_tensor.sum";

	(void)state;
	assert_true(CHOOSE("AD102", tensor));
	pm_set_close(&set, &cupti);
	assert_false(CHOOSE("GH100", tensor));
	assert_string_equal(problem.reason,
			    "GH100 needs 2 passes for this metric, and sampling has one: "
			    "what does not fit in is sm__inst_executed_pipe_tensor.sum");
	assert_string_equal(problem.remedy, "leave pm out for a default that fits");
}

static void a_set_of_many_passes_is_refused_with_the_part_that_fits(void **state)
{
	static const char busy[] = "sm__cycles_active.avg";
	static const char sm[] = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
	static const char dram[] =
		"dram__read_throughput.avg.pct_of_peak_sustained_elapsed";

	(void)state;
	assert_false(CHOOSE("GH100", busy, sm, dram));
	assert_string_equal(problem.reason,
			    "GH100 needs 19 passes for these metrics, and sampling has "
			    "one: what does not fit in is "
			    "sm__throughput.avg.pct_of_peak_sustained_elapsed");
	assert_string_equal(problem.remedy,
			    "pm=sm__cycles_active.avg+"
			    "dram__read_throughput.avg.pct_of_peak_sustained_elapsed");
	assert_true(CHOOSE("GH100", busy, dram));
	assert_int_equal(set.passes, 1);
}

static void a_wrong_name_is_told_with_the_nearest(void **state)
{
	static const struct {
		const char *metric, *nearest;
	} cases[] = {
		{"sm__cycles_actve.avg", "nearest: sm__cycles_active.avg, "},
		{"sm__cycles_active", "nearest: sm__cycles_active.avg, "},
		{"sm__cycles_active.avgg", "nearest: sm__cycles_active.avg, "},
		{"dram__read_bytes.sum.per_second", "dram__bytes.sum.per_second"},
		{"FE_A.TriageCompute.gr__dispatch_cunt.sum",
		 "nearest: FE_A.TriageCompute.gr__dispatch_count.sum, "},
	};
	char reason[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_false(CHOOSE("GH100", "sm__warps_active.avg", cases[i].metric));
		snprintf(reason, sizeof(reason), "GH100 has no metric %s",
			 cases[i].metric);
		assert_string_equal(problem.reason, reason);
		if (!strstr(problem.remedy, cases[i].nearest))
			fail_msg("%s: %s", cases[i].metric, problem.remedy);
	}
}

/* Whatever is proposed can be used as it stands. */
static void what_is_proposed_exists(void **state)
{
	static const char *const wrong[] = {
		"sm__cycles_actve.avg",
		"sm__cycles_active",
		"dram__read_bytes.sum",
		"lts_throughput.avg",
		"x",
		"__.sum",
	};
	char *rest, *name;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char proposed[sizeof(problem.remedy)];
		uint32_t count = 0;

		assert_false(CHOOSE("AD102", wrong[i]));
		snprintf(proposed, sizeof(proposed), "%s", problem.remedy);
		assert_memory_equal(proposed, "nearest: ", 9);
		for (name = strtok_r(proposed + 9, ", ", &rest); name;
		     name = strtok_r(NULL, ", ", &rest), count++) {
			const int is_good = CHOOSE("AD102", name);

			/* It exists, though it may take more passes than one. */
			if (!is_good && !strstr(problem.reason, "passes"))
				fail_msg("%s: %s", wrong[i], problem.reason);
			pm_set_close(&set, &cupti);
		}
		assert_in_range(count, 1, 3);
	}
}

static void chips_that_cannot_be_sampled_are_told(void **state)
{
	(void)state;
	assert_false(CHOOSE("GV100", "sm__cycles_active.avg"));
	assert_string_equal(problem.reason,
			    "GV100 has no PM sampling, Turing and later have");
	assert_false(CHOOSE("NO100", "sm__cycles_active.avg"));
	assert_string_equal(problem.reason, "this CUPTI does not know the chip NO100");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_metric_of_one_pass_is_taken_with_its_unit),
		CASE(a_default_fits_on_every_chip),
		CASE(a_chip_gets_what_is_worth_most_by_default),
		CASE(passes_differ_by_chip),
		CASE(a_set_of_many_passes_is_refused_with_the_part_that_fits),
		CASE(a_wrong_name_is_told_with_the_nearest),
		CASE(what_is_proposed_exists),
		CASE(chips_that_cannot_be_sampled_are_told),
	};

	if (!open_library()) {
		puts("skip: no CUPTI from 12.6 on that answers without a driver");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
