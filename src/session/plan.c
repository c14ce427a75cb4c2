/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/plan.h"

#include <inttypes.h>

#include "base/error.h"

#define NS_PER_MS 1000000

/* More of either is a mistake; sums of a few cannot overflow. */
#define MS_MAX         ((uint64_t)366 * 24 * 3600 * 1000) /* a year */
#define ITERATIONS_MAX ((uint64_t)1 << 60)

static int32_t check_range(const char *name, uint64_t value, uint64_t most,
			   struct kymo_error *error)
{
	if (value <= most)
		return KYMO_OK;
	return ky_error_set(error, KYMO_ERROR_INVALID,
			    "%s is %" PRIu64 ", which is more than %" PRIu64, name, value,
			    most);
}

static int32_t check_ranges(const struct kymo_request_options *options,
			    struct kymo_error *error)
{
	const struct {
		const char *name;
		uint64_t value, most;
	} members[] = {
		{"warmup_ms", options->warmup_ms, MS_MAX},
		{"duration_ms", options->duration_ms, MS_MAX},
		{"start_iteration", options->start_iteration, ITERATIONS_MAX},
		{"round_up", options->round_up, ITERATIONS_MAX},
		{"warmup_iterations", options->warmup_iterations, ITERATIONS_MAX},
		{"iterations", options->iterations, ITERATIONS_MAX},
	};
	int32_t status = KYMO_OK;

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (status == KYMO_OK)
			status = check_range(members[i].name, members[i].value,
					     members[i].most, error);
	return status;
}

/* ---- By time ---- */

static int32_t check_start(int64_t start_unix_ms, uint64_t warmup_ms,
			   const struct ky_moment *now, struct kymo_error *error)
{
	const int64_t now_ms = (int64_t)(now->realtime_ns / NS_PER_MS);

	if (start_unix_ms < 0 || start_unix_ms < now_ms)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "the start is in the past: start_unix_ms is %" PRId64
				    ", now is %" PRId64,
				    start_unix_ms, now_ms);
	if ((uint64_t)(start_unix_ms - now_ms) > MS_MAX)
		return ky_error_set(
			error, KYMO_ERROR_INVALID,
			"the start is more than a year ahead: start_unix_ms is "
			"%" PRId64 ", now is %" PRId64 "; it counts milliseconds",
			start_unix_ms, now_ms);
	if ((uint64_t)(start_unix_ms - now_ms) < warmup_ms)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "the start is in %" PRId64
				    " ms, which leaves no time for a warm-up of %" PRIu64
				    " ms",
				    start_unix_ms - now_ms, warmup_ms);
	return KYMO_OK;
}

static int32_t plan_by_time(const struct kymo_request_options *options,
			    const struct ky_moment *now, struct ky_schedule_plan *plan,
			    struct kymo_error *error)
{
	const int64_t warmup_ns = (int64_t)options->warmup_ms * NS_PER_MS;
	int64_t until_start_ns = warmup_ns;
	int32_t status = KYMO_OK;

	plan->by_iteration = 0;
	plan->is_floating = options->start_unix_ms == 0;
	if (!plan->is_floating) {
		status = check_start(options->start_unix_ms, options->warmup_ms, now,
				     error);
		until_start_ns = (int64_t)((uint64_t)options->start_unix_ms * NS_PER_MS -
					   now->realtime_ns);
	}
	if (status != KYMO_OK)
		return status;
	plan->start = (int64_t)now->monotonic_ns + until_start_ns;
	plan->warm = plan->start - warmup_ns;
	plan->end = plan->start + (int64_t)options->duration_ms * NS_PER_MS;
	return KYMO_OK;
}

/* ---- By iterations ---- */

static uint64_t round_up(uint64_t iteration, uint64_t multiple)
{
	if (multiple == 0)
		return iteration;
	return (iteration + multiple - 1) / multiple * multiple;
}

static int32_t plan_by_iteration(const struct kymo_request_options *options,
				 const struct ky_moment *now,
				 struct ky_schedule_plan *plan, struct kymo_error *error)
{
	/* The next iteration is the first that can be warmed up. */
	const uint64_t earliest =
		(uint64_t)now->iteration + 1 + options->warmup_iterations;
	uint64_t start = options->start_iteration;

	if (start != 0 && start < earliest && options->round_up == 0)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "iteration %" PRIu64
				    " cannot be recorded: the program is at %" PRId64
				    ", and with %" PRIu64 " of warm-up %" PRIu64
				    " is the first that can; round_up would take a later "
				    "one",
				    start, now->iteration, options->warmup_iterations,
				    earliest);
	if (start < earliest)
		start = earliest;
	start = round_up(start, options->round_up);
	plan->by_iteration = 1;
	plan->is_floating = 0;
	plan->warm = (int64_t)(start - options->warmup_iterations);
	plan->start = (int64_t)start;
	plan->end = (int64_t)(start + options->iterations);
	return KYMO_OK;
}

int32_t ky_plan_make(const struct kymo_request_options *options,
		     const struct ky_moment *now, struct ky_schedule_plan *out,
		     struct kymo_error *error)
{
	const int32_t status = check_ranges(options, error);

	if (status != KYMO_OK)
		return status;
	if (options->iterations > 0 && now->iteration >= 0)
		return plan_by_iteration(options, now, out, error);
	if (options->duration_ms > 0)
		return plan_by_time(options, now, out, error);
	if (options->iterations == 0)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "nothing says how long to record: set duration_ms or "
				    "iterations");
	return ky_error_set(error, KYMO_ERROR_INVALID,
			    "the program has told of no iteration yet: it has to call "
			    "kymo_session_step(), or set duration_ms, which then counts");
}
