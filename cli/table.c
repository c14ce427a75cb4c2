/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "say.h"

#define SLOTS_FIRST 64

/* FNV-1a, 64 bits. */
static uint64_t hash_of(const void *name, size_t size)
{
	const unsigned char *bytes = name;
	uint64_t hash = UINT64_C(14695981039346656037);
	size_t i;

	for (i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
	return hash;
}

/* The slot that holds the name, or the free one where it belongs. */
static uint32_t *find(const struct ky_table *table, const void *name, size_t size)
{
	size_t i = (size_t)hash_of(name, size) & (table->slot_count - 1);

	for (; table->slots[i] != 0; i = (i + 1) & (table->slot_count - 1)) {
		const struct ky_table_name *found = &table->names[table->slots[i] - 1];

		if (found->size == size && memcmp(found->text, name, size) == 0)
			break;
	}
	return &table->slots[i];
}

static void grow(struct ky_table *table)
{
	size_t i;

	table->slot_count = table->slot_count ? 2 * table->slot_count : SLOTS_FIRST;
	table->slots =
		ky_must_grow(table->slots, table->slot_count, sizeof(*table->slots));
	memset(table->slots, 0, table->slot_count * sizeof(*table->slots));
	for (i = 0; i < table->count; i++)
		*find(table, table->names[i].text, table->names[i].size) =
			(uint32_t)i + 1;
}

size_t ky_table_number(struct ky_table *table, const void *name, size_t size, size_t max)
{
	uint32_t *slot;

	/* At most half full, so that a look-up ends soon. */
	if (2 * table->count >= table->slot_count)
		grow(table);
	slot = find(table, name, size);
	if (*slot != 0)
		return *slot - 1;
	if (table->count >= max)
		return KY_TABLE_FULL;
	if (table->count == table->capacity) {
		table->capacity = table->capacity ? 2 * table->capacity : SLOTS_FIRST;
		table->names = ky_must_grow(table->names, table->capacity,
					    sizeof(*table->names));
	}
	table->names[table->count].text = ky_must_copy(name, size);
	table->names[table->count].size = size;
	*slot = (uint32_t)++table->count;
	return table->count - 1;
}

void ky_table_fini(struct ky_table *table)
{
	size_t i;

	for (i = 0; i < table->count; i++)
		free(table->names[i].text);
	free(table->names);
	free(table->slots);
	memset(table, 0, sizeof(*table));
}
