/* SPDX-License-Identifier: BSD-3-Clause */
/* What is launched in a region is linked to it, for sources that do not do so. */
#ifndef KYMO_SESSION_LINK_H
#define KYMO_SESSION_LINK_H

#include "capture/lease.h"
#include "session/host.h"

/* Whether the thread has a region open and this is a launch of its own. */
static inline int ky_link_is_due(const struct ky_writer *writer,
				 const struct kymo_record *record)
{
	return record->flags & KYMO_RECORD_ORIGIN &&
	       KYMO_UNLIKELY(writer->regions.count != 0) &&
	       record->kind == KYMO_KIND_SPAN &&
	       (record->track == 0 || record->track == writer->track);
}

/* Records the links of the launch, which is recorded, to the thread's regions. */
void ky_link_launch(const struct kymo_source_host *host,
		    const struct kymo_record *launch);

#endif
