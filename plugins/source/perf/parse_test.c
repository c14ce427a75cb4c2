/* SPDX-License-Identifier: BSD-3-Clause */
/* What is computed from texts and readings: options, files of /proc, usage, groups. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "missing.h"
#include "option.h"
#include "proc.h"
#include "support/test.h"
#include "tally.h"
#include "usage.h"

/* ---- Options ---- */

static const char *texts[3]; /* of interval, stacks, switches */

static int32_t give_option(struct kymo_source_host *self, const char *name,
			   struct kymo_str *out)
{
	static const char *const names[] = {"interval", "stacks", "switches"};

	(void)self;
	for (size_t i = 0; i < 3; i++)
		if (strcmp(names[i], name) == 0)
			*out = kymo_text(texts[i]);
	return KYMO_OK;
}

static int32_t read_options(const char *interval, const char *stacks,
			    const char *switches, struct perf_options *out,
			    struct kymo_error *error)
{
	const struct kymo_host host = {.struct_size = sizeof(host),
				       .option = give_option};

	texts[0] = interval;
	texts[1] = stacks;
	texts[2] = switches;
	return perf_options_read(&host, NULL, out, error);
}

static void times_have_a_unit(void **state)
{
	uint64_t ns = 0;

	(void)state;
	assert_int_equal(perf_option_time(KYMO_STR("5ms"), &ns), 0);
	assert_int_equal(ns, 5000000);
	assert_int_equal(perf_option_time(KYMO_STR("1500us"), &ns), 0);
	assert_int_equal(ns, 1500000);
	assert_int_equal(perf_option_time(KYMO_STR("60s"), &ns), 0);
	assert_int_equal(ns, 60000000000);
	assert_int_equal(perf_option_time(KYMO_STR("5"), &ns), -1);
	assert_int_equal(perf_option_time(KYMO_STR("ms"), &ns), -1);
	assert_int_equal(perf_option_time(KYMO_STR("-5ms"), &ns), -1);
	assert_int_equal(perf_option_time(KYMO_STR("5msec"), &ns), -1);
	assert_int_equal(perf_option_time(KYMO_STR("5 ms"), &ns), -1);
	assert_int_equal(perf_option_time(KYMO_STR(""), &ns), -1);
	assert_int_equal(perf_option_time(KYMO_STR("99999999999999999999s"), &ns), -1);
	/* In nanoseconds it would be 0.29 s modulo 2^64. */
	assert_int_equal(perf_option_time(KYMO_STR("18446744074s"), &ns), -1);
}

static void options_that_make_no_sense_are_refused_by_name(void **state)
{
	struct perf_options options;
	struct kymo_error error = {0};

	(void)state;
	assert_int_equal(read_options("10ms", "99", "1", &options, NULL), KYMO_OK);
	assert_int_equal(options.interval_ns, 10000000);
	assert_int_equal(options.stacks_hz, 99);
	assert_int_equal(options.has_switches, 1);
	assert_int_equal(read_options("999us", "0", "0", &options, &error),
			 KYMO_ERROR_CONFIG);
	assert_string_equal(error.message, "interval=999us: it has to be a time with its "
					   "unit, from 1ms to 60s");
	assert_int_equal(error.status, KYMO_ERROR_CONFIG);
	assert_int_equal(read_options("61s", "0", "0", &options, &error),
			 KYMO_ERROR_CONFIG);
	assert_int_equal(read_options("1ms", "10001", "0", &options, &error),
			 KYMO_ERROR_CONFIG);
	assert_string_equal(error.message,
			    "stacks=10001: it has to be samples a second, up to 10000");
	assert_int_equal(read_options("1ms", "", "0", &options, &error),
			 KYMO_ERROR_CONFIG);
	assert_int_equal(read_options("1ms", "0", "2", &options, &error),
			 KYMO_ERROR_CONFIG);
	assert_string_equal(error.message, "switches=2: it has to be 0 or 1");
}

/* ---- Files ---- */

