/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which sink writes an output: the one of the protocol in front of the path, else that of
 * the longest suffix. Those that the program has registered come before the built-in
 * ones, these before installed plug-ins; among equals the last one wins.
 */
#ifndef KYMO_SESSION_SINKS_H
#define KYMO_SESSION_SINKS_H

#include <kymo/sink.h>

struct ky_sink_choice {
	const struct kymo_sink_desc *desc; /* for ever: its plug-in stays loaded */
	struct kymo_str path;              /* without a protocol; part of the given one */
};

#define KY_CAPTURE_SUFFIX ".kymo" /* of what no sink writes */

/*
 * Looks through the sinks. KYMO_ERROR_UNSUPPORTED when none fits, with those that are
 * known, and `own`, a suffix that the caller writes itself, or NULL; a plug-in that is
 * broken is told about only then.
 */
int32_t ky_sink_choose(const char *path, const char *own, struct ky_sink_choice *out,
		       struct kymo_error *error);

/* The path behind "protocol://", or all of it. */
const char *ky_sink_path(const char *output);

/* Whether the output is to be the capture itself, which no sink writes. */
int ky_is_capture_path(const char *path);

/* Loads plug-ins as kymo_sink_load does; the list ends with NULL, or is NULL. */
int32_t ky_sinks_load(char *const *names, struct kymo_error *error);

#endif
