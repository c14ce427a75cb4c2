/* SPDX-License-Identifier: BSD-3-Clause */
/* What a recording is told: checked, and completed from the configuration. */
#ifndef KYMO_CONTROL_CONFIGURE_H
#define KYMO_CONTROL_CONFIGURE_H

#include <kymo/control.h>

/*
 * Reads options into `out`; what zero members become is borrowed from a configuration.
 * `*own` is that, to be destroyed, where the caller brought none.
 */
int32_t ky_recorder_read(const struct kymo_recorder_options *options,
			 struct kymo_recorder_options *out, struct kymo_config **own,
			 struct kymo_error *error);

/* Whether there is room for the result; the summary may be NULL. */
int32_t ky_recorder_check_results(const struct kymo_recorder_result *result,
				  const struct kymo_summary *summary,
				  struct kymo_error *error);

#endif
