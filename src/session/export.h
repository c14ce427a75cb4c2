/* SPDX-License-Identifier: BSD-3-Clause */
/* What of exporting is used inside. */
#ifndef KYMO_SESSION_EXPORT_H
#define KYMO_SESSION_EXPORT_H

#include <kymo/timeline.h>

/* What the program has set of the options, NULL being nothing, and zeros. */
int32_t ky_sink_options_read(const struct kymo_sink_options *options,
			     struct kymo_sink_options *out, struct kymo_error *error);

/* Fills the summary of a capture without writing anything; `bytes` is the file's size. */
int32_t ky_export_count(const char *capture, struct kymo_summary *summary,
			struct kymo_error *error);

#endif
