/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Items in memory that are sorted together; as many as fit. Zeroed memory can be cleared.
 */
#ifndef KYMO_TIMELINE_BATCH_H
#define KYMO_TIMELINE_BATCH_H

#include <kymo/base.h>

/*
 * Negative, zero or positive, as for qsort(). The order is that of the int64_t which each
 * item begins with; this is asked only where these are equal, since a call costs more
 * than all the rest of a comparison.
 */
typedef int (*ky_compare_fn)(const void *left, const void *right);

#define KY_BATCH_STRANDS 64u

/* An ascending sequence within the batch, linked by `next`. */
struct ky_strand {
	int64_t key; /* of the tail while items are dealt, of the head while merged */
	uint32_t head, tail;
};

struct ky_batch {
	size_t item_size;
	ky_compare_fn compare;
	uint8_t *items;  /* as they were pushed */
	uint8_t *sorted; /* after ky_batch_sort */
	size_t count, capacity, capacity_max;
	uint32_t *next;
	struct ky_strand strands[KY_BATCH_STRANDS];
	uint32_t strand_count; /* KY_BATCH_STRANDS + 1: given up */
};

static inline int64_t ky_item_key(const void *item)
{
	return *(const int64_t *)item;
}

static inline int ky_batch_order(const struct ky_batch *batch, const void *left,
				 const void *right)
{
	int64_t a = ky_item_key(left), b = ky_item_key(right);

	if (a != b)
		return a < b ? -1 : 1;
	return batch->compare(left, right);
}

/* At least some hundred items, however little memory is given. */
void ky_batch_init(struct ky_batch *batch, size_t item_size, ky_compare_fn compare,
		   size_t memory_size);
void ky_batch_clear(struct ky_batch *batch);

/* It has to grow, and takes more memory the next time. */
static inline int ky_batch_is_to_grow(const struct ky_batch *batch)
{
	return batch->count == batch->capacity && batch->capacity > 0 &&
	       batch->capacity < batch->capacity_max;
}

/* From now on it takes no more than that, or than it has already. */
void ky_batch_limit(struct ky_batch *batch, size_t memory_size);

/* KYMO_AGAIN: full, sort and empty it first. */
int32_t ky_batch_push(struct ky_batch *batch, const void *item);

/* Sorts stably into `sorted`. */
int32_t ky_batch_sort(struct ky_batch *batch);
void ky_batch_empty(struct ky_batch *batch);

#endif
