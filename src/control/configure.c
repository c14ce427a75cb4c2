/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/configure.h"

#include "config/config.h"

/* The policies are the choices of the key, in its order. */
KYMO_STATIC_ASSERT(KYMO_OVERFLOW_DROP == 1);
KYMO_STATIC_ASSERT(KYMO_OVERFLOW_OVERWRITE == 2);
KYMO_STATIC_ASSERT(KYMO_OVERFLOW_STREAM == 3);

void ky_recorder_configure(struct kymo_recorder_options *options,
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
}
