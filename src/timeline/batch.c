/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What comes from a capture is nearly in order: each thread and each queue brings its own
 * ascending sequence, and these are interleaved. So pushed items are dealt to strands,
 * each ascending (patience sorting); an item goes to the strand with the largest tail
 * that does not exceed it, which keeps the tails in descending order and lets it be found
 * by bisection. Merging some ten strands costs a few comparisons an item, where sorting
 * from scratch costs twenty. Items that are in no order use the strands up soon; then the
 * batch is sorted by an ordinary merge sort.
 */
#include "timeline/batch.h"

#include <stdlib.h>
#include <string.h>

#define ITEMS_MIN 256u
#define NO_ITEM   UINT32_MAX

static uint8_t *item_at(const struct ky_batch *batch, uint8_t *items, size_t index)
{
	return items + index * batch->item_size;
}

/* Earlier pushed ones first among equals, which is what makes the sort stable. */
static int strand_before(const struct ky_batch *batch, const struct ky_strand *a,
			 const struct ky_strand *b)
{
	int order;

	if (a->key != b->key)
		return a->key < b->key;
	order = batch->compare(item_at(batch, batch->items, a->head),
			       item_at(batch, batch->items, b->head));
	return order != 0 ? order < 0 : a->head < b->head;
}

static void sift_strand(const struct ky_batch *batch, struct ky_strand *heap,
			uint32_t count, uint32_t at)
{
	struct ky_strand moved = heap[at];

	for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count &&
		    strand_before(batch, &heap[child + 1], &heap[child]))
			child++;
		if (!strand_before(batch, &heap[child], &moved))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moved;
}

static void merge_strands(struct ky_batch *batch)
{
	struct ky_strand *heap = batch->strands;
	uint32_t count = batch->strand_count;
	uint8_t *out = batch->sorted;

	for (uint32_t i = 0; i < count; i++)
		heap[i].key = ky_item_key(item_at(batch, batch->items, heap[i].head));
	for (uint32_t i = count / 2; i-- > 0;)
		sift_strand(batch, heap, count, i);
	while (count > 0) {
		uint32_t head = heap[0].head;

		memcpy(out, item_at(batch, batch->items, head), batch->item_size);
		out += batch->item_size;
		head = batch->next[head];
		if (head == NO_ITEM) {
			heap[0] = heap[--count];
		} else {
			heap[0].head = head;
			heap[0].key = ky_item_key(item_at(batch, batch->items, head));
		}
		if (count > 1)
			sift_strand(batch, heap, count, 0);
	}
}

/* Merges [begin, middle) and [middle, end) of `from` into `to`. */
static void merge_halves(const struct ky_batch *batch, uint8_t *from, uint8_t *to,
			 const size_t bounds[3])
{
	size_t left = bounds[0], right = bounds[1], size = batch->item_size;

	for (size_t at = bounds[0]; at < bounds[2]; at++) {
		int takes_left =
			right == bounds[2] ||
			(left < bounds[1] && ky_batch_order(batch, from + left * size,
							    from + right * size) <= 0);

		memcpy(to + at * size, from + (takes_left ? left++ : right++) * size,
		       size);
	}
}

static void merge_sort(struct ky_batch *batch)
{
	size_t count = batch->count;

	for (size_t width = 1; width < count; width *= 2) {
		uint8_t *from = batch->items;

		for (size_t begin = 0; begin < count; begin += 2 * width) {
			size_t middle = begin + width < count ? begin + width : count;
			size_t end = middle + width < count ? middle + width : count;
			size_t bounds[3] = {begin, middle, end};

			merge_halves(batch, from, batch->sorted, bounds);
		}
		batch->items = batch->sorted;
		batch->sorted = from;
	}
	memcpy(batch->sorted, batch->items, count * batch->item_size);
}

