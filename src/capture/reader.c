/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reader walks the file once, front to back, checks each block's CRCs and keeps what
 * is small (dictionary, anchors, counts); of chunks it keeps only where they stand. It
 * reads by pread into memory of its own, never through a mapping, since the file can
 * shrink while it is read and that must be an error, not a SIGBUS.
 *
 * Where a block's header is damaged the walk goes on at the next place, 64 bytes on, that
 * holds a whole one; what was passed over is counted.
 */
#include "capture/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/hash.h"
#include "capture/block.h"
#include "capture/reader_parts.h"

#define WINDOW_SIZE (1u << 20) /* of the file, in memory at one time */
#define INDEX_SIZE  (1u << 16) /* a file may have as many captures as it has blocks */

struct ky_reader {
	int fd;
	dev_t device;
	ino_t inode;
	uint64_t size, bad_bytes;
	struct ky_session_block *session;
	struct ky_parts **captures; /* ascending number, once all are read */
	size_t capture_count, capture_capacity;
	struct ky_parts **index; /* INDEX_SIZE lists of them, while it is opened */
	uint8_t *window;
	uint64_t window_offset;
	size_t window_size;
	struct kymo_error *error; /* of the call that opens it */
	struct ky_progress *progress;
};

static int32_t no_memory(struct kymo_error *error)
{
	ky_error_set(error, KYMO_ERROR_NO_MEMORY, "no memory to read the capture");
	return KYMO_ERROR_NO_MEMORY;
}

/*
 * A view of `size` bytes (at most WINDOW_SIZE) at `offset`, valid until the next call;
 * the caller has checked that they lie within the file.
 */
static int32_t look(struct ky_reader *reader, uint64_t offset, size_t size,
		    const uint8_t **out)
{
	*out = reader->window;
	if (offset < reader->window_offset ||
	    offset + size > reader->window_offset + reader->window_size) {
		int number = ky_pread_all(reader->fd, reader->window, WINDOW_SIZE, offset,
					  &reader->window_size);

		reader->window_offset = offset;
		if (number != 0)
			return ky_error_set_errno(reader->error, number,
						  "cannot read the capture");
		if (reader->window_size < size)
			return ky_error_set(reader->error, KYMO_ERROR_IO,
					    "the capture shrank while it was read");
	}
	*out = reader->window + (offset - reader->window_offset);
	return KYMO_OK;
}

/* Appends the range to `bytes` (or to nothing, if NULL) and carries its CRC on. */
static int32_t take_range(struct ky_reader *reader, uint64_t offset, uint64_t size,
			  struct ky_bytes *bytes, uint32_t *crc)
{
	while (size > 0) {
		size_t part = size < WINDOW_SIZE ? (size_t)size : WINDOW_SIZE;
		const uint8_t *data;
		int32_t status = look(reader, offset, part, &data);

		if (status == KYMO_OK && bytes)
			status = ky_bytes_append(bytes, data, part, reader->error);
		if (status != KYMO_OK)
			return status;
		*crc = ky_crc32c(*crc, data, part);
		offset += part;
		size -= part;
	}
	return KYMO_OK;
}

static void destroy_parts(struct ky_parts *parts)
{
	ky_parts_clear(parts);
	free(parts);
}

static int32_t find_capture(struct ky_reader *reader, uint64_t number,
			    struct ky_parts **out, struct kymo_error *error)
{
	struct ky_parts **list =
		&reader->index[ky_hash(&number, sizeof(number), 0) % INDEX_SIZE];
	struct ky_parts *capture = *list;

	while (capture && capture->number != number)
		capture = capture->next;
	*out = capture;
	if (capture)
		return KYMO_OK;
	if (reader->capture_count == reader->capture_capacity) {
		size_t capacity = reader->capture_capacity * 2 + 8;
		struct ky_parts **grown =
			realloc(reader->captures, capacity * sizeof(struct ky_parts *));

		if (!grown)
			return no_memory(error);
		reader->captures = grown;
		reader->capture_capacity = capacity;
	}
	capture = calloc(1, sizeof(*capture));
	if (!capture)
		return no_memory(error);
	capture->number = number;
	capture->next = *list;
	reader->captures[reader->capture_count++] = capture;
	*out = *list = capture;
	return KYMO_OK;
}

