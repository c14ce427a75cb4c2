/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The output: a file that appears under its name whole or not at all.
 *
 * Everything goes into a temporary file in the same folder, which commit() renames. A
 * target that is there already is kept unless overwriting was allowed, also one that came
 * while the trace was written. What is no regular file (a pipe, /dev/null) is written to
 * as it is, since it can't be replaced.
 */
#ifndef KYMO_CHROME_FILE_H
#define KYMO_CHROME_FILE_H

#include <stdbool.h>

#define ZLIB_CONST
#include <zlib.h>

#include <kymo/base.h>

struct ky_file {
	int fd;          /* -1: none */
	char *name;      /* as it was given: what messages say */
	char *target;    /* where it is to appear, links followed */
	char *temporary; /* where it is written, or NULL: straight into the target */
	bool overwrite;
	bool compressed;
	bool deflating; /* `stream` is set up */
	z_stream stream;
	unsigned char *packed;   /* what came out of `stream`, on its way to the file */
	uint64_t bytes;          /* of the file */
	struct kymo_error error; /* of the first write that failed */
};

/*
 * Creates the temporary file. ".gz" at the end of the path makes it one gzip member. On
 * failure there is nothing to discard, though that is allowed.
 */
int32_t ky_file_open(struct ky_file *file, struct kymo_str path, bool overwrite,
		     struct kymo_error *error);

/* Appends; `context` is a struct ky_file, the reason of a failure is kept in it. */
int32_t ky_file_write(void *context, const char *data, size_t size);

/* Finishes, syncs, closes and renames; KYMO_OK means that it is all there. */
int32_t ky_file_commit(struct ky_file *file, struct kymo_error *error);

/* Removes the temporary file, if it is still one, and frees. Zeroed memory is allowed. */
void ky_file_discard(struct ky_file *file);

#endif
