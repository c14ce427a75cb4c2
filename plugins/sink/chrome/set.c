/* SPDX-License-Identifier: BSD-3-Clause */
#include "set.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 64

/* Odd constants of good bit mixing: 2^64 by the golden ratio, and that of splitmix64. */
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)
#define MIX    UINT64_C(0xbf58476d1ce4e5b9)

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * MIX;
	return hash ^ hash >> 32;
}

uint64_t ky_text_hash(struct kymo_str text, uint64_t seed)
{
	uint64_t hash = mix(seed + GOLDEN, text.size), word;
	const char *data = text.data;
	size_t size = text.size;

	for (; size >= 8; data += 8, size -= 8) {
		memcpy(&word, data, 8);
		hash = mix(hash, word);
	}
	if (size > 0) {
		word = 0;
		memcpy(&word, data, size);
		hash = mix(hash, word);
	}
	return mix(hash, GOLDEN);
}

/* The slot of the number, or the free one where it belongs; 0 is not looked for. */
static uint64_t *find(const struct ky_set *set, uint64_t number)
{
	size_t i = (size_t)(number * GOLDEN >> 32) & (set->capacity - 1);

	while (set->slots[i] != 0 && set->slots[i] != number)
		i = (i + 1) & (set->capacity - 1);
	return &set->slots[i];
}

static bool grow(struct ky_set *set)
{
	struct ky_set larger = {.capacity =
					set->capacity ? 2 * set->capacity : CAPACITY_MIN};
	size_t i;

	larger.slots = calloc(larger.capacity, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (i = 0; i < set->capacity; i++) {
		if (set->slots[i] != 0)
			*find(&larger, set->slots[i]) = set->slots[i];
	}
	free(set->slots);
	set->slots = larger.slots;
	set->capacity = larger.capacity;
	return true;
}

bool ky_set_has(const struct ky_set *set, uint64_t number)
{
	if (number == 0)
		return set->has_zero;
	return set->capacity > 0 && *find(set, number) == number;
}

int32_t ky_set_add(struct ky_set *set, uint64_t number)
{
	uint64_t *slot;

	if (ky_set_has(set, number))
		return KYMO_END;
	if (number == 0) {
		set->has_zero = true;
		return KYMO_OK;
	}
	/* At most half full, so that a look-up ends soon. */
	if (2 * set->count >= set->capacity && !grow(set))
		return KYMO_ERROR_NO_MEMORY;
	slot = find(set, number);
	*slot = number;
	set->count++;
	return KYMO_OK;
}

void ky_set_fini(struct ky_set *set)
{
	free(set->slots);
	memset(set, 0, sizeof(*set));
}