static int32_t take_session(struct ky_reader *reader, const struct ky_bytes *payload,
			    struct kymo_error *error)
{
	struct ky_session_block *session;
	size_t room;

	if (payload->size < sizeof(*session))
		return KYMO_AGAIN;
	if (reader->session)
		return KYMO_OK;
	session = malloc(payload->size);
	if (!session)
		return no_memory(error);
	memcpy(session, payload->data, payload->size);
	room = payload->size - sizeof(*session);
	if (session->command_line_size > room)
		session->command_line_size = (uint32_t)room;
	room -= session->command_line_size;
	if (session->sources_size > room)
		session->sources_size = (uint32_t)room;
	room -= session->sources_size;
	if (session->window_size > room)
		session->window_size = (uint32_t)room;
	reader->session = session;
	return KYMO_OK;
}

/* KYMO_AGAIN: the block makes no sense. */
static int32_t take_block(struct ky_reader *reader, const struct ky_block_header *block,
			  uint64_t offset, const struct ky_bytes *payload,
			  struct kymo_error *error)
{
	struct ky_parts *parts = NULL;
	int32_t status;

	if (block->kind == KY_BLOCK_SESSION)
		return take_session(reader, payload, error);
	status = find_capture(reader, block->capture, &parts, error);
	if (status != KYMO_OK)
		return status;
	return ky_parts_take(parts, block, offset, payload, error);
}

/* ---- The walk ---- */

/* How much of a block's payload is to be in memory. */
static uint64_t kept_of(const struct ky_block_header *block)
{
	uint64_t most = UINT64_MAX;

	if (block->kind == KY_BLOCK_CHUNK)
		most = sizeof(struct ky_chunk_header);
	else if (block->kind == 0 || block->kind > KY_BLOCK_SOURCES)
		most = 0; /* of a later minor */
	return block->size < most ? block->size : most;
}

/* KYMO_AGAIN: the CRC is wrong. */
static int32_t read_payload(struct ky_reader *reader, const struct ky_block_header *block,
			    uint64_t offset, struct ky_bytes *payload)
{
	const uint64_t kept = kept_of(block);
	uint32_t crc = 0;
	int32_t status;

	payload->size = 0;
	status = take_range(reader, offset, kept, payload, &crc);
	if (status == KYMO_OK)
		status =
			take_range(reader, offset + kept, block->size - kept, NULL, &crc);
	if (status != KYMO_OK)
		return status;
	return crc == block->payload_crc32c ? KYMO_OK : KYMO_AGAIN;
}

static int32_t walk(struct ky_reader *reader, uint64_t offset, struct kymo_error *error)
{
	struct ky_bytes payload = {NULL, 0, 0};
	struct ky_block_header block;
	int32_t status = KYMO_OK;

	while (reader->size - offset >= sizeof(block)) {
		const uint8_t *data;
		uint64_t begin = offset, padded;

		status = look(reader, offset, sizeof(block), &data);
		if (status != KYMO_OK)
			break;
		memcpy(&block, data, sizeof(block));
		if (!ky_block_is_whole(&block, reader->size - offset - sizeof(block))) {
			offset += KY_BLOCK_ALIGN;
			reader->bad_bytes += KY_BLOCK_ALIGN;
			continue;
		}
		offset += sizeof(block);
		status = read_payload(reader, &block, offset, &payload);
		if (status == KYMO_OK)
			status = take_block(reader, &block, offset, &payload, error);
		padded = ky_block_padded(block.size);
		offset = padded < reader->size - offset ? offset + padded : reader->size;
		if (status == KYMO_AGAIN)
			reader->bad_bytes += offset - begin;
		else if (status != KYMO_OK)
			break;
		status = KYMO_OK;
	}
	if (status == KYMO_OK)
		reader->bad_bytes += reader->size - offset;
	free(payload.data);
	return status;
}

