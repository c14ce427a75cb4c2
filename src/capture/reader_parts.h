/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One capture of a .kymo file while its blocks are put together: dictionary parts are
 * joined, anchors and chunks collected, of everything else the last one holds.
 */
#ifndef KYMO_CAPTURE_READER_PARTS_H
#define KYMO_CAPTURE_READER_PARTS_H

#include "capture/reader.h"

struct ky_bytes {
	uint8_t *data;
	size_t size, capacity;
};

int32_t ky_bytes_append(struct ky_bytes *bytes, const void *data, size_t size,
			struct kymo_error *error);

struct ky_parts {
	uint64_t number;
	struct ky_parts *next; /* the reader's */
	int has_header;
	struct ky_bytes dictionary, anchors, chunks, writers, sources;
	struct ky_reader_capture view; /* complete after ky_parts_finish */
};

/* Zeroed memory with `number` set is a valid beginning. Does not free `parts` itself. */
void ky_parts_clear(struct ky_parts *parts);

/*
 * Takes one block whose CRCs were right. `offset` is where its payload stands in the
 * file; of a chunk's payload only the chunk header needs to be there. KYMO_AGAIN: it
 * makes no sense and was left out.
 */
int32_t ky_parts_take(struct ky_parts *parts, const struct ky_block_header *block,
		      uint64_t offset, const struct ky_bytes *payload,
		      struct kymo_error *error);

/* Sorts, drops what is doubled and reads the dictionary. */
int32_t ky_parts_finish(struct ky_parts *parts, struct kymo_error *error);

/* Bytes of dictionary and lines, for telling how much was left out. */
uint64_t ky_parts_size(const struct ky_parts *parts);

#endif
