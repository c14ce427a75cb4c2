/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From memory to a .kymo file. What may change under us (chunks, dictionary, anchors) is
 * copied first and the copy is checked, summed and written. Names come before the lines
 * that use them: after a chunk is copied, the dictionary is written as far as it is
 * committed by then, and only then the chunk.
 */
#include "capture/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/fs.h"

#define PIECE_SIZE  ((size_t)1 << 20) /* of the dictionary, in one block */
#define BLOCK_ALIGN 64u

struct ky_spool {
	int fd;
	uint8_t *buffer;              /* one block with its header */
	uint8_t chunk[KY_CHUNK_SIZE]; /* the copy of one chunk */
	struct ky_spool_capture *captures;
};

struct ky_spool_capture {
	struct ky_spool *spool;
	struct ky_spool_capture *next;
	struct ky_capture *capture;
	uint64_t number;
	uint64_t dictionary_done; /* bytes */
	uint64_t anchors_done;
	uint8_t *chunk_done; /* by index; sealed chunks stay where they are */
};

static uint8_t *payload_of(struct ky_spool *spool)
{
	return spool->buffer + sizeof(struct ky_block_header);
}

/* Writes the block whose payload stands in the buffer. */
static int32_t write_block(struct ky_spool *spool, uint32_t kind, size_t size,
			   uint64_t capture, uint64_t sequence, struct kymo_error *error)
{
	size_t whole = (size + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
	struct ky_block_header header = {
		.magic = KY_BLOCK_MAGIC,
		.kind = kind,
		.size = size,
		.capture = capture,
		.sequence = sequence,
		.payload_crc32c = ky_crc32c(0, payload_of(spool), size),
	};
	int number;

	header.header_crc32c =
		ky_crc32c(0, &header, offsetof(struct ky_block_header, header_crc32c));
	memcpy(spool->buffer, &header, sizeof(header));
	memset(payload_of(spool) + size, 0, whole - size);
	number = ky_write_all(spool->fd, spool->buffer, sizeof(header) + whole);
	if (number)
		return ky_error_set_errno(error, number, "cannot write the capture file");
	return KYMO_OK;
}

void ky_spool_close(struct ky_spool *spool)
{
	if (!spool)
		return;
	while (spool->captures) {
		struct ky_spool_capture *capture = spool->captures;

		spool->captures = capture->next;
		free(capture->chunk_done);
		free(capture);
	}
	if (spool->fd >= 0)
		close(spool->fd);
	free(spool->buffer);
	free(spool);
}

static int32_t write_beginning(struct ky_spool *spool, uint64_t session,
			       uint32_t overflow, struct kymo_str command_line,
			       struct kymo_error *error)
{
	struct ky_file_header header = {
		.magic = KY_FILE_MAGIC,
		.format_major = KYMO_CAPTURE_FORMAT_MAJOR,
		.format_minor = KYMO_CAPTURE_FORMAT_MINOR,
		.header_size = sizeof(header),
		.session = session,
	};
	struct ky_session_block block = {
		.start_monotonic_ns = (int64_t)ky_monotonic_ns(),
		.start_realtime_ns = (int64_t)ky_realtime_ns(),
		.recorder_pid = (uint64_t)getpid(),
		.overflow = overflow,
	};
	int number = ky_write_all(spool->fd, &header, sizeof(header));

	if (number)
		return ky_error_set_errno(error, number, "cannot write the capture file");
	if (command_line.size > PIECE_SIZE - sizeof(block))
		command_line.size = PIECE_SIZE - sizeof(block);
	block.command_line_size = (uint32_t)command_line.size;
	memcpy(payload_of(spool), &block, sizeof(block));
	if (command_line.size > 0)
		memcpy(payload_of(spool) + sizeof(block), command_line.data,
		       command_line.size);
	return write_block(spool, KY_BLOCK_SESSION, sizeof(block) + command_line.size, 0,
			   0, error);
}

int32_t ky_spool_create(struct ky_spool **out, const char *path, uint64_t session,
			uint32_t overflow, struct kymo_str command_line,
			struct kymo_error *error)
{
	struct ky_spool *spool = calloc(1, sizeof(*spool));
	int32_t status;

	*out = NULL;
	if (!spool)
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY, "no memory left");
	spool->fd = -1;
	spool->buffer = malloc(sizeof(struct ky_block_header) + PIECE_SIZE + BLOCK_ALIGN);
	if (!spool->buffer) {
		status = ky_error_set(error, KYMO_ERROR_NO_MEMORY, "no memory left");
		goto fail;
	}
	spool->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (spool->fd < 0) {
		status = ky_error_set_errno(error, errno, "cannot create \"%s\"", path);
		goto fail;
	}
	status = write_beginning(spool, session, overflow, command_line, error);
	if (status != KYMO_OK) {
		ky_error_wrap(error, "\"%s\"", path);
		unlink(path);
		goto fail;
	}
	*out = spool;
	return KYMO_OK;
fail:
	ky_spool_close(spool);
	return status;
}

