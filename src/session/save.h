/* SPDX-License-Identifier: BSD-3-Clause */
/* Saving what a session has: at once, in the background, for a request, as it runs. */
#ifndef KYMO_SESSION_SAVE_H
#define KYMO_SESSION_SAVE_H

#include <kymo/session.h>

#include "base/progress.h"
#include "capture/spool.h"

/* Writes a capture into the file: all of it, or what there is of one that goes on. */
typedef int32_t (*ky_save_fill_fn)(struct ky_capture *capture, struct ky_spool *spool,
				   struct kymo_error *error);

/* What is to be written, and where to. */
struct ky_save {
	const char *path;
	struct kymo_sink_options options;
	ky_save_fill_fn fill;
	struct ky_progress *progress; /* or NULL */
	int64_t since_ns;             /* what ended before is left out; 0: nothing is */
	/* NULL, or PATH_MAX bytes for the path of what is kept if it fails, or "". */
	char *kept;
};

/* Fills it for a stopped session, with checks of what the program has given. */
int32_t ky_save_prepare(struct ky_save *save, const char *path,
			const struct kymo_sink_options *options,
			const struct kymo_summary *summary, struct kymo_error *error);

/*
 * What can be known of a path before anything is copied: whether anybody writes such a
 * file, whether it is there and to be kept, whether its folder can be written to.
 */
int32_t ky_save_check_path(const char *path, uint32_t overwrite,
			   struct kymo_error *error);

/* The same of what was prepared, the error with the path before it. */
int32_t ky_save_check_place(const struct ky_save *save, struct kymo_error *error);

/*
 * Of a session in use, which ends with this. KYMO_ERROR_CANCELLED, by the progress: there
 * is no file then. If it fails otherwise and nobody can save the session once more, since
 * it is a request's or being destroyed, a capture file stays. Observers are to be told
 * afterwards.
 */
int32_t ky_session_save_used(struct kymo_session *session, const struct ky_save *save,
			     struct kymo_summary *summary, struct kymo_error *error);

/* The same of a stopped session, checked and kept alive meanwhile; and they are told. */
int32_t ky_session_save(struct kymo_session *session, const struct ky_save *save,
			struct kymo_summary *summary, struct kymo_error *error);

/*
 * Only the capture file, beside `target`, whose path is put into the PATH_MAX bytes of
 * `path`: it is whole and on disk, or there is none, and `path` is "".
 */
int32_t ky_save_capture(struct ky_capture *capture, ky_save_fill_fn fill,
			const char *target, char *path, struct kymo_error *error);
int32_t ky_save_stopped(struct ky_capture *capture, struct ky_spool *spool,
			struct kymo_error *error);

#endif
