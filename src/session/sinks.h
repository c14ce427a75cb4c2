/* SPDX-License-Identifier: BSD-3-Clause */
/* Which sink writes a file: by its suffix, or by the protocol in front of the path. */
#ifndef KYMO_SESSION_SINKS_H
#define KYMO_SESSION_SINKS_H

#include <kymo/sink.h>

struct ky_sink_choice {
	const struct kymo_sink_desc *desc; /* for ever: its plug-in stays loaded */
	struct kymo_str path;              /* without a protocol; part of the given one */
};

#define KY_CAPTURE_SUFFIX ".kymo" /* of what no sink writes */

/*
 * Looks through the installed sinks. KYMO_ERROR_UNSUPPORTED when none fits, with those
 * that are known, and `own`, a suffix that the caller writes itself, or NULL; a plug-in
 * that is broken is told about only then.
 */
int32_t ky_sink_choose(const char *path, const char *own, struct ky_sink_choice *out,
		       struct kymo_error *error);

#endif