/* The header as it is now. */
static int32_t write_capture_header(struct ky_spool_capture *self,
				    struct kymo_error *error)
{
	memcpy(payload_of(self->spool), self->capture->header,
	       sizeof(struct ky_capture_header));
	return write_block(self->spool, KY_BLOCK_CAPTURE,
			   sizeof(struct ky_capture_header), self->number, 0, error);
}

int32_t ky_spool_add(struct ky_spool *spool, struct ky_capture *capture,
		     struct ky_spool_capture **out, struct kymo_error *error)
{
	struct ky_spool_capture *self = calloc(1, sizeof(*self));
	int32_t status;

	*out = NULL;
	if (!self)
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY, "no memory left");
	self->spool = spool;
	self->capture = capture;
	self->number = capture->header->capture;
	self->chunk_done = calloc(capture->chunk_count ? capture->chunk_count : 1, 1);
	if (!self->chunk_done) {
		free(self);
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY, "no memory left");
	}
	status = write_capture_header(self, error);
	if (status != KYMO_OK) {
		free(self->chunk_done);
		free(self);
		return status;
	}
	self->next = spool->captures;
	spool->captures = self;
	*out = self;
	return KYMO_OK;
}

static int32_t drain_dictionary(struct ky_spool_capture *self, struct kymo_error *error)
{
	const struct ky_capture *capture = self->capture;
	uint64_t tail =
		__atomic_load_n(&capture->header->dictionary_tail, __ATOMIC_ACQUIRE);

	if (tail > capture->dictionary_size)
		tail = capture->dictionary_size;
	while (self->dictionary_done < tail) {
		uint64_t at = self->dictionary_done, size = tail - at;
		int32_t status;

		if (size > PIECE_SIZE)
			size = PIECE_SIZE;
		memcpy(payload_of(self->spool), capture->dictionary + at, size);
		status = write_block(self->spool, KY_BLOCK_DICTIONARY, size, self->number,
				     at, error);
		if (status != KYMO_OK)
			return status;
		self->dictionary_done += size;
	}
	return KYMO_OK;
}

/* Copies complete anchors that were not taken yet; how many. */
static size_t take_anchors(struct ky_spool_capture *self, struct ky_anchor *to,
			   size_t room, int skip_incomplete)
{
	const struct ky_capture *capture = self->capture;
	uint64_t tail = __atomic_load_n(&capture->header->anchor_tail, __ATOMIC_ACQUIRE);
	size_t taken = 0;

	if (tail < self->anchors_done) /* not by us: damaged */
		return 0;
	if (tail - self->anchors_done > capture->anchor_capacity)
		self->anchors_done = tail - capture->anchor_capacity;
	for (; self->anchors_done < tail && taken < room; self->anchors_done++) {
		const struct ky_anchor *from =
			&capture->anchors[self->anchors_done % capture->anchor_capacity];
		uint64_t sequence = __atomic_load_n(&from->sequence, __ATOMIC_ACQUIRE);

		if (sequence == self->anchors_done + 1) {
			to[taken] = *from;
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			/* Written over while we copied: another one's turn has come. */
			if (__atomic_load_n(&from->sequence, __ATOMIC_RELAXED) ==
			    sequence)
				taken++;
		} else if (sequence < self->anchors_done + 1 && !skip_incomplete) {
			break; /* its writer is not done */
		}
	}
	return taken;
}

static int32_t drain_anchors(struct ky_spool_capture *self, int skip_incomplete,
			     struct kymo_error *error)
{
	struct ky_anchor *to = (struct ky_anchor *)(void *)payload_of(self->spool);
	size_t count = take_anchors(self, to, PIECE_SIZE / sizeof(*to), skip_incomplete);

	if (count == 0)
		return KYMO_OK;
	return write_block(self->spool, KY_BLOCK_ANCHORS, count * sizeof(*to),
			   self->number, 0, error);
}

/* Writes the committed lines of one chunk. */
static int32_t write_chunk(struct ky_spool_capture *self, uint32_t index,
			   struct kymo_error *error)
{
	const uint8_t *from = ky_capture_chunk(self->capture, index);
	uint8_t *copy = self->spool->chunk;
	struct ky_chunk_header header;
	size_t size;
	int32_t status;
	uint32_t head;

