/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of 64-bit numbers, and the hash that makes such numbers of texts. */
#ifndef KYMO_CHROME_SET_H
#define KYMO_CHROME_SET_H

#include <stdbool.h>
#include <string.h>

#include <kymo/base.h>

/* Zeroed memory is an empty set. */
struct ky_set {
	uint64_t *slots; /* open addressing, 0: free */
	size_t capacity; /* a power of two, or 0 */
	size_t count;
	bool has_zero;
};

/* KYMO_OK if it was added, KYMO_END if it was there, KYMO_ERROR_NO_MEMORY. */
int32_t ky_set_add(struct ky_set *set, uint64_t number);
bool ky_set_has(const struct ky_set *set, uint64_t number);
void ky_set_fini(struct ky_set *set);

/* Good and quick, for tables in memory. */
uint64_t ky_text_hash(struct kymo_str text, uint64_t seed);

static inline bool ky_text_equal(struct kymo_str a, struct kymo_str b)
{
	return a.size == b.size &&
	       (a.data == b.data || a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

#endif
