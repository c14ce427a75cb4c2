/* SPDX-License-Identifier: BSD-3-Clause */
/* What of exporting is used inside. */
#ifndef KYMO_SESSION_EXPORT_H
#define KYMO_SESSION_EXPORT_H

#include <kymo/timeline.h>

/* Fills the summary of a capture without writing anything; `bytes` is the file's size. */
int32_t ky_export_count(const char *capture, struct kymo_summary *summary,
			struct kymo_error *error);

#endif
