/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What PM sampling does, and what it refuses, with a library and a host made for it. What
 * the vendor's own library says of metrics is tests/cuda's.
 */
#include "support/test.h"

#include <time.h>

#include "pm_test_session.h"

/* ---- What it does ---- */

static void samples_of_a_used_device_become_counters(void **state)
{
	(void)state;
	seen.metrics = "sm__a.avg+b+c+d+e+f";
	begin_sampling();
	pm_fake_add_samples(10);
	pm_tick();
	pm_fake_add_samples(5);
	end_session();
	assert_int_equal(seen.counter_count, 6);
	/* The first covers the time of switching on. */
	assert_int_equal(seen.records, 14);
	assert_int_equal(seen.values, 14 * 6);
	assert_int_equal(seen.first_begin, pm_fake_begin(1));
	assert_int_equal(seen.last_end, pm_fake_begin(15));
	assert_true(seen.first_value == 1000);
	assert_true(seen.last_value == 14005);
	assert_string_equal(seen.units, "percent");
	assert_int_equal(seen.metadata[INTERVAL], 1000000);
	assert_int_equal(seen.metadata[MEMORY], 64 << 20);
	assert_int_equal(seen.metadata[SAMPLES], 14);
	assert_int_equal(seen.told, 0);
}

static void a_second_session_begins_anew(void **state)
{
	(void)state;
	seen.metrics = "a+b";
	begin_sampling();
	pm_fake_add_samples(4);
	end_session();
	begin_session();
	pm_tick();
	pm_fake_add_samples(4);
	end_session();
	assert_int_equal(seen.records, 6);
	assert_int_equal(seen.metadata[SAMPLES], 3);
	assert_int_equal(seen.told, 0);
}

static void samples_go_by_the_clock_that_they_are_near(void **state)
{
	struct timespec now;

	(void)state;
	begin_sampling();
	pm_fake_add_samples(2);
	end_session();
	assert_int_equal(seen.clock, clock_number());
	clock_gettime(CLOCK_REALTIME, &now);
	begin_session();
	pm_tick();
	pm_fake_offset = (uint64_t)now.tv_sec * SECOND;
	pm_fake_add_samples(2);
	end_session();
	assert_int_equal(seen.clock, 11);
}

static void the_end_is_put_before_that_of_the_vendors_libraries(void **state)
{
	(void)state;
	begin_session();
	assert_true(pm_rehearse(0));
	assert_int_equal(seen.loadings, 1);
	assert_true(pm_rehearse(0)); /* once is enough */
	assert_int_equal(seen.loadings, 1);
	assert_false(pm_rehearse(PM_DEVICES_MAX));
	assert_int_equal(pm_fake.open_hosts, 0);
	assert_int_equal(pm_fake.enables, 0);
	pm_seen(0);
	pm_tick();
	assert_int_equal(seen.loadings, 2);
	pm_fake_add_samples(1);
	end_session();
	assert_int_equal(seen.loadings, 3);
	assert_int_equal(seen.told, 0);
}

static void rehearse_another(void)
{
	assert_false(pm_rehearse(1));
}

/* It has locks of the driver's that the tick may wait for. */
static void a_rehearsal_does_not_wait_for_the_tick(void **state)
{
	(void)state;
	pm_fake.on_enable = rehearse_another;
	begin_sampling();
	assert_int_equal(pm_fake.enables, 1);
	assert_int_equal(seen.loadings, 1);
	assert_true(pm_rehearse(1));
	end_session();
}

/* Contexts are told of from the subscription on, and from any thread. */
static void a_context_before_the_start_is_not_asked_about(void **state)
{
	(void)state;
	for (int session = 0; session < 2; session++) {
		const uint32_t calls = pm_fake.calls;

		prepare_session();
		assert_false(pm_rehearse(0));
		assert_int_equal(pm_fake.calls, calls);
		pm_start(&pm_fake_table);
		assert_true(pm_rehearse(0));
		end_session();
	}
}

static void nothing_begins_after_the_stop(void **state)
{
	(void)state;
	begin_sampling();
	end_session();
	pm_seen(1);
	pm_tick();
	assert_int_equal(pm_fake.running, 0);
	assert_int_equal(pm_fake.enables, 1);
}

static void a_device_that_is_not_there_is_no_trouble(void **state)
{
	(void)state;
	begin_session();
	pm_fake.failing = "chip_name";
	pm_fake.rc = 2;
	assert_false(pm_rehearse(0));
	assert_int_equal(seen.told, 0);
	assert_int_equal(seen.loadings, 0);
}

