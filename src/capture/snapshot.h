/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A copy of a capture of this process while it is being recorded: what was committed at
 * one moment, as a capture file says it. Nobody is held up for longer than it takes to
 * write down where each chunk stands.
 */
#ifndef KYMO_CAPTURE_SNAPSHOT_H
#define KYMO_CAPTURE_SNAPSHOT_H

#include "capture/spool.h"

struct ky_snapshot; /* opaque: what there was at one moment */

/*
 * Notes what is committed now, which the memory has to keep being there for. Any thread,
 * several at once.
 */
int32_t ky_snapshot_take(struct ky_snapshot **out, struct ky_capture *capture,
			 struct kymo_error *error);

/*
 * Adds that to the file, as a capture that ends with KY_END_CUT; once. What has been
 * overwritten since then is counted as that.
 */
int32_t ky_snapshot_write(struct ky_snapshot *snapshot, struct ky_spool *spool,
			  struct kymo_error *error);

void ky_snapshot_destroy(struct ky_snapshot *snapshot);

#endif
