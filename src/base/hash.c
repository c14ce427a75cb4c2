/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ky_hash multiplies 64-bit words into 128 bits and folds them, the way of wyhash and its
 * kin: one multiplication for 8 bytes, good in all bits.
 */
#include "base/hash.h"

#include <string.h>

static uint64_t fold(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t ky_hash(const void *data, size_t size, uint64_t seed)
{
	/* Odd constants with half of their bits set: digits of pi and e. */
	const uint64_t p = 0x243f6a8885a308d3ull, e = 0xb7e151628aed2a6bull;
	const uint8_t *bytes = data;
	uint64_t hash = seed ^ p, word;

	for (size_t left = size; left > 0; left -= left < 8 ? left : 8) {
		word = 0;
		memcpy(&word, bytes, left < 8 ? left : 8);
		bytes += 8;
		hash = fold(hash ^ word, e);
	}
	return fold(hash ^ size, p);
}
