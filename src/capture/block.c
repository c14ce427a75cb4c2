/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/block.h"

#include "base/crc32c.h"

uint32_t ky_file_header_crc(const struct ky_file_header *header)
{
	return ky_crc32c(0, header, offsetof(struct ky_file_header, header_crc32c));
}

uint32_t ky_block_crc(const struct ky_block_header *block)
{
	return ky_crc32c(0, block, offsetof(struct ky_block_header, header_crc32c));
}

int ky_block_is_whole(const struct ky_block_header *block, uint64_t room)
{
	return block->magic == KY_BLOCK_MAGIC &&
	       block->header_crc32c == ky_block_crc(block) && block->size <= room;
}
