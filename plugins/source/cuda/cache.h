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

#define KY_CACHE_SLOTS 16384u /* a power of 2 */
#define KY_CACHE_WAYS  4u     /* slots that the same words may be in */
#define KY_CACHE_WORDS 10u

struct ky_cached {
	uint64_t words[KY_CACHE_WORDS];
	uint32_t number, extra; /* `extra`: what the user wants to know besides */
};

struct ky_cache {
	uint32_t is_used, next_way;
	/* A part of each slot's hash, close together: most misses look at no slot. */
	uint32_t tags[KY_CACHE_SLOTS]; /* 0: the slot is free */
	struct ky_cached slots[KY_CACHE_SLOTS];
};

static inline uint64_t ky_cache_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

/* Two chains: half the wait for the products. */
static inline uint64_t ky_cache_hash(const uint64_t words[KY_CACHE_WORDS])
{
	uint64_t a = 1, b = 2;

	for (unsigned i = 0; i < KY_CACHE_WORDS; i += 2) {
		a = ky_cache_mix(a, words[i]);
		b = ky_cache_mix(b, words[i + 1]);
	}
	return ky_cache_mix(a, b);
}

/* The first of the slots for a hash, and its tag. */
static inline uint32_t ky_cache_slot(uint64_t hash)
{
	return (uint32_t)(hash >> 16) & (KY_CACHE_SLOTS - KY_CACHE_WAYS);
}

static inline uint32_t ky_cache_tag(uint64_t hash)
{
	return (uint32_t)(hash >> 32) | 1;
}

/* What is kept for these words, whose hash that is, or NULL. */
static inline const struct ky_cached *ky_cache_get(const struct ky_cache *cache,
						   uint64_t hash,
						   const uint64_t words[KY_CACHE_WORDS])
{
	const uint32_t slot = ky_cache_slot(hash), tag = ky_cache_tag(hash);

	for (uint32_t i = slot; i < slot + KY_CACHE_WAYS; i++)
		if (cache->tags[i] == tag && memcmp(cache->slots[i].words, words,
						    sizeof(cache->slots[i].words)) == 0)
			return &cache->slots[i];
	return NULL;
}

static inline const struct ky_cached *ky_cache_put(struct ky_cache *cache, uint64_t hash,
						   const uint64_t words[KY_CACHE_WORDS],
						   uint32_t number, uint32_t extra)
{
	const uint32_t slot = ky_cache_slot(hash);
	uint32_t i = slot;

	while (i < slot + KY_CACHE_WAYS && cache->tags[i] != 0)
		i++;
	if (i == slot + KY_CACHE_WAYS)
		i = slot + cache->next_way++ % KY_CACHE_WAYS;
	cache->tags[i] = ky_cache_tag(hash);
	memcpy(cache->slots[i].words, words, sizeof(cache->slots[i].words));
	cache->slots[i].number = number;
	cache->slots[i].extra = extra;
	cache->is_used = 1;
	return &cache->slots[i];
}

static inline void ky_cache_clear(struct ky_cache *cache)
{
	if (cache->is_used)
		memset(cache->tags, 0, sizeof(cache->tags));
}

#endif
