/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reading side of the dictionary: bytes from a capture, checked entry by entry, then
 * looked up by (kind, number). Nothing in the bytes is trusted: an entry with a bad size,
 * number or CRC ends the catalogue there, and is counted. Numbers that are not there give
 * NULL; callers go on with "unknown".
 */
#ifndef KYMO_RECORD_CATALOG_H
#define KYMO_RECORD_CATALOG_H

#include <kymo/base.h>

#include "record/layout.h"

struct ky_catalog; /* opaque */

/* Takes a copy of nothing: `bytes` must stay as they are until destroy. */
int32_t ky_catalog_create(struct ky_catalog **out, const void *bytes, size_t size,
			  struct kymo_error *error);
void ky_catalog_destroy(struct ky_catalog *catalog);

uint32_t ky_catalog_count(const struct ky_catalog *catalog, uint16_t kind);

/* The payload, or NULL; it is at least `least` bytes, else NULL. Borrowed. */
const void *ky_catalog_find(const struct ky_catalog *catalog, uint16_t kind, uint32_t id,
			    size_t least, size_t *size);

/*
 * A string's bytes; {NULL, 0} for 0, and "(unknown string N)"-free {NULL, 0} if absent.
 */
struct kymo_str ky_catalog_string(const struct ky_catalog *catalog, uint32_t id);

/* Bytes at the end that were no valid entry. */
size_t ky_catalog_bad_bytes(const struct ky_catalog *catalog);

#endif