static int compare_captures(const void *left, const void *right)
{
	const struct ky_parts *const *a = left, *const *b = right;

	return (*a)->number < (*b)->number ? -1 : (*a)->number > (*b)->number;
}

/* Without its header a capture's ticks mean nothing: then it is left out. */
static int32_t finish_captures(struct ky_reader *reader, struct kymo_error *error)
{
	size_t kept = 0;
	int32_t status = KYMO_OK;

	for (size_t i = 0; i < reader->capture_count; i++) {
		struct ky_parts *parts = reader->captures[i];

		if (!parts->has_header) {
			reader->bad_bytes += ky_parts_size(parts);
			destroy_parts(parts);
			continue;
		}
		reader->captures[kept++] = parts;
		if (status == KYMO_OK)
			status = ky_parts_finish(parts, error);
	}
	reader->capture_count = kept;
	if (kept > 0)
		qsort(reader->captures, kept, sizeof(struct ky_parts *),
		      compare_captures);
	return status;
}

static int32_t check_file(struct ky_reader *reader, uint64_t *offset,
			  struct kymo_error *error)
{
	struct ky_file_header header;
	size_t got;
	int number = ky_pread_all(reader->fd, &header, sizeof(header), 0, &got);

	if (number != 0)
		return ky_error_set_errno(error, number, "cannot read it");
	if (got == 0)
		return ky_error_set(error, KYMO_ERROR_INVALID, "the file is empty");
	if (got < sizeof(header) || header.magic != KY_FILE_MAGIC)
		return ky_error_set(error, KYMO_ERROR_INVALID, "not a capture of Kymo");
	/* Damaged: nothing that it says holds, but what follows may be whole. */
	if (header.header_crc32c != ky_file_header_crc(&header)) {
		reader->bad_bytes += sizeof(header);
		*offset = sizeof(header);
		return KYMO_OK;
	}
	if (header.format_major != KYMO_CAPTURE_FORMAT_MAJOR)
		return ky_error_set(error, KYMO_ERROR_VERSION,
				    "capture format %u.%u; this version reads %d.x",
				    header.format_major, header.format_minor,
				    KYMO_CAPTURE_FORMAT_MAJOR);
	if (header.header_size < sizeof(header) || header.header_size > reader->size)
		return ky_error_set(error, KYMO_ERROR_INVALID, "not a capture of Kymo");
	*offset = header.header_size;
	return KYMO_OK;
}

static int32_t open_file(struct ky_reader *reader, const char *path,
			 struct kymo_error *error)
{
	struct stat info;

	reader->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (reader->fd < 0 || fstat(reader->fd, &info) != 0)
		return ky_error_set_errno(error, errno, "cannot open it");
	if (!S_ISREG(info.st_mode))
		return ky_error_set(error, KYMO_ERROR_INVALID, "not a regular file");
	reader->size = (uint64_t)info.st_size;
	reader->device = info.st_dev;
	reader->inode = info.st_ino;
	return KYMO_OK;
}

/* What it needs only until it is open. */
static int32_t make_room(struct ky_reader *reader, struct kymo_error *error)
{
	reader->window = malloc(WINDOW_SIZE);
	reader->index = calloc(INDEX_SIZE, sizeof(struct ky_parts *));
	if (!reader->window || !reader->index)
		return no_memory(error);
	return KYMO_OK;
}

void ky_reader_close(struct ky_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->capture_count; i++)
		destroy_parts(reader->captures[i]);
	free(reader->captures);
	free(reader->session);
	free(reader->window);
	free(reader->index);
	if (reader->fd >= 0)
		close(reader->fd);
	free(reader);
}

