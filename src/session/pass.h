/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One pass over captures: read, put on one timeline, and handed to a sink, or to those of
 * several outputs at once. In the thread of whoever runs it.
 */
#ifndef KYMO_SESSION_PASS_H
#define KYMO_SESSION_PASS_H

#include <kymo/session.h>

#include "base/progress.h"
#include "sink/fanout.h"

struct ky_pass {
	const char *const *captures;
	size_t capture_count;
	int64_t since_ns;             /* what ended before is left out; 0: nothing is */
	int is_count;                 /* of all that is made only the summary is wanted */
	struct ky_progress *progress; /* or NULL */
	struct kymo_summary summary;  /* filled, but for the bytes of outputs */
};

/* Into operations that are ready; `result` may be NULL. */
int32_t ky_pass_into(struct ky_pass *pass, const struct kymo_sink_ops *ops, void *sink,
		     struct kymo_sink_result *result, struct kymo_error *error);

/*
 * Into the outputs of these paths, a branch each, zeroed: what becomes of each stands
 * there. KYMO_OK if one of them is whole. If it fails before any output is reached, their
 * errors are left alone.
 */
int32_t ky_pass_write(struct ky_pass *pass, const char *const *paths,
		      const struct kymo_sink_options *options, struct ky_fanout *fanout,
		      struct kymo_error *error);

#endif
