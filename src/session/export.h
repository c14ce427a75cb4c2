/* SPDX-License-Identifier: BSD-3-Clause */
/* What of exporting is used inside. */
#ifndef KYMO_SESSION_EXPORT_H
#define KYMO_SESSION_EXPORT_H

#include <kymo/timeline.h>

#include "base/progress.h"

/* What the program has set of the options, NULL being nothing, and zeros. */
int32_t ky_sink_options_read(const struct kymo_sink_options *options,
			     struct kymo_sink_options *out, struct kymo_error *error);

/* What is made of captures, and how. */
struct ky_export {
	const char *const *captures;
	size_t count;
	struct kymo_output *const *outputs; /* ends with NULL */
	const struct kymo_sink_options *options;
	struct ky_progress *progress; /* or NULL; what is done already stays so */
	int64_t since_ns;             /* what ended before is left out; 0: nothing is */
	int others_wait; /* also where there is one output only: somebody does */
	/* How long one output may keep others waiting, and them done, be waited for. */
	uint64_t stall_ns, limit_ns; /* 0: defaults */
};

/* kymo_timeline_export_all; KYMO_ERROR_CANCELLED, and then there is no output. */
int32_t ky_export_run(const struct ky_export *export, struct kymo_summary *summary,
		      struct kymo_error *error);

/* Fills the summary of a capture without writing anything; `bytes` is the file's size. */
int32_t ky_export_count(const char *capture, struct ky_progress *progress,
			struct kymo_summary *summary, struct kymo_error *error);

#endif
