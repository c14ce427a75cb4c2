/* SPDX-License-Identifier: BSD-3-Clause */
/* From the keeper's capture file to the output. */
#ifndef KYMO_CONTROL_DELIVERY_H
#define KYMO_CONTROL_DELIVERY_H

#include "capture/spool.h"
#include "control/keeper.h"

struct ky_delivery {
	const struct ky_keeper_setup *setup;
	char capture[PATH_MAX]; /* the capture file of the recording */
};

/* Makes the capture file, or goes on with that of the keeper before. */
int32_t ky_delivery_open(struct ky_delivery *out, const struct ky_keeper_setup *setup,
			 struct ky_spool **spool, struct kymo_error *error);

/*
 * Makes the output and removes the capture file, which stays if that fails. `failure` is
 * what went wrong with the capture before, if its status says so; what there is is made
 * into the output all the same.
 */
void ky_delivery_finish(struct ky_delivery *delivery, const struct kymo_error *failure,
			struct ky_outcome *outcome);

/* Removes what there is. */
void ky_delivery_abandon(struct ky_delivery *delivery);

#endif
