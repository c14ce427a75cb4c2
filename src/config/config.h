/* SPDX-License-Identifier: BSD-3-Clause */
/* A configuration from inside: what sessions and recordings take from it. */
#ifndef KYMO_CONFIG_CONFIG_H
#define KYMO_CONFIG_CONFIG_H

#include <kymo/config.h>

#include "config/keys.h"
#include "config/value.h"

/* The value; its text is NULL where nothing has set it. */
const struct ky_value *ky_config_value(const struct kymo_config *config,
				       enum ky_key_id id);

/* The number that was set, else 0, which means the default in options. */
uint64_t ky_config_number(const struct kymo_config *config, enum ky_key_id id);

/* The number that holds: the default where none was set. */
uint64_t ky_config_effective(const struct kymo_config *config, enum ky_key_id id);

/* The pattern of the output's name, by Kymo's own key or by libkineto's; NULL: none. */
const char *ky_config_output(const struct kymo_config *config);

/* Memory for the records of a process, by either key; 0: the default. */
uint64_t ky_config_buffer_size(const struct kymo_config *config);

/*
 * Who has typed nothing has to be told where to look: puts `origin`, where there is one,
 * and the key in front of what is wrong with its value. Returns `status`.
 */
int32_t ky_config_blame(int32_t status, const char *origin, enum ky_key_id id,
			struct kymo_error *error);

#endif
