/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a .kymo file: its captures, each with its dictionary, anchors, counts and the
 * list of its chunks. A file that was cut anywhere reads up to the last whole block; what
 * was left out is told. Blocks may be doubled (a keeper died and another took over): of
 * lines that come again the first hold. Nothing in the file is trusted.
 */
#ifndef KYMO_CAPTURE_READER_H
#define KYMO_CAPTURE_READER_H

#include <kymo/base.h>

#include "base/progress.h"
#include "record/catalog.h"
#include "record/layout.h"

struct ky_reader; /* opaque: one file */

/*
 * Where lines of a chunk stand: all of it, or a part that was written while the chunk was
 * being filled. Parts of one chunk follow each other and do not overlap.
 */
struct ky_reader_chunk {
	uint64_t offset;   /* of its first line in the file */
	uint64_t sequence; /* of the chunk's first lease */
	uint32_t first;    /* number of its first line within the chunk */
	uint32_t line_count;
};

struct ky_reader_capture {
	struct ky_capture_header header; /* the last one in the file, its texts bounded */
	struct ky_catalog *catalog;
	const struct ky_reader_chunk *chunks; /* ascending (sequence, first) */
	size_t chunk_count;
	const struct ky_anchor *anchors; /* complete ones, ascending sequence */
	size_t anchor_count;
	const struct ky_writer_slot *writers;
	size_t writer_count;
	const struct ky_source_counts *sources; /* by the source's number */
	size_t source_count;
	struct ky_end_block end; /* zero if the file has none for it */
};

/* Whether both read one file. */
int ky_reader_is_same(const struct ky_reader *reader, const struct ky_reader *other);

/* KYMO_ERROR_NOT_FOUND, _IO, _INVALID (not a capture), _VERSION (both numbers). */
int32_t ky_reader_open(struct ky_reader **out, const char *path,
		       struct kymo_error *error);
void ky_reader_close(struct ky_reader *reader);

size_t ky_reader_capture_count(const struct ky_reader *reader);
const struct ky_reader_capture *ky_reader_capture(const struct ky_reader *reader,
						  size_t index);
/* NULL if the file has none. */
const struct ky_session_block *ky_reader_session(const struct ky_reader *reader);
/* Arguments, each ended by NUL; names of sources, separated by ','; {NULL, 0} if none. */
struct kymo_str ky_reader_command_line(const struct ky_reader *reader);
struct kymo_str ky_reader_sources(const struct ky_reader *reader);
/* What was to be recorded of the program's life, for people. */
struct kymo_str ky_reader_window(const struct ky_reader *reader);

/* Bytes at the end that were no whole block, and blocks with a wrong CRC. */
uint64_t ky_reader_bad_bytes(const struct ky_reader *reader);

/*
 * From now on the lines that ky_reader_lines() copies are told to `progress`, which can
 * end that; how many there are in all.
 */
uint64_t ky_reader_watch(struct ky_reader *reader, struct ky_progress *progress);

/* Copies a chunk's lines; `lines` has room for KY_CHUNK_LINES. */
int32_t ky_reader_lines(const struct ky_reader *reader,
			const struct ky_reader_chunk *chunk, struct kymo_record *lines,
			struct kymo_error *error);

/* The same for `count` lines of it from `first` on. */
int32_t ky_reader_lines_at(const struct ky_reader *reader,
			   const struct ky_reader_chunk *chunk, uint32_t first,
			   uint32_t count, struct kymo_record *lines,
			   struct kymo_error *error);

#endif
