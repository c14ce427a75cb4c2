/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the fake source, and reading them. */
#ifndef KYMO_PLUGINS_SOURCE_FAKE_OPTION_H
#define KYMO_PLUGINS_SOURCE_FAKE_OPTION_H

#include <kymo/plugin.h>

extern const struct kymo_option_desc *const fake_options[];

/* What is set for the option, else its fallback; text that is no number is 0. */
int64_t fake_option_number(const char *name);

/*
 * The text, copied and shortened to fit. A program's own session cannot set options, so
 * for faults the environment variable `variable` (or NULL) wins.
 */
void fake_option_text(const struct kymo_host *host, struct kymo_source_host *self,
		      const char *name, const char *variable, char *out, size_t size);

#endif
