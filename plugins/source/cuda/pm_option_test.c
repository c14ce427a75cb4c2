/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "pm_option.h"

/* What is set, in the order of `names`; NULL: nothing. */
static const char *const names[] = {"pm", "pm_interval", "pm_buffer", "pm_device"};
static const char *set[4];
static int32_t option_status;

static int32_t get_option(struct kymo_source_host *self, const char *name,
			  struct kymo_str *out)
{
	(void)self;
	*out = (struct kymo_str){NULL, 0};
	for (size_t i = 0; i < 4; i++)
		if (strcmp(names[i], name) == 0 && set[i])
			*out = kymo_text(set[i]);
	if (strcmp(name, "pm_buffer") == 0 && !set[2])
		*out = kymo_text(pm_option_buffer.fallback);
	return option_status;
}

static const struct kymo_host host = {.struct_size = sizeof(host), .option = get_option};
static struct pm_problem problem;

static int read_with(struct pm_options *options, size_t which, const char *text)
{
	memset(set, 0, sizeof(set));
	memset(&problem, 0, sizeof(problem));
	set[which] = text;
	return pm_options_read(options, &host, NULL, &problem);
}

static void nothing_set_means_the_defaults(void **state)
{
	struct pm_options options;

	(void)state;
	assert_true(read_with(&options, 0, NULL));
	assert_int_equal(options.metric_count, 0);
	assert_int_equal(options.interval, 0);
	assert_int_equal(options.trigger, PM_TRIGGER_TIME);
	assert_int_equal(options.buffer_size, 64 << 20);
	assert_int_equal(options.devices, UINT64_MAX);
}

static void metrics_are_joined_by_plus_and_named_once(void **state)
{
	struct pm_options options;

	(void)state;
	assert_true(read_with(&options, 0, "sm__a.avg+dram__b.sum+sm__a.avg"));
	assert_int_equal(options.metric_count, 2);
	assert_string_equal(options.metrics[0], "sm__a.avg");
	assert_string_equal(options.metrics[1], "dram__b.sum");
}

static void quantities_are_read_with_their_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t interval;
		uint32_t trigger;
	} cases[] = {
		{"10us", 10000, PM_TRIGGER_TIME},
		{"1000ns", 1000, PM_TRIGGER_TIME},
		{"2ms", 2000000, PM_TRIGGER_TIME},
		{"10s", 10000000000, PM_TRIGGER_TIME},
		{"20000cycles", 20000, PM_TRIGGER_CYCLES},
	};
	struct pm_options options;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(read_with(&options, 1, cases[i].text));
		assert_int_equal(options.interval, cases[i].interval);
		assert_int_equal(options.trigger, cases[i].trigger);
	}
	assert_true(read_with(&options, 2, "1M"));
	assert_int_equal(options.buffer_size, 1 << 20);
	assert_true(read_with(&options, 2, "1GiB"));
	assert_int_equal(options.buffer_size, 1 << 30);
	assert_true(read_with(&options, 2, "2097152"));
	assert_int_equal(options.buffer_size, 2 << 20);
	assert_true(read_with(&options, 3, "0+2+63"));
	assert_int_equal(options.devices, 5 | 1ull << 63);
}

static void what_cannot_be_meant_is_refused_by_name(void **state)
{
	static const struct {
		size_t which;
		const char *text, *said;
	} cases[] = {
		{0, "a++b", "pm=a++b is not 1 to 64 names"},
		{0, "+", "pm=+ is not"},
		{1, "10", "pm_interval=10 is not a time from 1us to 10s"},
		{1, "us", "pm_interval=us is not"},
		{1, "999ns", "pm_interval=999ns is not"},
		{1, "11s", "pm_interval=11s is not"},
		{1, "18446744073709551617us", "is not a time"},
		{1, "18446744073710s", "is not a time"}, /* 448384 ns if it went round */
		{1, "-5us", "is not a time"},
		{1, "10parsecs", "is not a time"},
		{1, "999cycles", "is not a time"},
		{2, "", "pm_buffer= is not a size from 1MiB to 1GiB"},
		{2, "1023KiB", "pm_buffer=1023KiB is not"},
		{2, "2G", "pm_buffer=2G is not"},
		{3, "64", "pm_device=64 is not a list of numbers from 0 to 63"},
		{3, "0+", NULL},
		{3, "all", "pm_device=all is not"},
	};
	struct pm_options options;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int is_read = read_with(&options, cases[i].which, cases[i].text);

		assert_int_equal(is_read, cases[i].said == NULL);
		if (cases[i].said && !strstr(problem.reason, cases[i].said))
			fail_msg("%s: %s", cases[i].text, problem.reason);
	}
}

static void more_metrics_than_fit_are_refused(void **state)
{
	struct pm_options options;
	char text[PM_TEXT_MAX + 64] = "";

	(void)state;
	for (size_t i = 0; i < PM_METRICS_MAX; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%sm%zu",
			 i ? "+" : "", i);
	assert_true(read_with(&options, 0, text));
	assert_int_equal(options.metric_count, PM_METRICS_MAX);
	strcat(text, "+m");
	assert_false(read_with(&options, 0, text));
	memset(text, 'x', sizeof(text) - 1);
	assert_false(read_with(&options, 0, text));
}

static void options_that_the_host_has_no_room_for_are_told(void **state)
{
	struct pm_options options;

	(void)state;
	option_status = KYMO_ERROR_NO_MEMORY;
	assert_false(read_with(&options, 0, NULL));
	assert_non_null(strstr(problem.reason, "as short as all options"));
	option_status = KYMO_OK;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_set_means_the_defaults),
		cmocka_unit_test(metrics_are_joined_by_plus_and_named_once),
		cmocka_unit_test(quantities_are_read_with_their_units),
		cmocka_unit_test(what_cannot_be_meant_is_refused_by_name),
		cmocka_unit_test(more_metrics_than_fit_are_refused),
		cmocka_unit_test(options_that_the_host_has_no_room_for_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
