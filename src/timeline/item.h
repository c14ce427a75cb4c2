/* SPDX-License-Identifier: BSD-3-Clause */
/* A record as it is sorted: when, where, and what it needs to be joined. */
#ifndef KYMO_TIMELINE_ITEM_H
#define KYMO_TIMELINE_ITEM_H

#include <kymo/record.h>

/*
 * When, and in what order: by begin, longer ones first. Of spans that are equal in both
 * the one captured last, since what is around others ends after them; all else as it was
 * captured. A place is the number of a line over all captures, with the record's kind and
 * role below it; a chunk takes up 1024 line numbers.
 */
struct ky_moment {
	int64_t begin_ns, end_ns;
	uint64_t place;
};

#define KY_ROLE_NONE       0u
#define KY_ROLE_ORIGIN     1u
#define KY_ROLE_TARGET     2u
#define KY_ROLE_FAILED     4u /* with ORIGIN: it launched nothing, by its own account */
#define KY_ROLE_ANNOTATION 8u
#define KY_ROLE_PROJECTED  16u /* not the annotation itself: its projection on a queue */

#define KY_CHUNK_LINE_BITS 10u

static inline uint64_t ky_place_make(uint64_t line, uint32_t kind, uint32_t role)
{
	return line << 16 | kind << 8 | role;
}

static inline uint64_t ky_place_line(uint64_t place)
{
	return place >> 16;
}

static inline uint32_t ky_place_kind(uint64_t place)
{
	return (uint32_t)(place >> 8) & 0xff;
}

static inline int ky_place_is_span(uint64_t place)
{
	return ky_place_kind(place) == KYMO_KIND_SPAN;
}

static inline uint32_t ky_place_role(uint64_t place)
{
	return (uint32_t)place & 0xff;
}

struct ky_item {
	struct ky_moment when;
	uint32_t track;  /* index in the model */
	uint32_t domain; /* number in the model; 0: not correlated */
	uint64_t value;
};

/* Compares anything that begins with a moment. */
static inline int ky_moment_compare(const void *left, const void *right)
{
	const struct ky_moment *a = left, *b = right;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	if (ky_place_is_span(a->place) != ky_place_is_span(b->place))
		return ky_place_is_span(a->place) ? -1 : 1;
	if (ky_place_is_span(a->place))
		return a->place > b->place ? -1 : a->place < b->place;
	return a->place < b->place ? -1 : a->place > b->place;
}

#endif
