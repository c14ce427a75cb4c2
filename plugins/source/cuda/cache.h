/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What repeats from record to record, kept by what it was made of: a number of the
 * host's dictionary for a few words. It forgets what collides; the host gives the same
 * number again. Not for several threads at once.
 */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_CACHE_H
#define KYMO_PLUGINS_SOURCE_CUDA_CACHE_H

#include <stdint.h>
#include <string.h>

#define KY_CACHE_SLOTS 4096u /* a power of 2 */
#define KY_CACHE_WORDS 10u

struct ky_cache {
	struct {
		uint64_t words[KY_CACHE_WORDS];
		uint32_t number; /* 0: the slot is free */
		uint32_t reserved0;
	} slots[KY_CACHE_SLOTS];
};

static inline uint64_t ky_cache_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

/* Two chains at once: half the wait for the multiplications. */
static inline uint32_t ky_cache_slot(const uint64_t words[KY_CACHE_WORDS])
{
	uint64_t a = 1, b = 2;

	for (unsigned i = 0; i < KY_CACHE_WORDS; i += 2) {
		a = ky_cache_mix(a, words[i]);
		b = ky_cache_mix(b, words[i + 1]);
	}
	return (uint32_t)(ky_cache_mix(a, b) >> 20) & (KY_CACHE_SLOTS - 1);
}

/* The number kept at the slot for these words, or 0. */
static inline uint32_t ky_cache_get(const struct ky_cache *cache, uint32_t slot,
				    const uint64_t words[KY_CACHE_WORDS])
{
	return memcmp(cache->slots[slot].words, words,
		      sizeof(cache->slots[slot].words)) == 0
		       ? cache->slots[slot].number
		       : 0;
}

static inline void ky_cache_put(struct ky_cache *cache, uint32_t slot,
				const uint64_t words[KY_CACHE_WORDS], uint32_t number)
{
	memcpy(cache->slots[slot].words, words, sizeof(cache->slots[slot].words));
	cache->slots[slot].number = number;
}

static inline void ky_cache_clear(struct ky_cache *cache)
{
	memset(cache, 0, sizeof(*cache));
}

#endif