int32_t ky_reader_open(struct ky_reader **out, const char *path, struct kymo_error *error)
{
	struct ky_reader *reader = calloc(1, sizeof(*reader));
	uint64_t offset = 0;
	int32_t status;

	*out = NULL;
	if (!reader)
		return no_memory(error);
	reader->error = error;
	reader->fd = -1;
	status = make_room(reader, error);
	if (status == KYMO_OK)
		status = open_file(reader, path, error);
	if (status == KYMO_OK)
		status = check_file(reader, &offset, error);
	if (status == KYMO_OK)
		status = walk(reader, offset, error);
	if (status == KYMO_OK)
		status = finish_captures(reader, error);
	free(reader->window);
	free(reader->index);
	reader->window = NULL;
	reader->index = NULL;
	reader->error = NULL;
	if (status != KYMO_OK) {
		ky_reader_close(reader);
		ky_error_wrap(error, "%s", path);
		return status;
	}
	*out = reader;
	return KYMO_OK;
}

int ky_reader_is_same(const struct ky_reader *reader, const struct ky_reader *other)
{
	return reader->device == other->device && reader->inode == other->inode;
}

size_t ky_reader_capture_count(const struct ky_reader *reader)
{
	return reader->capture_count;
}

const struct ky_reader_capture *ky_reader_capture(const struct ky_reader *reader,
						  size_t index)
{
	return index < reader->capture_count ? &reader->captures[index]->view : NULL;
}

const struct ky_session_block *ky_reader_session(const struct ky_reader *reader)
{
	return reader->session;
}

struct kymo_str ky_reader_command_line(const struct ky_reader *reader)
{
	const struct ky_session_block *session = reader->session;

	if (!session)
		return (struct kymo_str){NULL, 0};
	return (struct kymo_str){(const char *)(session + 1), session->command_line_size};
}

struct kymo_str ky_reader_sources(const struct ky_reader *reader)
{
	const struct ky_session_block *session = reader->session;

	if (!session)
		return (struct kymo_str){NULL, 0};
	return (struct kymo_str){(const char *)(session + 1) + session->command_line_size,
				 session->sources_size};
}

struct kymo_str ky_reader_window(const struct ky_reader *reader)
{
	const struct ky_session_block *session = reader->session;

	if (!session)
		return (struct kymo_str){NULL, 0};
	return (struct kymo_str){(const char *)(session + 1) +
					 session->command_line_size +
					 session->sources_size,
				 session->window_size};
}

uint64_t ky_reader_bad_bytes(const struct ky_reader *reader)
{
	return reader->bad_bytes;
}

uint64_t ky_reader_watch(struct ky_reader *reader, struct ky_progress *progress)
{
	uint64_t lines = 0;

	reader->progress = progress;
	for (size_t i = 0; i < reader->capture_count; i++) {
		const struct ky_reader_capture *capture = &reader->captures[i]->view;

		for (size_t chunk = 0; chunk < capture->chunk_count; chunk++)
			lines += capture->chunks[chunk].line_count;
	}
	return lines;
}

int32_t ky_reader_lines_at(const struct ky_reader *reader,
			   const struct ky_reader_chunk *chunk, uint32_t first,
			   uint32_t count, struct kymo_record *lines,
			   struct kymo_error *error)
{
	size_t size = (size_t)count * KYMO_LINE_SIZE, got;
	int number;

	if (first > chunk->line_count || count > chunk->line_count - first)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "lines beyond the end of a chunk");
	number = ky_pread_all(reader->fd, lines, size,
			      chunk->offset + (uint64_t)first * KYMO_LINE_SIZE, &got);
	if (number != 0)
		return ky_error_set_errno(error, number, "cannot read the capture");
	if (got < size)
		return ky_error_set(error, KYMO_ERROR_IO,
				    "the capture shrank while it was read");
	return KYMO_OK;
}

int32_t ky_reader_lines(const struct ky_reader *reader,
			const struct ky_reader_chunk *chunk, struct kymo_record *lines,
			struct kymo_error *error)
{
	int32_t status = ky_progress_add(reader->progress, chunk->line_count, error);

	if (status != KYMO_OK)
		return status;
	return ky_reader_lines_at(reader, chunk, 0, chunk->line_count, lines, error);
}
