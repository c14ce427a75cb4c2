/* SPDX-License-Identifier: BSD-3-Clause */
/* From what a request asks for to the points of its schedule. */
#ifndef KYMO_SESSION_PLAN_H
#define KYMO_SESSION_PLAN_H

#include <kymo/request.h>

#include "session/schedule.h"

/* When it is asked. */
struct ky_moment {
	uint64_t monotonic_ns, realtime_ns;
	int64_t iteration; /* the one that runs, -1: none was told of */
};

/*
 * The plan of `options`, all members of which are there. KYMO_ERROR_INVALID with what
 * cannot be met.
 */
int32_t ky_plan_make(const struct kymo_request_options *options,
		     const struct ky_moment *now, struct ky_schedule_plan *out,
		     struct kymo_error *error);

#endif
