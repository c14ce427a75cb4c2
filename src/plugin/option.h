/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of sources as users write them, "NAME=VALUE", held against what the source's
 * table says of them; nothing of the plug-in is run.
 */
#ifndef KYMO_PLUGIN_OPTION_H
#define KYMO_PLUGIN_OPTION_H

#include <kymo/plugin.h>

/* Whether the text can be the value of an option of that type, KYMO_VALUE_*. */
int ky_option_is_value(const char *text, uint32_t type);

/* KYMO_ERROR_CONFIG: it is no option of the source, or no value for it. */
int32_t ky_option_check(const struct kymo_source_desc *source, const char *option,
			struct kymo_error *error);

#endif