static void statm_is_read(void **state)
{
	uint64_t pages[3];

	(void)state;
	assert_int_equal(perf_parse_statm("593 351 340 5 0 112 0\n", pages), 0);
	assert_int_equal(pages[0], 593);
	assert_int_equal(pages[1], 351);
	assert_int_equal(pages[2], 340);
	assert_int_equal(perf_parse_statm("593 351", pages), -1);
	assert_int_equal(perf_parse_statm("", pages), -1);
	assert_int_equal(perf_parse_statm("a b c", pages), -1);
	assert_int_equal(perf_parse_statm("99999999999999999999 1 2", pages), -1);
}

static void pressure_is_read(void **state)
{
	uint64_t us[2] = {0};

	(void)state;
	assert_int_equal(
		perf_parse_pressure("some avg10=0.92 avg60=2.45 avg300=6.87 "
				    "total=9801047375\n"
				    "full avg10=0.00 avg60=0.00 avg300=0.00 total=12\n",
				    us),
		2);
	assert_int_equal(us[0], 9801047375);
	assert_int_equal(us[1], 12);
	assert_int_equal(perf_parse_pressure("some avg10=0.00 total=7\n", us), 1);
	assert_int_equal(us[0], 7);
	assert_int_equal(perf_parse_pressure("", us), 0);
}

/* ---- Usage ---- */

static void what_our_own_thread_uses_is_left_out(void **state)
{
	struct perf_usage usage = {.has_own = 0};
	uint64_t delta[PERF_USAGE_COUNT];
	uint64_t process[PERF_USAGE_COUNT] = {1000, 10, 0, 5, 5};
	uint64_t own[PERF_USAGE_COUNT] = {400, 3, 0, 2, 0};

	(void)state;
	perf_usage_feed(&usage, process, NULL, delta);
	assert_int_equal(delta[PERF_USAGE_CPU], 1000);
	/* What it did before its first tick nobody knows. */
	process[PERF_USAGE_CPU] = 2000;
	perf_usage_feed(&usage, process, own, delta);
	assert_int_equal(delta[PERF_USAGE_CPU], 1000);
	assert_int_equal(delta[PERF_USAGE_VOLUNTARY], 0);
	process[PERF_USAGE_CPU] = 3000;
	own[PERF_USAGE_CPU] = 700;
	process[PERF_USAGE_VOLUNTARY] = 9;
	own[PERF_USAGE_VOLUNTARY] = 5;
	perf_usage_feed(&usage, process, own, delta);
	assert_int_equal(delta[PERF_USAGE_CPU], 700);
	assert_int_equal(delta[PERF_USAGE_VOLUNTARY], 1);
	/* Off its thread it is known as of its last tick. */
	process[PERF_USAGE_CPU] = 3500;
	perf_usage_feed(&usage, process, NULL, delta);
	assert_int_equal(delta[PERF_USAGE_CPU], 500);
}

static void what_seems_to_go_down_is_made_up_for_later(void **state)
{
	struct perf_usage usage = {.has_own = 0};
	uint64_t delta[PERF_USAGE_COUNT];
	uint64_t process[PERF_USAGE_COUNT] = {1000, 0, 0, 0, 0};
	uint64_t own[PERF_USAGE_COUNT] = {0, 0, 0, 0, 0};

	(void)state;
	perf_usage_feed(&usage, process, own, delta);
	own[PERF_USAGE_CPU] = 50; /* and the process's clock has not seen it yet */
	perf_usage_feed(&usage, process, own, delta);
	assert_int_equal(delta[PERF_USAGE_CPU], 0);
	process[PERF_USAGE_CPU] = 1090;
	perf_usage_feed(&usage, process, own, delta);
	assert_int_equal(delta[PERF_USAGE_CPU],
			 40); /* 1000, 1000, 1040: the sum is right */
}

/* ---- Groups of events ---- */

