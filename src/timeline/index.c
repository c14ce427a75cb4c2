/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct ky_index_entry {
	uint64_t hash;
	void *value;
	size_t size;
	uint8_t key[];
};

/* Where the key is, or the empty place where it belongs; at most half is in use. */
static size_t probe(const struct ky_index *index, uint64_t hash, const void *key,
		    size_t size)
{
	size_t at = (size_t)hash & (index->capacity - 1);

	while (index->table[at]) {
		const struct ky_index_entry *entry = index->table[at];

		if (entry->hash == hash && entry->size == size &&
		    (size == 0 || memcmp(entry->key, key, size) == 0))
			break;
		at = (at + 1) & (index->capacity - 1);
	}
	return at;
}

static int grow(struct ky_index *index)
{
	struct ky_index old = *index;

	index->capacity = old.capacity ? old.capacity * 2 : 64;
	index->table = calloc(index->capacity, sizeof(struct ky_index_entry *));
	if (!index->table) {
		*index = old;
		return -1;
	}
	for (size_t i = 0; i < old.capacity; i++) {
		struct ky_index_entry *entry = old.table[i];

		if (entry)
			index->table[probe(index, entry->hash, entry->key, entry->size)] =
				entry;
	}
	free(old.table);
	return 0;
}

void **ky_index_slot(struct ky_index *index, const void *key, size_t size)
{
	uint64_t hash = ky_hash(key, size, 0);
	struct ky_index_entry *entry;
	size_t at;

	if (index->count * 2 >= index->capacity && grow(index) != 0)
		return NULL;
	at = probe(index, hash, key, size);
	if (!index->table[at]) {
		entry = ky_arena_take(&index->keys, sizeof(*entry) + size);
		if (!entry)
			return NULL;
		entry->hash = hash;
		entry->value = NULL;
		entry->size = size;
		if (size > 0)
			memcpy(entry->key, key, size);
		index->table[at] = entry;
		index->count++;
	}
	return &index->table[at]->value;
}

void ky_index_clear(struct ky_index *index)
{
	ky_arena_clear(&index->keys);
	free(index->table);
	*index = (struct ky_index){.table = NULL};
}
