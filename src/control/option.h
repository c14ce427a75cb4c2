/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of sources, as the source itself sees them. */
#ifndef KYMO_CONTROL_OPTION_H
#define KYMO_CONTROL_OPTION_H

#include <kymo/plugin.h>

/* The option's text, terminated, or NULL. */
typedef const char *(*ky_option_fn)(void *context, const char *name);

/*
 * Has the source itself look at its options, in a process that is thrown away; KYMO_OK
 * where it has no operation for that.
 */
int32_t ky_option_try(const struct kymo_source_desc *source, ky_option_fn text,
		      void *context, struct kymo_error *error);

#endif
