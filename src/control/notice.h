/* SPDX-License-Identifier: BSD-3-Clause */
/* What a front says while it waits for others when the program has ended. */
#ifndef KYMO_CONTROL_NOTICE_H
#define KYMO_CONTROL_NOTICE_H

#include "control/custody.h"

/* Zero the object before and fill the three first members. */
struct ky_notice {
	const struct kymo_recorder_options *options;
	const struct ky_custody *custody;
	const char *output;
	uint64_t wait_ns;     /* when it is time to say what is waited for; 0: never */
	uint64_t progress_ns; /* when it is time for the next percentage; 0: never */
};

/* Something has ended: what is waited for now is worth a word if it takes long. */
void ky_notice_begin(struct ky_notice *notice);

/* Says what is due; milliseconds until something is again, or -1. */
int ky_notice_expire(struct ky_notice *notice);

#endif
