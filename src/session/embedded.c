/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/embedded.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/error.h"

#define WARM_CHUNKS 64u /* 4 MiB: what a thread fills before it could notice */
#define RESTING_MAX 2u  /* address space kept, without pages */

/* Oldest first; changed under session_lock. */
static struct ky_embedded *resting;

/* A quarantined writer may go on in them at any time: they are there for ever. */
static struct ky_embedded *quarantined;

static void destroy(struct ky_embedded *embedded)
{
	ky_capture_unmap(&embedded->capture);
	free(embedded);
}

int32_t ky_embedded_create(struct ky_embedded **out, uint64_t budget, uint32_t overflow,
			   uint64_t session, struct kymo_error *error)
{
	const struct ky_capture_setup setup = {
		.budget = budget,
		.ticks = ky_clock_choose(),
		.overflow = overflow,
		.flags = KY_CAPTURE_EMBEDDED,
		.session = session,
		.capture = 1,
	};
	struct ky_embedded *embedded = calloc(1, sizeof(*embedded));
	int32_t status;

	*out = NULL;
	if (!embedded)
		return ky_error_no_memory(error);
	status = ky_capture_make_private(&setup, &embedded->capture, error);
	if (status != KYMO_OK) {
		free(embedded);
		return status;
	}
	ky_capture_warm(&embedded->capture, WARM_CHUNKS);
	*out = embedded;
	return KYMO_OK;
}

void ky_embedded_retire(struct ky_embedded *embedded)
{
	struct ky_embedded **last = &resting;
	uint32_t count = 1;

	if (!embedded)
		return;
	if (embedded->capture.quarantined > 0) {
		embedded->next = quarantined;
		quarantined = embedded;
		return;
	}
	madvise(embedded->capture.header, embedded->capture.size, MADV_DONTNEED);
	embedded->next = NULL;
	for (; *last; last = &(*last)->next)
		count++;
	*last = embedded;
	if (count > RESTING_MAX) {
		struct ky_embedded *oldest = resting;

		resting = oldest->next;
		destroy(oldest);
	}
}
