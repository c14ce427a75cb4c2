/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writing a .kymo file from the memory of captures, while they are being recorded or
 * after. One spool is one file; one thread. The memory may be another process's, which
 * may write anything at any time: what is read there is copied, and the copy checked.
 */
#ifndef KYMO_CAPTURE_SPOOL_H
#define KYMO_CAPTURE_SPOOL_H

#include <kymo/base.h>

#include "capture/capture.h"

struct ky_spool; /* opaque */

/* The recording that the file is of. */
struct ky_spool_session {
	uint64_t session;
	uint32_t overflow;            /* KY_OVERFLOW_* */
	struct kymo_str command_line; /* arguments, each ended by NUL */
	struct kymo_str sources;      /* names of those wanted, separated by ',' */
	struct kymo_str window;       /* what is to be recorded, for people; or none */
};

/* Creates `path` (O_EXCL, 0600) with its header and session block. */
int32_t ky_spool_create(struct ky_spool **out, const char *path,
			const struct ky_spool_session *session, struct kymo_error *error);
/*
 * Goes on with the file of a spool whose process has died, behind its last whole block.
 * Captures are added anew: what is in the file already is doubled, which readers drop.
 * KYMO_ERROR_INVALID: it is no file of that session.
 */
int32_t ky_spool_resume(struct ky_spool **out, const char *path, uint64_t session,
			struct kymo_error *error);
/*
 * Copies what has been written to a new file at `path` if nothing is there any more,
 * because somebody has tidied up: as long as it is open it is not lost.
 */
int32_t ky_spool_put_back(struct ky_spool *spool, const char *path,
			  struct kymo_error *error);
/* Closes the file, which stays. */
void ky_spool_close(struct ky_spool *spool);

/* Bytes written. A block that could not be written whole is not in the file. */
uint64_t ky_spool_size(const struct ky_spool *spool);

/* What the file's disk holds, and what of that we might still use; 0 or an errno. */
int ky_spool_disk(const struct ky_spool *spool, uint64_t *total, uint64_t *available);

struct ky_spool_capture; /* what of one capture has been written already */

/*
 * The capture's memory stays the caller's and must outlive the handle. `number` is that
 * of the capture within the recording, whatever its memory says by now.
 */
int32_t ky_spool_add(struct ky_spool *spool, struct ky_capture *capture, uint64_t number,
		     struct ky_spool_capture **out, struct kymo_error *error);

/*
 * While the program runs, each with the dictionary as far as the lines need it:
 *
 * names: only the dictionary. anchors: only those, whose ring would run over. drain: also
 * sealed chunks, which become FREE again; at most KY_DRAIN_MAX, how many is added to
 * `*freed`. snapshot: also what is committed in chunks that are not sealed yet, and all
 * counts, so that the file would do if nobody came to finish it.
 */
#define KY_DRAIN_MAX 64u
int32_t ky_spool_names(struct ky_spool_capture *capture, struct kymo_error *error);
int32_t ky_spool_anchors(struct ky_spool_capture *capture, struct kymo_error *error);
int32_t ky_spool_drain(struct ky_spool_capture *capture, uint32_t *freed,
		       struct kymo_error *error);
int32_t ky_spool_snapshot(struct ky_spool_capture *capture, struct kymo_error *error);

/*
 * Everything that is not in the file yet, and the end block; once per capture. Where the
 * disk is full, counts and end are in the file all the same, if the file system lets us
 * keep some room for them.
 */
int32_t ky_spool_finish(struct ky_spool_capture *capture, uint32_t end_reason,
			struct kymo_error *error);

/* Makes everything written durable (fdatasync). */
int32_t ky_spool_sync(struct ky_spool *spool, struct kymo_error *error);

#endif