static int32_t grow(struct ky_batch *batch)
{
	size_t capacity = batch->capacity ? batch->capacity * 4 : ITEMS_MIN;
	uint8_t *items;
	uint32_t *next;

	if (capacity > batch->capacity_max)
		capacity = batch->capacity_max;
	items = realloc(batch->items, capacity * batch->item_size);
	if (!items)
		return KYMO_ERROR_NO_MEMORY;
	batch->items = items;
	next = realloc(batch->next, capacity * sizeof(*next));
	if (!next)
		return KYMO_ERROR_NO_MEMORY;
	batch->next = next;
	batch->capacity = capacity;
	return KYMO_OK;
}

static int tail_exceeds(const struct ky_batch *batch, const struct ky_strand *strand,
			const void *item)
{
	int64_t key = ky_item_key(item);

	if (strand->key != key)
		return strand->key > key;
	return batch->compare(item_at(batch, batch->items, strand->tail), item) > 0;
}

/* Tails descend strictly, so the first one that does not exceed the item fits best. */
static uint32_t find_strand(const struct ky_batch *batch, const void *item)
{
	const struct ky_strand *strands = batch->strands;
	uint32_t low = 0, high = batch->strand_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (tail_exceeds(batch, &strands[middle], item))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void deal(struct ky_batch *batch, uint32_t index, const void *item)
{
	uint32_t at = find_strand(batch, item);
	struct ky_strand *strand = &batch->strands[at];

	if (at == KY_BATCH_STRANDS) {
		batch->strand_count = KY_BATCH_STRANDS + 1;
		return;
	}
	if (at == batch->strand_count) {
		batch->strand_count++;
		strand->head = index;
	} else {
		batch->next[strand->tail] = index;
	}
	strand->tail = index;
	strand->key = ky_item_key(item);
	batch->next[index] = NO_ITEM;
}

int32_t ky_batch_push(struct ky_batch *batch, const void *item)
{
	if (batch->count == batch->capacity) {
		if (batch->capacity == batch->capacity_max)
			return KYMO_AGAIN;
		if (grow(batch) != KYMO_OK)
			return KYMO_ERROR_NO_MEMORY;
	}
	memcpy(item_at(batch, batch->items, batch->count), item, batch->item_size);
	if (batch->strand_count <= KY_BATCH_STRANDS)
		deal(batch, (uint32_t)batch->count, item);
	batch->count++;
	return KYMO_OK;
}

int32_t ky_batch_sort(struct ky_batch *batch)
{
	if (batch->count == 0)
		return KYMO_OK;
	/* A batch is sorted when it is full or done, so this size is final. */
	if (!batch->sorted)
		batch->sorted = malloc(batch->capacity * batch->item_size);
	if (!batch->sorted)
		return KYMO_ERROR_NO_MEMORY;
	if (batch->strand_count > KY_BATCH_STRANDS)
		merge_sort(batch);
	else
		merge_strands(batch);
	return KYMO_OK;
}

void ky_batch_empty(struct ky_batch *batch)
{
	batch->count = 0;
	batch->strand_count = 0;
}

void ky_batch_clear(struct ky_batch *batch)
{
	free(batch->items);
	free(batch->sorted);
	free(batch->next);
	batch->items = batch->sorted = NULL;
	batch->next = NULL;
	batch->count = batch->capacity = 0;
}

static size_t capacity_in(const struct ky_batch *batch, size_t memory_size)
{
	const size_t items = memory_size / (2 * batch->item_size + sizeof(uint32_t));

	if (items < ITEMS_MIN)
		return ITEMS_MIN;
	return items < NO_ITEM ? items : NO_ITEM - 1;
}

void ky_batch_limit(struct ky_batch *batch, size_t memory_size)
{
	size_t capacity = capacity_in(batch, memory_size);

	if (capacity < batch->capacity)
		capacity = batch->capacity;
	if (capacity < batch->capacity_max)
		batch->capacity_max = capacity;
}

void ky_batch_init(struct ky_batch *batch, size_t item_size, ky_compare_fn compare,
		   size_t memory_size)
{
	*batch = (struct ky_batch){.item_size = item_size, .compare = compare};
	batch->capacity_max = capacity_in(batch, memory_size);
}
