/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/configure.h"

#include "base/error.h"
#include "base/options.h"
#include "capture/capture.h"
#include "config/config.h"
#include "session/range.h"
#include "session/sinks.h"

/* No program would be run without what comes before. */
#define SIZE_LEAST offsetof(struct kymo_recorder_options, compat)

#define LATEST_NS (1000000000u * (uint64_t)1000000000u) /* some thirty years */

KYMO_STATIC_ASSERT(KYMO_OVERFLOW_DROP == KY_OVERFLOW_DROP);
KYMO_STATIC_ASSERT(KYMO_OVERFLOW_OVERWRITE == KY_OVERFLOW_OVERWRITE);
KYMO_STATIC_ASSERT(KYMO_OVERFLOW_STREAM == KY_OVERFLOW_STREAM);

/* The policies are the choices of the key, in its order. */
KYMO_STATIC_ASSERT(KYMO_OVERFLOW_DROP == 1);
KYMO_STATIC_ASSERT(KYMO_OVERFLOW_OVERWRITE == 2);
KYMO_STATIC_ASSERT(KYMO_OVERFLOW_STREAM == 3);

/* The same for the window, unless the caller has said otherwise what is recorded. */
static void configure_window(struct kymo_recorder_options *options,
			     const struct kymo_config *config)
{
	if (options->capture_range || options->start_paused)
		return;
	if (options->delay_ns == 0)
		options->delay_ns = ky_config_number(config, KY_KEY_DELAY);
	if (options->duration_ns == 0)
		options->duration_ns = ky_config_number(config, KY_KEY_DURATION);
}

/* Members that are zero become what the configuration says, and borrow from it. */
static void configure(struct kymo_recorder_options *options,
		      const struct kymo_config *config)
{
	const struct ky_value *follow = ky_config_value(config, KY_KEY_FOLLOW_FORK);

	if (!options->sources)
		options->sources =
			(const char *const *)ky_config_value(config, KY_KEY_SOURCES)
				->list;
	if (!options->output)
		options->output = ky_config_output(config);
	if (!options->overwrite)
		options->overwrite = (uint32_t)ky_config_number(config, KY_KEY_OVERWRITE);
	if (!options->no_follow_fork)
		options->no_follow_fork = follow->text && !follow->number;
	if (options->buffer_size == 0)
		options->buffer_size = ky_config_buffer_size(config);
	if (options->overflow == 0)
		options->overflow = (uint32_t)ky_config_number(config, KY_KEY_OVERFLOW);
	if (options->file_limit == 0)
		options->file_limit = ky_config_number(config, KY_KEY_FILE_LIMIT);
	if (!options->types)
		options->types = ky_config_value(config, KY_KEY_ACTIVITY_TYPES)->text;
	if (!options->compat)
		options->compat = ky_config_value(config, KY_KEY_COMPAT)->text;
	configure_window(options, config);
}

/* What is to be recorded of the program's life; makes `controlled` what that needs. */
static int32_t check_window(struct kymo_recorder_options *options,
			    struct kymo_error *error)
{
	const int is_timed = options->delay_ns > 0 || options->duration_ns > 0;

	if ((options->capture_range != NULL) + is_timed + (options->start_paused != 0) >
	    1)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "only one can say what is recorded: a delay or "
				    "duration, a capture range, or a paused start");
	if (options->capture_range && options->controlled)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "a capture range decides what is recorded: with it "
				    "no orders are taken");
	if (options->delay_ns > LATEST_NS || options->duration_ns > LATEST_NS)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "a delay or duration of more than thirty years");
	if (is_timed || options->start_paused)
		options->controlled = 1;
	return options->capture_range ? ky_range_check(options->capture_range, error)
				      : KYMO_OK;
}

int32_t ky_recorder_read(const struct kymo_recorder_options *options,
			 struct kymo_recorder_options *out, struct kymo_config **own,
			 struct kymo_error *error)
{
	int32_t status;

	if (!options)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no options");
	status = ky_options_read(options, sizeof(*out), SIZE_LEAST, out, error);
	if (!status && !out->config)
		status = kymo_config_create(own, NULL, error);
	if (status)
		return status;
	configure(out, out->config ? out->config : *own);
	status = ky_sinks_load(
		ky_config_value(out->config ? out->config : *own, KY_KEY_SINKS)->list,
		error);
	if (status)
		return status;
	if (!out->arguments || !out->arguments[0])
		return ky_error_set(error, KYMO_ERROR_INVALID, "no program to run");
	status = ky_budget_check(out->buffer_size, error);
	if (!status)
		status = check_window(out, error);
	if (status)
		return status;
	if (out->overflow > KYMO_OVERFLOW_STREAM)
		return ky_error_set(error, KYMO_ERROR_UNSUPPORTED,
				    "no such overflow policy: %u", out->overflow);
	if (out->wait > KYMO_WAIT_PRIMARY)
		return ky_error_set(error, KYMO_ERROR_UNSUPPORTED,
				    "no such way of waiting: %u", out->wait);
	return KYMO_OK;
}

int32_t ky_recorder_check_results(const struct kymo_recorder_result *result,
				  const struct kymo_summary *summary,
				  struct kymo_error *error)
{
	int32_t status = ky_result_check(summary, error);

	if (!result)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no place for the result");
	return status ? status : ky_result_check(result, error);
}
