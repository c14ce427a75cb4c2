/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of a spool: its blocks one behind the other, each written whole or not at all.
 */
#ifndef KYMO_CAPTURE_SPOOL_FILE_H
#define KYMO_CAPTURE_SPOOL_FILE_H

#include "capture/spool.h"

#define KY_PIECE_SIZE ((size_t)1 << 20) /* the most in one block */

struct ky_spool {
	int fd;
	uint64_t size; /* of the whole blocks in the file */
	/* Space of the disk that is kept for the counts and ends of the captures. */
	uint64_t reserve;
	uint64_t allocated;  /* where the file's space on the disk ends, at least */
	int is_unreservable; /* the file system does not allocate in advance */
	uint32_t unended;    /* captures whose end is not in the file */
	uint8_t *buffer;     /* one block with its header */
	uint8_t *chunk;      /* one CHUNK block: names are written while it waits */
	struct ky_spool_capture *captures;
};

/* Where the payload of the next block is put together; KY_PIECE_SIZE bytes. */
static inline uint8_t *ky_spool_payload(struct ky_spool *spool)
{
	return spool->buffer + sizeof(struct ky_block_header);
}

/* Writes the block whose payload stands there. */
int32_t ky_spool_write_block(struct ky_spool *spool, uint32_t kind, size_t size,
			     uint64_t capture, uint64_t sequence,
			     struct kymo_error *error);

/*
 * Writes a block from other memory: header.size bytes behind room for the header, with
 * room for the padding behind them. The header lacks magic and sums.
 */
int32_t ky_spool_write_prepared(struct ky_spool *spool, uint8_t *block,
				struct ky_block_header header, struct kymo_error *error);

/* There is to be room for the ends of so many captures; taken when more is written. */
void ky_spool_reserve(struct ky_spool *spool, uint32_t captures);

/* Frees what the spool knows of its captures (spool.c). */
void ky_spool_forget(struct ky_spool *spool);

#endif
