/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The output: a file that appears under its name whole or not at all.
 *
 * Everything goes into a file without a name in the same folder, which commit() names and
 * renames; so whatever ends the process, SIGKILL and a power cut included, leaves nothing
 * behind. Where the file system has no such files (NFS) or /proc is not there, it is
 * `.kymo-trace-PID-N.tmp` from the start, and a process that is killed leaves that.
 *
 * A target that is there already is kept unless overwriting was allowed, also one that
 * came while the trace was written. What is no regular file (a pipe, /dev/null) is
 * written to as it is, since it can't be replaced.
 */
#ifndef KYMO_CHROME_FILE_H
#define KYMO_CHROME_FILE_H

#include <stdbool.h>

#include <kymo/base.h>

#include "gzip.h"

struct ky_file {
	int fd;          /* -1: none */
	char *name;      /* as it was given: what messages say */
	char *target;    /* where it is to appear, links followed */
	char *temporary; /* its name while it is not there, or NULL: it has none */
	bool is_direct;  /* what is written goes straight into the target */
	bool overwrite;
	struct ky_gzip *gzip;    /* NULL: as it comes */
	uint64_t bytes;          /* of the file */
	struct kymo_error error; /* of the first write that failed */
};

/*
 * Creates the file that becomes the target. ".gz" at the end of the path makes it one
 * gzip member. On failure there is nothing to discard, though that is allowed.
 */
int32_t ky_file_open(struct ky_file *file, struct kymo_str path, bool overwrite,
		     struct kymo_error *error);

/*
 * Appends; `context` is a struct ky_file. A failure may be told by a later call, and its
 * reason is kept in the file.
 */
int32_t ky_file_write(void *context, const char *data, size_t size);

/* Finishes, syncs, closes and renames; KYMO_OK means that it is all there. */
int32_t ky_file_commit(struct ky_file *file, struct kymo_error *error);

/* Removes what is not in place, and frees. Zeroed memory is allowed. */
void ky_file_discard(struct ky_file *file);

#endif
