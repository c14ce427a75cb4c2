/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/reader_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int32_t ky_bytes_append(struct ky_bytes *bytes, const void *data, size_t size,
			struct kymo_error *error)
{
	if (size > bytes->capacity - bytes->size) {
		size_t capacity = bytes->capacity * 2;
		uint8_t *grown;

		if (capacity < bytes->size + size)
			capacity = bytes->size + size + 256;
		grown = realloc(bytes->data, capacity);
		if (!grown)
			return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
					    "no memory to read the capture");
		bytes->data = grown;
		bytes->capacity = capacity;
	}
	if (size > 0)
		memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
	return KYMO_OK;
}

static void end_text(char *text, size_t size)
{
	text[size - 1] = '\0';
}

static int32_t take_header(struct ky_parts *parts, const struct ky_bytes *payload)
{
	struct ky_capture_header header;

	memset(&header, 0, sizeof(header));
	memcpy(&header, payload->data,
	       payload->size < sizeof(header) ? payload->size : sizeof(header));
	/* Of another major it would be as unreadable; the other captures are not. */
	if (header.magic != KY_CAPTURE_MAGIC ||
	    header.format_major != KYMO_CAPTURE_FORMAT_MAJOR)
		return KYMO_AGAIN;
	end_text(header.host, sizeof(header.host));
	end_text(header.boot_id, sizeof(header.boot_id));
	end_text(header.library_version, sizeof(header.library_version));
	end_text(header.exe, sizeof(header.exe));
	if (header.command_line_size > sizeof(header.command_line))
		header.command_line_size = sizeof(header.command_line);
	parts->view.header = header;
	parts->has_header = 1;
	return KYMO_OK;
}

/* Parts come in order, but one may be doubled or overlap; a gap cannot be bridged. */
static int32_t take_dictionary(struct ky_parts *parts, uint64_t offset,
			       const struct ky_bytes *payload, struct kymo_error *error)
{
	size_t known;

	if (offset > parts->dictionary.size)
		return KYMO_AGAIN;
	known = parts->dictionary.size - (size_t)offset;
	if (known >= payload->size)
		return KYMO_OK;
	return ky_bytes_append(&parts->dictionary, payload->data + known,
			       payload->size - known, error);
}

static int32_t take_chunk(struct ky_parts *parts, uint64_t offset, uint64_t size,
			  const struct ky_bytes *payload, struct kymo_error *error)
{
	struct ky_chunk_header header;
	struct ky_reader_chunk chunk;

	if (payload->size < sizeof(header))
		return KYMO_AGAIN;
	memcpy(&header, payload->data, sizeof(header));
	if (header.magic != KY_CHUNK_MAGIC || header.head > KY_CHUNK_LINES ||
	    header.first > header.head ||
	    size - sizeof(header) <
		    (uint64_t)(header.head - header.first) * KYMO_LINE_SIZE)
		return KYMO_AGAIN;
	chunk = (struct ky_reader_chunk){.offset = offset + sizeof(header),
					 .sequence = header.sequence,
					 .first = header.first,
					 .line_count = header.head - header.first};
	return ky_bytes_append(&parts->chunks, &chunk, sizeof(chunk), error);
}

static int32_t take_anchors(struct ky_parts *parts, const struct ky_bytes *payload,
			    struct kymo_error *error)
{
	for (size_t at = 0; payload->size - at >= sizeof(struct ky_anchor);
	     at += sizeof(struct ky_anchor)) {
		struct ky_anchor anchor;
		int32_t status;

		memcpy(&anchor, payload->data + at, sizeof(anchor));
		if (anchor.sequence == 0)
			continue;
		status = ky_bytes_append(&parts->anchors, &anchor, sizeof(anchor), error);
		if (status != KYMO_OK)
			return status;
	}
	return KYMO_OK;
}

static int32_t replace(struct ky_bytes *bytes, const struct ky_bytes *payload,
		       struct kymo_error *error)
{
	bytes->size = 0;
	return ky_bytes_append(bytes, payload->data, payload->size, error);
}

static int32_t take_end(struct ky_parts *parts, const struct ky_bytes *payload)
{
	if (payload->size < sizeof(parts->view.end))
		return KYMO_AGAIN;
	memcpy(&parts->view.end, payload->data, sizeof(parts->view.end));
	return KYMO_OK;
}