static void only_devices_that_are_used_and_allowed_are_touched(void **state)
{
	(void)state;
	seen.devices = "1+2";
	begin_session();
	assert_int_equal(pm_period(), 10000000);
	pm_tick();
	assert_int_equal(pm_fake.calls, 0);
	pm_seen(0);
	pm_seen(64);
	pm_tick();
	assert_int_equal(pm_fake.calls, 0);
	pm_seen(1);
	pm_seen(2);
	pm_tick();
	assert_int_equal(pm_fake.running, 2);
	end_session();
	assert_int_equal(seen.told, 0);
}

static void nothing_is_sampled_that_nobody_wants(void **state)
{
	const struct kymo_source_session session = {.struct_size = sizeof(session)};

	(void)state;
	pm_prepare(&session, NULL);
	pm_start(&pm_fake_table);
	assert_int_equal(pm_period(), 0);
	pm_seen(0);
	pm_tick();
	pm_stop(0);
	assert_int_equal(pm_fake.calls, 0);
	assert_int_equal(seen.metadata_count, 0);
	assert_int_equal(seen.told, 0);
}

static void metrics_without_their_type_are_told(void **state)
{
	const struct kymo_source_session session = {.struct_size = sizeof(session)};

	(void)state;
	seen.metrics = "a";
	pm_prepare(&session, NULL);
	pm_start(&pm_fake_table);
	assert_int_equal(pm_period(), 0);
	assert_non_null(strstr(seen.reason, "gpu_pm_counter is not among"));
	assert_non_null(strstr(seen.remedy, "--types default,gpu_pm_counter"));
}

static void an_option_that_cannot_be_meant_is_refused(void **state)
{
	const struct kymo_source_session session = {
		.struct_size = sizeof(session), .types = &counter_type, .type_count = 1};
	struct kymo_error error = {0};

	(void)state;
	seen.interval = "10parsecs";
	assert_int_equal(pm_prepare(&session, &error), KYMO_ERROR_CONFIG);
	assert_int_equal(error.status, KYMO_ERROR_CONFIG);
	assert_non_null(strstr(error.message, "pm_interval=10parsecs is not a time"));
	assert_int_equal(pm_period(), 0);
	assert_int_equal(seen.told, 0);
}

static void a_library_older_than_12_6_is_told(void **state)
{
	(void)state;
	pm_fake.is_old = 1;
	begin_session();
	assert_int_equal(pm_period(), 0);
	assert_non_null(strstr(seen.reason, "older than 12.6"));
}

static void the_interval_and_the_memory_are_as_they_are_set(void **state)
{
	(void)state;
	seen.interval = "20us";
	begin_sampling();
	assert_int_equal(pm_fake.interval, 20000);
	assert_int_equal(pm_fake.trigger, PM_TRIGGER_TIME);
	assert_int_equal(pm_fake.append, PM_KEEP_LATEST);
	assert_int_equal(pm_fake.buffer_size, 64 << 20);
	end_session();
}

static void chips_that_cannot_go_by_time_go_by_cycles(void **state)
{
	(void)state;
	pm_fake.chip = "GA100";
	begin_sampling();
	assert_int_equal(pm_fake.trigger, PM_TRIGGER_CYCLES);
	assert_int_equal(pm_fake.interval, 1000000);
	end_session();
	seen.interval = "1ms";
	begin_session();
	pm_tick();
	assert_non_null(strstr(seen.reason, "of GPU 0: GA100 cannot sample by time"));
	assert_non_null(strstr(seen.remedy, "pm_interval=1000000cycles"));
	seen.interval = "5000cycles";
	begin_session();
	pm_tick();
	assert_int_equal(pm_fake.interval, 5000);
	end_session();
}

/* ---- What can be refused ---- */

static void a_name_that_does_not_exist_is_told_before_the_device_is_touched(void **state)
{
	(void)state;
	seen.metrics = "sm__cycles.avg+sm__bad.avg";
	begin_session();
	pm_seen(0);
	pm_tick();
	assert_string_equal(seen.reason,
			    "no PM sampling of GPU 0: GH100 has no metric sm__bad.avg");
	assert_string_equal(seen.remedy, "nearest: sm__bar.avg, sm__cycles.avg");
	assert_int_equal(pm_fake.enables, 0);
	pm_tick();
	assert_int_equal(seen.told, 1);
}

