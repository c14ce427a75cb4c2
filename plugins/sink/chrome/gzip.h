/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One gzip member, compressed by threads of its own while the caller goes on.
 *
 * The text is cut into blocks, each of which is compressed for itself with the end of the
 * one before as its dictionary, and ends on a byte; so they join to one stream, whose
 * checksum is combined of theirs. A short text starts no thread.
 */
#ifndef KYMO_CHROME_GZIP_H
#define KYMO_CHROME_GZIP_H

#include <kymo/base.h>

#define KY_GZIP_THREADS 2u

struct ky_gzip;

/*
 * `write` gets the member piece by piece, in order, on any of the threads, but in one
 * call at a time; of what it says other than KYMO_OK the first is what this returns from
 * then on, and it is not called again. `threads`: at most KY_GZIP_THREADS; with 0, or
 * where none can be had, the caller does the work. NULL when memory is out.
 */
struct ky_gzip *ky_gzip_create(unsigned threads,
			       int32_t (*write)(void *context, const void *data,
						size_t size),
			       void *context);

/* Ends the threads, wherever they are, and frees; NULL is allowed. */
void ky_gzip_destroy(struct ky_gzip *gzip);

/* Waits only if the threads are behind by some blocks. */
int32_t ky_gzip_write(struct ky_gzip *gzip, const char *data, size_t size);

/* The rest and the end of the member; the threads have ended. Nothing may follow. */
int32_t ky_gzip_finish(struct ky_gzip *gzip);

#endif
