/* SPDX-License-Identifier: BSD-3-Clause */
/* What a finished capture file says about its own completeness, for people. */
#ifndef KYMO_CONTROL_REPORT_H
#define KYMO_CONTROL_REPORT_H

#include <kymo/base.h>

struct ky_report {
	char losses[256];  /* by reason: "buffer full 12, dropped by sources 3", or "" */
	char failed[512];  /* sources that could not record, or not to their end:
			      "x: denied: why; y, since it failed: why", or "" */
	char partly[1024]; /* sources that recorded, but not all that they could, a line
			      each: "x: why; remedy", or "" */
	char absent[256];  /* sources that no process loaded: "x, y", or "" */
	char stopped[128]; /* why streaming ended early, or "" */
	/* What recorders within the recording have kept for themselves: the first one's,
	 * or "". */
	char nested[400];
	uint32_t nested_count;
};

/*
 * Reads the file at `path`. `wanted` names the sources that were asked for, separated by
 * ','. `require` (ends with NULL, or NULL): KYMO_ERROR_NOT_FOUND if one of these did not
 * record in any process; the report is filled all the same.
 */
int32_t ky_report_make(const char *path, const char *wanted, const char *const *require,
		       struct ky_report *report, struct kymo_error *error);

#endif