int32_t ky_parts_take(struct ky_parts *parts, const struct ky_block_header *block,
		      uint64_t offset, const struct ky_bytes *payload,
		      struct kymo_error *error)
{
	switch (block->kind) {
	case KY_BLOCK_CAPTURE:
		return take_header(parts, payload);
	case KY_BLOCK_DICTIONARY:
		return take_dictionary(parts, block->sequence, payload, error);
	case KY_BLOCK_CHUNK:
		return take_chunk(parts, offset, block->size, payload, error);
	case KY_BLOCK_ANCHORS:
		return take_anchors(parts, payload, error);
	case KY_BLOCK_WRITERS:
		return replace(&parts->writers, payload, error);
	case KY_BLOCK_SOURCES:
		return replace(&parts->sources, payload, error);
	case KY_BLOCK_END:
		return take_end(parts, payload);
	default:
		return KYMO_OK; /* of a later minor */
	}
}

static int compare_chunks(const void *left, const void *right)
{
	const struct ky_reader_chunk *a = left, *b = right;

	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	if (a->line_count != b->line_count) /* of doubled ones the fullest first */
		return a->line_count > b->line_count ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* In our copy, where it stood in the file: of equal ones the first is taken. */
#define PLACE reserved[0]

static int compare_anchors(const void *left, const void *right)
{
	const struct ky_anchor *a = left, *b = right;

	if (a->sequence != b->sequence)
		return a->sequence < b->sequence ? -1 : 1;
	return a->PLACE < b->PLACE ? -1 : a->PLACE > b->PLACE;
}

/*
 * Leaves of the part what `before`, which comes before it, does not hold. Every part
 * begins and ends with whole records, so the cut is between two records. False: nothing
 * is left.
 */
static int cut_doubled(struct ky_reader_chunk *part, const struct ky_reader_chunk *before)
{
	uint32_t known = before->first + before->line_count;

	if (part->sequence != before->sequence || part->first >= known)
		return 1;
	if (part->line_count <= known - part->first)
		return 0;
	part->line_count -= known - part->first;
	part->offset += (uint64_t)(known - part->first) * KYMO_LINE_SIZE;
	part->first = known;
	return 1;
}

static void sort_chunks(struct ky_parts *parts)
{
	struct ky_reader_chunk *chunks = (void *)parts->chunks.data;
	size_t count = parts->chunks.size / sizeof(*chunks), kept = 0;

	if (count > 0)
		qsort(chunks, count, sizeof(*chunks), compare_chunks);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || cut_doubled(&chunks[i], &chunks[kept - 1]))
			chunks[kept++] = chunks[i];
	}
	parts->view.chunks = chunks;
	parts->view.chunk_count = kept;
}

static void sort_anchors(struct ky_parts *parts)
{
	struct ky_anchor *anchors = (void *)parts->anchors.data;
	size_t count = parts->anchors.size / sizeof(*anchors), kept = 0;

	for (size_t i = 0; i < count; i++)
		anchors[i].PLACE = i;
	if (count > 0)
		qsort(anchors, count, sizeof(*anchors), compare_anchors);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || anchors[i].sequence != anchors[kept - 1].sequence)
			anchors[kept++] = anchors[i];
	}
	parts->view.anchors = anchors;
	parts->view.anchor_count = kept;
}

int32_t ky_parts_finish(struct ky_parts *parts, struct kymo_error *error)
{
	sort_chunks(parts);
	sort_anchors(parts);
	parts->view.writers = (const void *)parts->writers.data;
	parts->view.writer_count = parts->writers.size / sizeof(struct ky_writer_slot);
	parts->view.sources = (const void *)parts->sources.data;
	parts->view.source_count = parts->sources.size / sizeof(struct ky_source_counts);
	return ky_catalog_create(&parts->view.catalog, parts->dictionary.data,
				 parts->dictionary.size, error);
}

uint64_t ky_parts_size(const struct ky_parts *parts)
{
	const struct ky_reader_chunk *chunks = (const void *)parts->chunks.data;
	uint64_t size = parts->dictionary.size;

	for (size_t i = 0; i < parts->chunks.size / sizeof(*chunks); i++)
		size += (uint64_t)chunks[i].line_count * KYMO_LINE_SIZE;
	return size;
}

void ky_parts_clear(struct ky_parts *parts)
{
	ky_catalog_destroy(parts->view.catalog);
	free(parts->dictionary.data);
	free(parts->anchors.data);
	free(parts->chunks.data);
	free(parts->writers.data);
	free(parts->sources.data);
}