	head = __atomic_load_n(
		&((const struct ky_chunk_header *)(const void *)from)->head,
		__ATOMIC_ACQUIRE);
	if (head == 0 || head > KY_CHUNK_LINES)
		return KYMO_OK;
	size = (size_t)head * KYMO_LINE_SIZE;
	memcpy(&header, from, sizeof(header));
	memcpy(copy + sizeof(header), from + sizeof(header), size);
	header.index = index;
	header.head = head;
	header.crc32c = ky_crc32c(0, copy + sizeof(header), size);
	memcpy(copy, &header, sizeof(header));

	status = drain_dictionary(self, error);
	if (status != KYMO_OK)
		return status;
	memcpy(payload_of(self->spool), copy, sizeof(header) + size);
	return write_block(self->spool, KY_BLOCK_CHUNK, sizeof(header) + size,
			   self->number, header.sequence, error);
}

/* Gives a written chunk back to the program. */
static void reuse_chunk(struct ky_capture *capture, uint32_t index)
{
	struct ky_chunk_header *header =
		(struct ky_chunk_header *)(void *)ky_capture_chunk(capture, index);

	__atomic_store_n(&header->head, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&capture->states[index], KY_CHUNK_FREE, __ATOMIC_RELEASE);
	__atomic_fetch_add(&capture->header->chunks_freed, 1, __ATOMIC_RELEASE);
}

int32_t ky_spool_drain(struct ky_spool_capture *self, int reuse, struct kymo_error *error)
{
	struct ky_capture *capture = self->capture;
	int32_t status = drain_anchors(self, 0, error);

	for (uint32_t i = 0; status == KYMO_OK && i < capture->chunk_count; i++) {
		if (self->chunk_done[i] ||
		    __atomic_load_n(&capture->states[i], __ATOMIC_ACQUIRE) !=
			    KY_CHUNK_SEALED)
			continue;
		status = write_chunk(self, i, error);
		if (status != KYMO_OK)
			break;
		if (reuse)
			reuse_chunk(capture, i);
		else
			self->chunk_done[i] = 1;
	}
	return status;
}

static int32_t write_slots(struct ky_spool_capture *self, struct kymo_error *error)
{
	const struct ky_capture *capture = self->capture;
	uint32_t count =
		__atomic_load_n(&capture->header->writer_count, __ATOMIC_ACQUIRE);
	size_t size;

	if (count > capture->writer_capacity)
		count = capture->writer_capacity;
	size = (size_t)count * sizeof(struct ky_writer_slot);
	if (size > PIECE_SIZE)
		size = PIECE_SIZE;
	memcpy(payload_of(self->spool), capture->slots, size);
	return write_block(self->spool, KY_BLOCK_WRITERS, size, self->number, 0, error);
}

static int32_t write_end(struct ky_spool_capture *self, uint32_t reason,
			 struct kymo_error *error)
{
	struct ky_end_block end = {
		.reason = reason,
		.end_monotonic_ns = (int64_t)ky_monotonic_ns(),
		.end_realtime_ns = (int64_t)ky_realtime_ns(),
	};

	memcpy(payload_of(self->spool), &end, sizeof(end));
	return write_block(self->spool, KY_BLOCK_END, sizeof(end), self->number, 0,
			   error);
}

int32_t ky_spool_finish(struct ky_spool_capture *self, uint32_t end_reason,
			struct kymo_error *error)
{
	struct ky_capture *capture = self->capture;
	int32_t status = drain_anchors(self, 1, error);

	for (uint32_t i = 0; status == KYMO_OK && i < capture->chunk_count; i++) {
		uint32_t state = __atomic_load_n(&capture->states[i], __ATOMIC_ACQUIRE);

		if (!self->chunk_done[i] && state != KY_CHUNK_COLD &&
		    state != KY_CHUNK_FREE)
			status = write_chunk(self, i, error);
	}
	if (status == KYMO_OK)
		status = drain_dictionary(self, error);
	if (status == KYMO_OK)
		status = write_slots(self, error);
	if (status == KYMO_OK)
		status = write_capture_header(self, error);
	if (status == KYMO_OK)
		status = write_end(self, end_reason, error);
	return status;
}

int32_t ky_spool_sync(struct ky_spool *spool, struct kymo_error *error)
{
	if (fdatasync(spool->fd) != 0)
		return ky_error_set_errno(error, errno, "cannot flush the capture file");
	return KYMO_OK;
}
