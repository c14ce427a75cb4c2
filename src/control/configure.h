/* SPDX-License-Identifier: BSD-3-Clause */
/* What a recording takes from the configuration. */
#ifndef KYMO_CONTROL_CONFIGURE_H
#define KYMO_CONTROL_CONFIGURE_H

#include <kymo/control.h>

/* Members that are zero become what the configuration says, and borrow from it. */
void ky_recorder_configure(struct kymo_recorder_options *options,
			   const struct kymo_config *config);

#endif
