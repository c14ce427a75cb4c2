/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CRC-32C by the processor's own instruction where it has one, else by a table that is
 * computed by the compiler's caller: 256 entries, made at the first use. Two threads that
 * make it at the same time write the same numbers.
 */
#include "base/crc32c.h"

#include <string.h>

#define POLYNOMIAL 0x82f63b78u

static uint32_t crc_by_bits(uint32_t crc, uint8_t byte)
{
	crc ^= byte;
	for (int bit = 0; bit < 8; bit++)
		crc = (crc >> 1) ^ (POLYNOMIAL & (0u - (crc & 1)));
	return crc;
}

static uint32_t crc_by_table(uint32_t crc, const uint8_t *bytes, size_t size)
{
	static uint32_t table[256];

	/* Entry 255 is written last and is never 0. */
	if (__atomic_load_n(&table[255], __ATOMIC_ACQUIRE) == 0) {
		for (unsigned int i = 0; i < 256; i++)
			__atomic_store_n(&table[i], crc_by_bits(0, (uint8_t)i),
					 __ATOMIC_RELEASE);
	}
	for (size_t i = 0; i < size; i++)
		crc = (crc >> 8) ^ __atomic_load_n(&table[(uint8_t)(crc ^ bytes[i])],
						   __ATOMIC_RELAXED);
	return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t
crc_by_instruction(uint32_t crc, const uint8_t *bytes, size_t size)
{
	uint64_t wide = crc;

	for (; size >= 8; size -= 8, bytes += 8) {
		uint64_t word;

		memcpy(&word, bytes, sizeof(word));
		wide = __builtin_ia32_crc32di(wide, word);
	}
	crc = (uint32_t)wide;
	for (; size > 0; size--, bytes++)
		crc = __builtin_ia32_crc32qi(crc, *bytes);
	return crc;
}
#endif

uint32_t ky_crc32c(uint32_t crc, const void *data, size_t size)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2"))
		return ~crc_by_instruction(~crc, data, size);
#endif
	return ~crc_by_table(~crc, data, size);
}
