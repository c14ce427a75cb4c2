/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The private memory of a program's own session. It is emptied as soon as nobody needs it
 * and unmapped a little later: a thread that was stopped for the whole session between
 * reading which capture is current and counting something in it still finds it mapped.
 */
#ifndef KYMO_SESSION_EMBEDDED_H
#define KYMO_SESSION_EMBEDDED_H

#include "capture/capture.h"

struct ky_embedded {
	struct ky_capture capture; /* first: what is written to while it is recorded */
	struct ky_embedded *next;
};

/* Makes one of `budget` bytes, with some chunks warm, for `session`; KY_OVERFLOW_*. */
int32_t ky_embedded_create(struct ky_embedded **out, uint64_t budget, uint32_t overflow,
			   uint64_t session, struct kymo_error *error);

/*
 * Takes it over, after the cut or if it was never recorded into; NULL is allowed. Calls
 * are one at a time (session_lock).
 */
void ky_embedded_retire(struct ky_embedded *embedded);

#endif
