/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32C (Castagnoli, reflected polynomial 0x82f63b78, RFC 3720 appendix B.4). */
#ifndef KYMO_BASE_CRC32C_H
#define KYMO_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues from `crc`, the value for the bytes before; 0 to begin. */
uint32_t ky_crc32c(uint32_t crc, const void *data, size_t size);

#endif
