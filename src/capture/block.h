/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of a .kymo file: what makes one whole, for those that write and that read. */
#ifndef KYMO_CAPTURE_BLOCK_H
#define KYMO_CAPTURE_BLOCK_H

#include "record/layout.h"

#define KY_BLOCK_ALIGN 64u

/* Bytes that a payload of `size` takes in the file. */
static inline uint64_t ky_block_padded(uint64_t size)
{
	return (size + KY_BLOCK_ALIGN - 1) & ~(uint64_t)(KY_BLOCK_ALIGN - 1);
}

/* What the CRC of the file's header has to be. */
uint32_t ky_file_header_crc(const struct ky_file_header *header);

/* What the header's own CRC has to be. */
uint32_t ky_block_crc(const struct ky_block_header *block);

/*
 * Whether it is the header of a block whose payload ends within the `room` bytes that
 * the file has behind it. What the payload's CRC says is another matter.
 */
int ky_block_is_whole(const struct ky_block_header *block, uint64_t room);

#endif
