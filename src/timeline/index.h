/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds things by a key of bytes: each key has one slot for a pointer. Keys are copied.
 * Zeroed memory is a valid empty index.
 */
#ifndef KYMO_TIMELINE_INDEX_H
#define KYMO_TIMELINE_INDEX_H

#include "timeline/arena.h"

struct ky_index_entry;

struct ky_index {
	struct ky_arena keys;
	struct ky_index_entry **table;
	size_t count, capacity; /* a power of two */
};

/*
 * The slot of the key, made (with NULL in it) if there was none; NULL: no memory. Slots
 * never move.
 */
void **ky_index_slot(struct ky_index *index, const void *key, size_t size);

void ky_index_clear(struct ky_index *index);

#endif
