/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/plan.h"

#include <string.h>

#include "support/test.h"

#define MS 1000000

/* An hour after boot, and half a millisecond after a full one since the epoch. */
static const struct ky_moment now = {
	.monotonic_ns = 3600000000000u,
	.realtime_ns = 1800000000000u * MS + 500000,
	.iteration = 41,
};
static const int64_t now_unix_ms = 1800000000000;
static const int64_t now_ns = 3600000000000;

static struct ky_schedule_plan plan_of(struct kymo_request_options options,
				       struct ky_moment moment)
{
	struct ky_schedule_plan plan = {0};
	struct kymo_error error = {0};

	if (ky_plan_make(&options, &moment, &plan, &error) != KYMO_OK)
		fail_msg("%s", error.message);
	return plan;
}

static void assert_refused(struct kymo_request_options options, struct ky_moment moment,
			   const char *words)
{
	struct ky_schedule_plan plan;
	struct kymo_error error = {0};

	assert_int_equal(ky_plan_make(&options, &moment, &plan, &error),
			 KYMO_ERROR_INVALID);
	if (!strstr(error.message, words))
		fail_msg("\"%s\" is not in: %s", words, error.message);
}

static void without_a_start_it_is_warmed_up_now(void **state)
{
	struct ky_schedule_plan plan = plan_of(
		(struct kymo_request_options){.warmup_ms = 5, .duration_ms = 7}, now);

	(void)state;
	assert_false(plan.by_iteration);
	assert_true(plan.is_floating);
	assert_int_equal(plan.warm, now_ns);
	assert_int_equal(plan.start, now_ns + 5 * MS);
	assert_int_equal(plan.end, now_ns + 12 * MS);
}

static void a_start_since_the_epoch_becomes_one_of_the_monotonic_clock(void **state)
{
	struct ky_schedule_plan plan =
		plan_of((struct kymo_request_options){.start_unix_ms = now_unix_ms + 100,
						      .warmup_ms = 30,
						      .duration_ms = 1},
			now);

	(void)state;
	assert_false(plan.is_floating);
	assert_int_equal(plan.start, now_ns + 100 * MS - 500000);
	assert_int_equal(plan.warm, plan.start - 30 * MS);
	assert_int_equal(plan.end, plan.start + MS);
}

static void iterations_count_from_the_next(void **state)
{
	struct ky_schedule_plan plan = plan_of(
		(struct kymo_request_options){.warmup_iterations = 2, .iterations = 3},
		now);

	(void)state;
	assert_true(plan.by_iteration);
	assert_int_equal(plan.warm, 42);
	assert_int_equal(plan.start, 44);
	assert_int_equal(plan.end, 47);
}

static void a_start_is_rounded_up_to_a_multiple(void **state)
{
	struct ky_schedule_plan plan = plan_of(
		(struct kymo_request_options){
			.round_up = 100, .warmup_iterations = 2, .iterations = 3},
		now);

	(void)state;
	assert_int_equal(plan.start, 100);
	assert_int_equal(plan.warm, 98);
	/* One that is a multiple already stays; one that is over takes the next. */
	plan = plan_of((struct kymo_request_options){.start_iteration = 200,
						     .round_up = 100,
						     .iterations = 3},
		       now);
	assert_int_equal(plan.start, 200);
	plan = plan_of((struct kymo_request_options){.start_iteration = 7,
						     .round_up = 10,
						     .iterations = 3},
		       now);
	assert_int_equal(plan.start, 50);
}

static void without_iterations_told_of_the_duration_counts(void **state)
{
	const struct ky_moment untold = {now.monotonic_ns, now.realtime_ns, -1};
	struct ky_schedule_plan plan = plan_of(
		(struct kymo_request_options){.iterations = 3, .duration_ms = 9}, untold);

	(void)state;
	assert_false(plan.by_iteration);
	assert_int_equal(plan.end - plan.start, 9 * MS);
	assert_refused((struct kymo_request_options){.iterations = 3}, untold,
		       "kymo_session_step()");
}

static void what_cannot_be_met_is_refused_with_the_reason(void **state)
{
	(void)state;
	assert_refused((struct kymo_request_options){.warmup_ms = 1}, now, "how long");
	assert_refused((struct kymo_request_options){.start_unix_ms = now_unix_ms - 1,
						     .duration_ms = 1},
		       now, "in the past");
	assert_refused((struct kymo_request_options){.start_unix_ms = INT64_MIN,
						     .duration_ms = 1},
		       now, "in the past");
	/* In nanoseconds by mistake. */
	assert_refused(
		(struct kymo_request_options){.start_unix_ms = now_unix_ms * 1000000,
					      .duration_ms = 1},
		now, "milliseconds");
	assert_refused((struct kymo_request_options){.start_unix_ms = now_unix_ms + 10,
						     .warmup_ms = 11,
						     .duration_ms = 1},
		       now, "no time for a warm-up of 11 ms");
	assert_refused((struct kymo_request_options){.start_iteration = 43,
						     .warmup_iterations = 2,
						     .iterations = 1},
		       now, "iteration 43 cannot be recorded");
	assert_refused((struct kymo_request_options){.duration_ms = UINT64_MAX}, now,
		       "duration_ms is 18446744073709551615");
	assert_refused((struct kymo_request_options){.iterations = UINT64_MAX}, now,
		       "iterations is");
	assert_refused(
		(struct kymo_request_options){.duration_ms = 1, .warmup_ms = UINT64_MAX},
		now, "warmup_ms is");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_start_it_is_warmed_up_now),
		cmocka_unit_test(
			a_start_since_the_epoch_becomes_one_of_the_monotonic_clock),
		cmocka_unit_test(iterations_count_from_the_next),
		cmocka_unit_test(a_start_is_rounded_up_to_a_multiple),
		cmocka_unit_test(without_iterations_told_of_the_duration_counts),
		cmocka_unit_test(what_cannot_be_met_is_refused_with_the_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
