/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nested values: lists and dictionaries within each other, for keys of type
 * KYMO_VALUE_NESTED, in memory of the caller's own.
 *
 *     uint64_t words[64];                       shapes: [[2, 3], [4]]
 *     struct kymo_nested shapes;
 *
 *     kymo_nested_begin(&shapes, words, 64, KYMO_VALUE_LIST);
 *     kymo_nested_put_array(&shapes, 0, KYMO_VALUE_INT64, first, 2);
 *     kymo_nested_put_array(&shapes, 0, KYMO_VALUE_INT64, second, 1);
 *     values[0] = kymo_nested_value(&shapes, key);
 *
 * Nothing has to be asked on the way: what does not fit, is too deep or makes no sense
 * becomes a value of key 0, which is left out, and kymo_nested_is_whole tells.
 *
 * An item is a head word and what belongs to it. The head's low 9 bits are its type,
 * bits 32 to 63 its count, the others 0:
 *
 *     INT64 to CODE                 then the value; count 0
 *     the same with ARRAY           then `count` values
 *     LIST                          then `count` items
 *     DICT                          then `count` times a string's number and an item
 *
 * The words of a value are one LIST or DICT and nothing else.
 */
#ifndef KYMO_NESTED_H
#define KYMO_NESTED_H

#include <kymo/base.h>
#include <kymo/plugin.h>

KYMO_BEGIN_DECLS

#define KYMO_NESTED_DEPTH_MAX 16u /* lists and dictionaries within each other */

/* Frozen. A value in the making; its members are the functions' below. */
struct kymo_nested {
	uint64_t *words;
	uint32_t capacity, used;
	uint32_t depth;                       /* open lists and dictionaries */
	uint32_t is_bad;                      /* 1: it did not fit, or makes no sense */
	uint32_t open[KYMO_NESTED_DEPTH_MAX]; /* where their heads are */
};

/* The head of an item, which is one more of what is open. Used by what follows only. */
static inline uint64_t *kymo_nested_add(struct kymo_nested *nested, uint32_t key,
					uint32_t type, uint32_t count, uint32_t words)
{
	uint64_t *outer, *head;
	uint32_t is_member;

	if (nested->is_bad || nested->depth == 0) {
		nested->is_bad = 1;
		return NULL;
	}
	outer = &nested->words[nested->open[nested->depth - 1]];
	is_member = (*outer & 0x1ffu) == KYMO_VALUE_DICT;
	/* Its key, its head, and what belongs to that. */
	if (words >= nested->capacity ||
	    nested->capacity - nested->used < is_member + 1 + words) {
		nested->is_bad = 1;
		return NULL;
	}
	*outer += (uint64_t)1 << 32;
	if (is_member)
		nested->words[nested->used++] = key;
	head = &nested->words[nested->used];
	*head = type | (uint64_t)count << 32;
	nested->used += 1 + words;
	return head;
}

/* Begins a value that is a LIST or a DICT and takes `capacity` words at most. */
static inline void kymo_nested_begin(struct kymo_nested *nested, uint64_t *words,
				     uint32_t capacity, uint32_t type)
{
	nested->words = words;
	nested->capacity = capacity;
	nested->used = nested->depth = 1;
	nested->open[0] = 0;
	nested->is_bad =
		capacity == 0 || (type != KYMO_VALUE_LIST && type != KYMO_VALUE_DICT);
	if (!nested->is_bad)
		words[0] = type;
}

/*
 * Adds to the innermost that is open; `key`, the number of a string, is used in a DICT
 * only. Opens a LIST or DICT in it, and closes it again. What stays open at the end is
 * closed by that.
 */
static inline void kymo_nested_open(struct kymo_nested *nested, uint32_t key,
				    uint32_t type)
{
	if ((type != KYMO_VALUE_LIST && type != KYMO_VALUE_DICT) ||
	    nested->depth == KYMO_NESTED_DEPTH_MAX)
		nested->is_bad = 1;
	if (kymo_nested_add(nested, key, type, 0, 0))
		nested->open[nested->depth++] = nested->used - 1;
}

static inline void kymo_nested_close(struct kymo_nested *nested)
{
	if (nested->depth > 1)
		nested->depth--;
	else
		nested->is_bad = 1;
}

/* Adds a value of 64 bits: `type` is INT64 to CODE. */
static inline void kymo_nested_put(struct kymo_nested *nested, uint32_t key,
				   uint32_t type, uint64_t value)
{
	uint64_t *head;

	if (type < KYMO_VALUE_INT64 || type > KYMO_VALUE_CODE)
		nested->is_bad = 1;
	head = kymo_nested_add(nested, key, type, 0, 1);
	if (head)
		head[1] = value;
}

/* Adds an array of such: `elements` are `count` times 64 bits, and are copied. */
static inline void kymo_nested_put_array(struct kymo_nested *nested, uint32_t key,
					 uint32_t type, const void *elements,
					 uint32_t count)
{
	const unsigned char *from = (const unsigned char *)elements;
	unsigned char *to;
	uint64_t *head;

	if (type < KYMO_VALUE_INT64 || type > KYMO_VALUE_CODE)
		nested->is_bad = 1;
	head = kymo_nested_add(nested, key, type | KYMO_VALUE_ARRAY, count, count);
	if (!head)
		return;
	to = (unsigned char *)(head + 1);
	for (size_t i = 0; i < (size_t)count * sizeof(uint64_t); i++)
		to[i] = from[i];
}

static inline int kymo_nested_is_whole(const struct kymo_nested *nested)
{
	return !nested->is_bad;
}

/* The value, under a key of type KYMO_VALUE_NESTED; it borrows the words. */
static inline struct kymo_value kymo_nested_value(const struct kymo_nested *nested,
						  uint16_t key)
{
	struct kymo_value value;

	value.key = nested->is_bad ? 0 : key;
	value.type = KYMO_VALUE_NESTED;
	value.count = nested->is_bad ? 0 : nested->used;
	value.array = nested->words;
	return value;
}

KYMO_END_DECLS

#endif
