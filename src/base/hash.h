/* SPDX-License-Identifier: BSD-3-Clause */
/* Hashes for tables in memory (ky_hash) and for numbers that are stable for ever. */
#ifndef KYMO_BASE_HASH_H
#define KYMO_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Good and quick; may differ from version to version. */
uint64_t ky_hash(const void *data, size_t size, uint64_t seed);

/* FNV-1a, 32 bits; continues from `hash`, KY_FNV1A_BEGIN to begin. */
#define KY_FNV1A_BEGIN 2166136261u
uint32_t ky_fnv1a(uint32_t hash, const void *data, size_t size);

#endif