static void metrics_that_do_not_fit_are_told_with_those_that_do(void **state)
{
	(void)state;
	seen.metrics = "a+big1+b+big2+c";
	begin_session();
	pm_seen(0);
	pm_tick();
	assert_string_equal(
		seen.reason,
		"no PM sampling of GPU 0: GH100 needs 3 passes for these "
		"metrics, and sampling has one: what does not fit in is big1, "
		"big2");
	assert_string_equal(seen.remedy, "pm=a+b+c");
	assert_int_equal(pm_fake.enables, 0);
}

static void each_refusal_says_why_and_what_to_do(void **state)
{
	static const struct {
		const char *call;
		int32_t rc;
		const char *reason, *remedy;
	} cases[] = {
		{"availability", PM_RC_PRIVILEGES, "only administrators",
		 "NVreg_RestrictProfilingToAdminUsers=0"},
		{"enable", PM_RC_PRIVILEGES, "only administrators", "CAP_SYS_ADMIN"},
		{"enable", PM_RC_HARDWARE_BUSY, "another tool", "dcgmi"},
		{"enable", PM_RC_INVALID_OPERATION, "another tool of this process",
		 "one"},
		{"enable", PM_RC_MIG, "(MIG)", "whole device"},
		{"enable", 999, "cuptiPmSamplingEnable failed with 999 CUPTI_ERROR_999",
		 ""},
		{"set_config", PM_RC_NOT_SUPPORTED, "no PM sampling", ""},
		{"host_initialize", PM_RC_NOT_SUPPORTED, "Turing and later have", ""},
		{"start", 999, "cuptiPmSamplingStart failed", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_test(NULL);
		pm_fake.failing = cases[i].call;
		pm_fake.rc = cases[i].rc;
		begin_session();
		pm_seen(0);
		pm_tick();
		if (!strstr(seen.reason, cases[i].reason) ||
		    !strstr(seen.remedy, cases[i].remedy))
			fail_msg("%s %d: \"%s\", \"%s\"", cases[i].call, cases[i].rc,
				 seen.reason, seen.remedy);
		pm_tick();
		assert_int_equal(seen.told, 1);
		assert_int_equal(pm_fake.disables, 0); /* before the end */
		assert_int_equal(end_test(NULL), 0);
	}
}

static void a_device_without_support_is_told_by_what_is_in_the_way(void **state)
{
	(void)state;
	pm_fake.unsupported = 1;
	begin_session();
	pm_seen(0);
	pm_tick();
	assert_non_null(strstr(seen.reason, "profiling of the virtual GPU is off"));
}

static void whatever_fails_is_told_or_costs_nothing_and_leaves_nothing_open(void **state)
{
	uint32_t n = 0;

	(void)state;
	do {
		begin_test(NULL);
		seen.metrics = "a+b";
		pm_fake.fails_at = ++n;
		begin_session();
		pm_seen(0);
		pm_tick();
		pm_fake_add_samples(8);
		pm_tick();
		end_session();
		assert_int_equal(end_test(NULL), 0);
		if (!seen.told && seen.records != 7)
			fail_msg("nobody was told that %s failed", pm_fake.failed);
	} while (pm_fake.has_failed);
	assert_true(n > 40);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(samples_of_a_used_device_become_counters),
		CASE(a_second_session_begins_anew),
		CASE(samples_go_by_the_clock_that_they_are_near),
		CASE(the_end_is_put_before_that_of_the_vendors_libraries),
		CASE(a_rehearsal_does_not_wait_for_the_tick),
		CASE(a_context_before_the_start_is_not_asked_about),
		CASE(nothing_begins_after_the_stop),
		CASE(a_device_that_is_not_there_is_no_trouble),
		CASE(only_devices_that_are_used_and_allowed_are_touched),
		CASE(nothing_is_sampled_that_nobody_wants),
		CASE(metrics_without_their_type_are_told),
		CASE(an_option_that_cannot_be_meant_is_refused),
		CASE(a_library_older_than_12_6_is_told),
		CASE(the_interval_and_the_memory_are_as_they_are_set),
		CASE(chips_that_cannot_go_by_time_go_by_cycles),
		CASE(a_name_that_does_not_exist_is_told_before_the_device_is_touched),
		CASE(metrics_that_do_not_fit_are_told_with_those_that_do),
		CASE(each_refusal_says_why_and_what_to_do),
		CASE(a_device_without_support_is_told_by_what_is_in_the_way),
		CASE(whatever_fails_is_told_or_costs_nothing_and_leaves_nothing_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
