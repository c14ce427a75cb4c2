/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing a .kymo file from the memory of captures, while they are being recorded or
 * after. One spool is one file; one thread. The memory may be another process's, which
 * may write anything at any time: each word is read once and checked.
 */
#ifndef KYMO_CAPTURE_SPOOL_H
#define KYMO_CAPTURE_SPOOL_H

#include <kymo/base.h>

#include "capture/capture.h"

struct ky_spool; /* opaque */

/* Creates `path` (O_EXCL, 0600) with its header and session block. */
int32_t ky_spool_create(struct ky_spool **out, const char *path, uint64_t session,
			uint32_t overflow, struct kymo_str command_line,
			struct kymo_error *error);
/* Closes the file, which stays. */
void ky_spool_close(struct ky_spool *spool);

struct ky_spool_capture; /* what of one capture has been written already */

/* The capture's memory stays the caller's and must outlive the handle. */
int32_t ky_spool_add(struct ky_spool *spool, struct ky_capture *capture,
		     struct ky_spool_capture **out, struct kymo_error *error);

/*
 * Writes what is new in the dictionary and anchors, then sealed chunks, which become FREE
 * again if `reuse` (stream). `final`: also every chunk that is not sealed, as far as it
 * is committed, and then header, writer counts and the end block; once per capture.
 */
int32_t ky_spool_drain(struct ky_spool_capture *capture, int reuse,
		       struct kymo_error *error);
int32_t ky_spool_finish(struct ky_spool_capture *capture, uint32_t end_reason,
			struct kymo_error *error);

/* Makes everything written durable (fdatasync). */
int32_t ky_spool_sync(struct ky_spool *spool, struct kymo_error *error);

#endif
