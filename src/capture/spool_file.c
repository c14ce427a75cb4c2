/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/fs.h"
#include "capture/block.h"

#define RESERVE_BASE    65536u /* also of writers: one has 72 bytes */
#define RESERVE_CAPTURE 16384u
#define ALLOCATE_AHEAD  (1u << 20)

void ky_spool_reserve(struct ky_spool *spool, uint32_t captures)
{
	spool->unended = captures;
	spool->reserve = RESERVE_BASE + (uint64_t)captures * RESERVE_CAPTURE;
}

static int allocate_until(struct ky_spool *spool, uint64_t end)
{
	int failed;

	do {
		failed = fallocate(spool->fd, FALLOC_FL_KEEP_SIZE, (off_t)spool->size,
				   (off_t)(end - spool->size));
	} while (failed && errno == EINTR);
	if (failed)
		return errno;
	spool->allocated = end;
	return 0;
}

/*
 * Takes space for `size` bytes more, and the reserve behind them; 0 or an errno: so much
 * is not there. Whatever else is wrong, the write itself finds.
 */
static int make_room(struct ky_spool *spool, size_t size)
{
	const uint64_t end = spool->size + size + spool->reserve;
	int number;

	if (spool->is_unreservable || end <= spool->allocated)
		return 0;
	number = allocate_until(spool, end + ALLOCATE_AHEAD);
	if (number == ENOSPC || number == EDQUOT)
		number = allocate_until(spool, end);
	if (number == 0 || number == ENOSPC || number == EDQUOT)
		return number;
	spool->is_unreservable = 1;
	return 0;
}

/* What makes losses known must find its place where what is lost found none. */
static int may_use_reserve(uint32_t kind)
{
	return kind == KY_BLOCK_CAPTURE || kind == KY_BLOCK_WRITERS ||
	       kind == KY_BLOCK_SOURCES || kind == KY_BLOCK_END;
}

static int32_t cannot_write(int number, struct kymo_error *error)
{
	return ky_error_set_errno(error, number, "cannot write the capture file");
}

/* Appends to the file, or leaves it as it was. */
static int32_t append(struct ky_spool *spool, const void *data, size_t size,
		      struct kymo_error *error)
{
	int number = ky_write_all(spool->fd, data, size);

	if (!number) {
		spool->size += size;
		return KYMO_OK;
	}
	/*
	 * Should it not be cut back, the next block still is written over the half one,
	 * so that each begins where readers look; what is left behind they pass over.
	 */
	(void)!ftruncate(spool->fd, (off_t)spool->size);
	spool->allocated = spool->size;
	lseek(spool->fd, (off_t)spool->size, SEEK_SET);
	return cannot_write(number, error);
}

int32_t ky_spool_write_prepared(struct ky_spool *spool, uint8_t *block,
				struct ky_block_header header, struct kymo_error *error)
{
	uint8_t *payload = block + sizeof(header);
	const size_t padded = (size_t)ky_block_padded(header.size);
	int number = make_room(spool, sizeof(header) + padded);

	if (number && !may_use_reserve(header.kind))
		return cannot_write(number, error);
	header.magic = KY_BLOCK_MAGIC;
	header.payload_crc32c = ky_crc32c(0, payload, header.size);
	header.header_crc32c = ky_block_crc(&header);
	memcpy(block, &header, sizeof(header));
	memset(payload + header.size, 0, padded - header.size);
	return append(spool, block, sizeof(header) + padded, error);
}

int32_t ky_spool_write_block(struct ky_spool *spool, uint32_t kind, size_t size,
			     uint64_t capture, uint64_t sequence,
			     struct kymo_error *error)
{
	const struct ky_block_header header = {
		.kind = kind,
		.size = size,
		.capture = capture,
		.sequence = sequence,
	};

	return ky_spool_write_prepared(spool, spool->buffer, header, error);
}

uint64_t ky_spool_size(const struct ky_spool *spool)
{
	return spool->size;
}

int ky_spool_disk(const struct ky_spool *spool, uint64_t *total, uint64_t *available)
{
	struct statvfs disk;

	if (fstatvfs(spool->fd, &disk) != 0)
		return errno;
	*total = (uint64_t)disk.f_blocks * disk.f_frsize;
	*available = (uint64_t)disk.f_bavail * disk.f_frsize;
	return 0;
}

void ky_spool_close(struct ky_spool *spool)
{
	if (!spool)
		return;
	ky_spool_forget(spool);
	/* What was allocated in advance is given back. */
	if (spool->allocated > spool->size)
		(void)!ftruncate(spool->fd, (off_t)spool->size);
	if (spool->fd >= 0)
		close(spool->fd);
	free(spool->chunk);
	free(spool->buffer);
	free(spool);
}

static int copy_to(struct ky_spool *spool, int fd)
{
	size_t got = 1;
	int number = 0;

	for (uint64_t at = 0; at < spool->size && got > 0 && !number; at += got) {
		const uint64_t left = spool->size - at;

		number = ky_pread_all(spool->fd, spool->buffer,
				      left < KY_PIECE_SIZE ? (size_t)left : KY_PIECE_SIZE,
				      at, &got);
		if (!number)
			number = ky_write_all(fd, spool->buffer, got);
	}
	return number;
}

int32_t ky_spool_put_back(struct ky_spool *spool, const char *path,
			  struct kymo_error *error)
{
	int number, fd;

