/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The catalogue: one walk over the entries notes where each (kind, number) stands. An
 * entry of a kind that this version does not know is passed over, since a newer minor
 * may add kinds; anything else that is odd ends the walk, because what follows a damaged
 * entry cannot be told from chance.
 */
#include "record/catalog.h"

#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/error.h"

#define ENTRY_ALIGN 8u

/* Offsets are kept in units of ENTRY_ALIGN, so 32 bits of them reach this far. */
#define BYTES_MAX ((uint64_t)UINT32_MAX * ENTRY_ALIGN)

struct offsets {
	uint32_t *items; /* item id - 1: the entry's offset / ENTRY_ALIGN */
	uint32_t count, capacity;
};

struct ky_catalog {
	const uint8_t *bytes;
	size_t bad_bytes;
	struct offsets kinds[KY_ENTRY_KINDS];
};

static int32_t add_offset(struct offsets *offsets, size_t offset)
{
	if (offsets->count == offsets->capacity) {
		uint32_t capacity = offsets->capacity ? offsets->capacity * 2 : 64;
		uint32_t *items = realloc(offsets->items, capacity * sizeof(*items));

		if (!items)
			return KYMO_ERROR_NO_MEMORY;
		offsets->items = items;
		offsets->capacity = capacity;
	}
	offsets->items[offsets->count++] = (uint32_t)(offset / ENTRY_ALIGN);
	return KYMO_OK;
}

static uint32_t entry_crc(const struct ky_dictionary_entry *entry, const uint8_t *payload)
{
	uint32_t crc = ky_crc32c(0, entry, offsetof(struct ky_dictionary_entry, crc32c));

	return ky_crc32c(crc, payload, entry->size);
}

/* The entry at `offset`, or 0 if there is no valid one; else how far the next one is. */
static size_t check_entry(const uint8_t *bytes, size_t left,
			  struct ky_dictionary_entry *entry)
{
	size_t size;

	if (left < sizeof(*entry))
		return 0;
	memcpy(entry, bytes, sizeof(*entry));
	if (entry->kind == 0 || entry->id == 0)
		return 0;
	size = ((size_t)entry->size + ENTRY_ALIGN - 1) & ~(size_t)(ENTRY_ALIGN - 1);
	if (size > left - sizeof(*entry))
		return 0;
	if (entry->crc32c != entry_crc(entry, bytes + sizeof(*entry)))
		return 0;
	return sizeof(*entry) + size;
}

static int32_t walk(struct ky_catalog *catalog, size_t size)
{
	size_t offset = 0;

	while (offset < size) {
		struct ky_dictionary_entry entry;
		struct offsets *offsets;
		size_t step = check_entry(catalog->bytes + offset, size - offset, &entry);

		if (step == 0)
			break;
		if (entry.kind < KY_ENTRY_KINDS) {
			offsets = &catalog->kinds[entry.kind];
			if (entry.id != offsets->count + 1)
				break;
			if (add_offset(offsets, offset) != KYMO_OK)
				return KYMO_ERROR_NO_MEMORY;
		}
		offset += step;
	}
	catalog->bad_bytes = size - offset;
	return KYMO_OK;
}

void ky_catalog_destroy(struct ky_catalog *catalog)
{
	if (!catalog)
		return;
	for (size_t kind = 0; kind < KY_ENTRY_KINDS; kind++)
		free(catalog->kinds[kind].items);
	free(catalog);
}

int32_t ky_catalog_create(struct ky_catalog **out, const void *bytes, size_t size,
			  struct kymo_error *error)
{
	struct ky_catalog *catalog;

	*out = NULL;
	if ((uintptr_t)bytes % ENTRY_ALIGN != 0)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "the dictionary's bytes are not aligned");
	if (size > BYTES_MAX)
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
				    "a dictionary of %zu bytes is too large", size);
	catalog = calloc(1, sizeof(*catalog));
	if (!catalog)
		goto fail;
	catalog->bytes = bytes;
	if (walk(catalog, size) != KYMO_OK)
		goto fail;
	*out = catalog;
	return KYMO_OK;

fail:
	ky_catalog_destroy(catalog);
	return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
			    "no memory for a dictionary of %zu bytes", size);
}

uint32_t ky_catalog_count(const struct ky_catalog *catalog, uint16_t kind)
{
	return kind < KY_ENTRY_KINDS ? catalog->kinds[kind].count : 0;
}

const void *ky_catalog_find(const struct ky_catalog *catalog, uint16_t kind, uint32_t id,
			    size_t least, size_t *size)
{
	const struct ky_dictionary_entry *entry;
	const uint8_t *place;

	if (id == 0 || id > ky_catalog_count(catalog, kind))
		return NULL;
	place = catalog->bytes + (size_t)catalog->kinds[kind].items[id - 1] * ENTRY_ALIGN;
	entry = (const void *)place;
	if (entry->size < least)
		return NULL;
	if (size)
		*size = entry->size;
	return place + sizeof(*entry);
}

struct kymo_str ky_catalog_string(const struct ky_catalog *catalog, uint32_t id)
{
	struct kymo_str text = {NULL, 0};

	text.data = ky_catalog_find(catalog, KY_ENTRY_STRING, id, 0, &text.size);
	return text;
}

size_t ky_catalog_bad_bytes(const struct ky_catalog *catalog)
{
	return catalog->bad_bytes;
}
