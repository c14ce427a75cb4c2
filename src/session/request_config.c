/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests as the configuration has them. */
#include <kymo/request.h>

#include "base/clock.h"
#include "base/error.h"
#include "config/config.h"

#define NS_PER_MS 1000000
#define MS_PER_S  1000

static uint64_t first_of(uint64_t a, uint64_t b)
{
	return a ? a : b;
}

/* A default must not be why a request is refused: what nobody has set fits the delay. */
static uint64_t warmup_ms(const struct kymo_config *config, uint64_t delay_ns)
{
	const uint64_t warmup = ky_config_effective(config, KY_KEY_WARMUP_S) * MS_PER_S;
	const uint64_t most = delay_ns / NS_PER_MS / 2;
	const int is_set = ky_config_value(config, KY_KEY_WARMUP_S)->text != NULL;

	return !is_set && delay_ns > 0 && most < warmup ? most : warmup;
}

static void configure_start(struct kymo_request_options *options,
			    const struct kymo_config *config)
{
	const uint64_t start_ms = ky_config_number(config, KY_KEY_START_TIME);
	uint64_t delay_ns = ky_config_number(config, KY_KEY_DELAY);

	if (options->start_unix_ms != 0)
		delay_ns = 0;
	else
		options->start_unix_ms = (int64_t)start_ms;
	if (delay_ns > 0)
		options->start_unix_ms =
			(int64_t)((ky_realtime_ns() + delay_ns) / NS_PER_MS);
	options->warmup_ms = first_of(options->warmup_ms, warmup_ms(config, delay_ns));
}

/* Only of a request by iterations: what belongs to those must not be set otherwise. */
static void configure_iterations(struct kymo_request_options *options,
				 const struct kymo_config *config)
{
	options->iterations = first_of(options->iterations,
				       ky_config_number(config, KY_KEY_ITERATIONS));
	if (options->iterations == 0)
		return;
	options->warmup_iterations =
		first_of(options->warmup_iterations,
			 ky_config_number(config, KY_KEY_WARMUP_ITERATIONS));
	options->start_iteration =
		first_of(options->start_iteration,
			 ky_config_number(config, KY_KEY_START_ITERATION));
	options->round_up = first_of(options->round_up,
				     ky_config_number(config, KY_KEY_START_ROUND_UP));
}

static void configure(struct kymo_request_options *options,
		      const struct kymo_config *config)
{
	const uint64_t duration_ms =
		first_of(ky_config_number(config, KY_KEY_DURATION) / NS_PER_MS,
			 ky_config_effective(config, KY_KEY_DURATION_MS));

	options->duration_ms = first_of(options->duration_ms, duration_ms);
	configure_start(options, config);
	configure_iterations(options, config);
}

int32_t kymo_request_configure(struct kymo_request_options *options,
			       const struct kymo_config *config, struct kymo_error *error)
{
	struct kymo_config *own = NULL;
	int32_t status = KYMO_OK;

	if (!options || !KYMO_HAS_FIELD(options, iterations))
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "options with their size are needed");
	if (!config)
		status = kymo_config_create(&own, NULL, error);
	if (status == KYMO_OK)
		configure(options, config ? config : own);
	kymo_config_destroy(own);
	return status;
}
