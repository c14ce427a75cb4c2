/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A copy of a capture of this process while it is being recorded: what was committed at
 * one moment, as a capture file says it. Nobody is held up for longer than it takes to
 * write down where each chunk stands.
 */
#ifndef KYMO_CAPTURE_SNAPSHOT_H
#define KYMO_CAPTURE_SNAPSHOT_H

#include "capture/spool.h"

/*
 * Adds the capture to the file and ends it there with KY_END_CUT. Any thread, several at
 * once, each with a spool of its own; the memory must stay. Where chunks are overwritten
 * before they are copied, their records are counted as that.
 */
int32_t ky_snapshot_write(struct ky_capture *capture, struct ky_spool *spool,
			  struct kymo_error *error);

#endif
