/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words come from a file that anybody may have written. Each item takes one of them
 * at least, so a list that says it has more items than there are words is none: that
 * bounds the memory, as the depth bounds the stack.
 */
#include "timeline/nested.h"

#include <kymo/nested.h>

#define TYPE_BITS 0x1ffu

struct cursor {
	struct ky_values *values;
	const uint64_t *at, *end;
	uint64_t left; /* items that there may be yet */
};

static size_t words_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

static int read_item(struct cursor *cursor, struct kymo_trace_value *out, uint32_t depth);

static int read_items(struct cursor *cursor, struct kymo_trace_value *out, uint32_t type,
		      uint32_t count, uint32_t depth)
{
	struct kymo_trace_value *items;

	if (depth == KYMO_NESTED_DEPTH_MAX || count > cursor->left)
		return 0;
	cursor->left -= count;
	/* An empty one has a place as well, so that NULL means no memory. */
	items = ky_arena_take_zeroed(cursor->values->arena,
				     (count ? count : 1) * sizeof(*items));
	if (!items) {
		cursor->values->status = KYMO_ERROR_NO_MEMORY;
		return 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (type == KYMO_VALUE_DICT) {
			if (words_left(cursor) == 0)
				return 0;
			items[i].key = ky_values_number(cursor->values, KYMO_VALUE_STRING,
							*cursor->at++);
		}
		if (!read_item(cursor, &items[i], depth + 1))
			return 0;
	}
	out->type = type;
	out->count = count;
	out->items = items;
	return 1;
}

static int read_item(struct cursor *cursor, struct kymo_trace_value *out, uint32_t depth)
{
	const int is_root = depth == 0;
	uint32_t type, count;
	uint64_t head;

	if (words_left(cursor) == 0)
		return 0;
	head = *cursor->at++;
	type = (uint32_t)head & TYPE_BITS;
	count = (uint32_t)(head >> 32);
	if ((uint32_t)head != type)
		return 0;
	if (type == KYMO_VALUE_LIST || type == KYMO_VALUE_DICT)
		return read_items(cursor, out, type, count, depth);
	if (is_root || (type & ~KYMO_VALUE_ARRAY) < KYMO_VALUE_INT64 ||
	    (type & ~KYMO_VALUE_ARRAY) > KYMO_VALUE_CODE)
		return 0;
	if (!(type & KYMO_VALUE_ARRAY)) {
		if (count != 0 || words_left(cursor) == 0)
			return 0;
		return ky_values_set(cursor->values, out, type, *cursor->at++) == 0;
	}
	if (count > words_left(cursor))
		return 0;
	out->count = count;
	cursor->at += count;
	return ky_values_set_array(cursor->values, out, type & ~KYMO_VALUE_ARRAY,
				   cursor->at - count) == 0;
}

int ky_nested_resolve(struct ky_values *values, const uint64_t *words, size_t count,
		      struct kymo_trace_value *out)
{
	struct cursor cursor = {values, words, words + count, count};
	struct kymo_trace_value root = *out;

	if (!read_item(&cursor, &root, 0) || words_left(&cursor) > 0)
		return 0;
	*out = root;
	return 1;
}