static void what_was_not_counted_all_the_time_is_extrapolated(void **state)
{
	const struct perf_reading last = {2, 1000, 1000, {500, 7}};
	struct perf_reading now = {2, 3000, 3000, {900, 9}};
	uint64_t delta[PERF_GROUP_MAX] = {0};

	(void)state;
	assert_true(perf_reading_delta(&last, &now, delta));
	assert_int_equal(delta[0], 400);
	assert_int_equal(delta[1], 2);
	now.running = 1500; /* for a quarter of the time */
	assert_true(perf_reading_delta(&last, &now, delta));
	assert_int_equal(delta[0], 1600);
	assert_int_equal(delta[1], 8);
	now.running = 1000;
	assert_false(perf_reading_delta(&last, &now, delta));
	now.enabled = 1000; /* it did not run at all, so it is known: nothing */
	now.value[0] = 500;
	assert_true(perf_reading_delta(&last, &now, delta));
	assert_int_equal(delta[0], 0);
}

/* ---- What is missing ---- */

static void what_is_missing_for_one_reason_is_told_together(void **state)
{
	char why[512], remedy[512];

	(void)state;
	perf_missing_reset();
	assert_false(perf_missing_tell(why, sizeof(why), remedy, sizeof(remedy)));
	assert_string_equal(why, "");
	perf_missing_add_refused("cycles", ENOENT);
	perf_missing_add_refused("instructions", EOPNOTSUPP);
	perf_missing_add_refused("stacks", ENOSYS);
	perf_missing_add("memory", "there is no file", "make one");
	perf_missing_add("more memory", "there is no other file", "make one");
	assert_true(perf_missing_is_news());
	assert_true(perf_missing_tell(why, sizeof(why), remedy, sizeof(remedy)));
	assert_false(perf_missing_is_news());
	assert_string_equal(
		why, "cycles, instructions: no PMU is seen here (ENOENT); stacks: there "
		     "is no perf_event_open (ENOSYS); memory: there is no file; more "
		     "memory: there is no other file");
	assert_string_equal(
		remedy, "record on the hardware itself, or have the hypervisor pass its "
			"PMU on; a seccomp profile that allows perf_event_open, or a "
			"kernel with CONFIG_PERF_EVENTS; make one");
}

static void each_refusal_says_what_to_do(void **state)
{
	static const struct {
		int number;
		const char *why, *remedy;
	} cases[] = {
		{EACCES, "EACCES", "CAP_PERFMON"},
		{EPERM, "EPERM", "seccomp"},
		{ENOSYS, "ENOSYS", "CONFIG_PERF_EVENTS"},
		{ENOENT, "no PMU", "hypervisor"},
		{EMFILE, "EMFILE", "ulimit -n"},
		{EINVAL, "EINVAL", "Linux 5.13"},
		{EIO, "Input/output error", "perf_event_open(2)"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char why[512], remedy[512];

		perf_missing_reset();
		perf_missing_add_refused("it", cases[i].number);
		perf_missing_tell(why, sizeof(why), remedy, sizeof(remedy));
		assert_non_null(strstr(why, cases[i].why));
		assert_non_null(strstr(remedy, cases[i].remedy));
	}
}

static void a_long_list_is_cut_and_not_overrun(void **state)
{
	char why[24], remedy[16], reason[32];

	(void)state;
	perf_missing_reset();
	for (int i = 0; i < 20; i++) {
		snprintf(reason, sizeof(reason), "reason number %d", i);
		for (int k = 0; k < 20; k++)
			perf_missing_add("one of many things", reason, "none at all");
	}
	assert_true(perf_missing_tell(why, sizeof(why), remedy, sizeof(remedy)));
	assert_int_equal(strlen(why), sizeof(why) - 1);
	assert_string_equal(remedy, "none at all");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_have_a_unit),
		cmocka_unit_test(options_that_make_no_sense_are_refused_by_name),
		cmocka_unit_test(statm_is_read),
		cmocka_unit_test(pressure_is_read),
		cmocka_unit_test(what_our_own_thread_uses_is_left_out),
		cmocka_unit_test(what_seems_to_go_down_is_made_up_for_later),
		cmocka_unit_test(what_was_not_counted_all_the_time_is_extrapolated),
		cmocka_unit_test(what_is_missing_for_one_reason_is_told_together),
		cmocka_unit_test(each_refusal_says_what_to_do),
		cmocka_unit_test(a_long_list_is_cut_and_not_overrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