	if (access(path, F_OK) == 0)
		return KYMO_OK;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	number = fd < 0 ? errno : copy_to(spool, fd);
	if (number) {
		if (fd >= 0) {
			close(fd);
			unlink(path);
		}
		return ky_error_set_errno(
			error, number,
			"what was recorded is lost: \"%s\" was removed "
			"while the program ran, and cannot be made again",
			path);
	}
	close(spool->fd);
	spool->fd = fd;
	spool->allocated = spool->size;
	return KYMO_OK;
}

/* Puts the text behind what is in the payload; what does not fit is left out whole. */
static uint32_t append_text(struct ky_spool *spool, size_t *size, struct kymo_str text)
{
	if (text.size == 0 || text.size > KY_PIECE_SIZE - *size)
		return 0;
	memcpy(ky_spool_payload(spool) + *size, text.data, text.size);
	*size += text.size;
	return (uint32_t)text.size;
}

static int32_t write_beginning(struct ky_spool *spool,
			       const struct ky_spool_session *session,
			       struct kymo_error *error)
{
	struct ky_file_header header = {
		.magic = KY_FILE_MAGIC,
		.format_major = KYMO_CAPTURE_FORMAT_MAJOR,
		.format_minor = KYMO_CAPTURE_FORMAT_MINOR,
		.header_size = sizeof(header),
		.session = session->session,
	};
	struct ky_session_block block = {
		.start_monotonic_ns = (int64_t)ky_monotonic_ns(),
		.start_realtime_ns = (int64_t)ky_realtime_ns(),
		.recorder_pid = (uint64_t)getpid(),
		.overflow = session->overflow,
	};
	size_t size = sizeof(block);
	int32_t status;

	header.header_crc32c = ky_file_header_crc(&header);
	status = append(spool, &header, sizeof(header), error);
	if (status)
		return status;
	block.command_line_size = append_text(spool, &size, session->command_line);
	block.sources_size = append_text(spool, &size, session->sources);
	block.window_size = append_text(spool, &size, session->window);
	memcpy(ky_spool_payload(spool), &block, sizeof(block));
	return ky_spool_write_block(spool, KY_BLOCK_SESSION, size, 0, 0, error);
}

/* A spool without a file. */
static struct ky_spool *make_spool(struct kymo_error *error)
{
	struct ky_spool *spool = calloc(1, sizeof(*spool));

	if (spool) {
		spool->fd = -1;
		ky_spool_reserve(spool, 0);
		spool->buffer = malloc(sizeof(struct ky_block_header) + KY_PIECE_SIZE +
				       KY_BLOCK_ALIGN);
		spool->chunk = malloc(sizeof(struct ky_block_header) + KY_CHUNK_SIZE);
	}
	if (spool && spool->buffer && spool->chunk)
		return spool;
	ky_spool_close(spool);
	ky_error_no_memory(error);
	return NULL;
}

int32_t ky_spool_create(struct ky_spool **out, const char *path,
			const struct ky_spool_session *session, struct kymo_error *error)
{
	struct ky_spool *spool = make_spool(error);
	int32_t status;

	*out = NULL;
	if (!spool)
		return KYMO_ERROR_NO_MEMORY;
	spool->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (spool->fd < 0) {
		status = ky_error_set_errno(error, errno, "cannot create \"%s\"", path);
		goto fail;
	}
	status = write_beginning(spool, session, error);
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

/* Where the last whole block ends, from `offset` on; the file is `size` bytes. */
static uint64_t find_end(int fd, uint64_t offset, uint64_t size)
{
	struct ky_block_header block;
	size_t got;

	while (size - offset >= sizeof(block) &&
	       ky_pread_all(fd, &block, sizeof(block), offset, &got) == 0 &&
	       got == sizeof(block) &&
	       ky_block_is_whole(&block, size - offset - sizeof(block)) &&
	       ky_block_padded(block.size) <= size - offset - sizeof(block))
		offset += sizeof(block) + ky_block_padded(block.size);
	return offset;
}

/* What was being written when the other died is cut off: it would hide what follows. */
static int32_t cut_back(struct ky_spool *spool, uint64_t session,
			struct kymo_error *error)
{
	struct ky_file_header header;
	off_t size = lseek(spool->fd, 0, SEEK_END);
	size_t got;
	int number = ky_pread_all(spool->fd, &header, sizeof(header), 0, &got);

	if (size < 0 || number)
		return ky_error_set_errno(error, number ? number : errno,
					  "cannot read it");
	if (got < sizeof(header) || header.magic != KY_FILE_MAGIC ||
	    header.session != session)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "it is not the file of this recording");
	spool->size = find_end(spool->fd, sizeof(header), (uint64_t)size);
	if (ftruncate(spool->fd, (off_t)spool->size) != 0 ||
	    lseek(spool->fd, (off_t)spool->size, SEEK_SET) < 0)
		return ky_error_set_errno(error, errno, "cannot cut it back");
	return KYMO_OK;
}

int32_t ky_spool_resume(struct ky_spool **out, const char *path, uint64_t session,
			struct kymo_error *error)
{
	struct ky_spool *spool = make_spool(error);
	int32_t status;

	*out = NULL;
	if (!spool)
		return KYMO_ERROR_NO_MEMORY;
	spool->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (spool->fd < 0)
		status = ky_error_set_errno(error, errno, "cannot open it");
	else
		status = cut_back(spool, session, error);
	if (status != KYMO_OK) {
		ky_error_wrap(error, "cannot go on with \"%s\"", path);
		ky_spool_close(spool);
		return status;
	}
	*out = spool;
	return KYMO_OK;
}

int32_t ky_spool_sync(struct ky_spool *spool, struct kymo_error *error)
{
	if (fdatasync(spool->fd) != 0)
		return ky_error_set_errno(error, errno, "cannot flush the capture file");
	return KYMO_OK;
}
