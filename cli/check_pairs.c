/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * B and E of one row. At one time ends come before begins, so that spans that follow one
 * another do not nest; the E of a span of length 0 then waits for its B.
 */
#include "check_between.h"

#include <string.h>

static void find(struct ky_pairs *pairs, enum ky_check_kind kind,
		 const struct ky_check_record *record)
{
	ky_check_find(pairs->check, kind, ky_record_place(record), "%s", "");
}

/* A name that is left out matches any. */
static bool match(const struct ky_check_record *begin, const struct ky_check_record *end)
{
	return end->word == 0 || begin->word == end->word;
}

static void forget_ends(struct ky_pairs *pairs)
{
	size_t i;

	for (i = 0; i < pairs->end_count; i++)
		find(pairs, KY_END_NO_BEGIN, &pairs->ends[i]);
	pairs->end_count = 0;
}

static void take_begin(struct ky_pairs *pairs, const struct ky_check_record *begin)
{
	size_t i;

	for (i = 0; i < pairs->end_count; i++) {
		if (!match(begin, &pairs->ends[i]) || pairs->ends[i].event < begin->event)
			continue;
		if (begin->flags & KY_RECORD_SEEN_X)
			find(pairs, KY_EMPTY_PAIR, begin);
		pairs->end_count--;
		memmove(&pairs->ends[i], &pairs->ends[i + 1],
			(pairs->end_count - i) * sizeof(pairs->ends[0]));
		return;
	}
	if (pairs->depth == KY_PAIRS_MAX)
		find(pairs, KY_TOO_DEEP, begin);
	else
		pairs->begins[pairs->depth++] = *begin;
}

static void take_end(struct ky_pairs *pairs, const struct ky_check_record *end)
{
	size_t i = pairs->depth;

	while (i > 0 && !match(&pairs->begins[i - 1], end))
		i--;
	if (i == 0) {
		if (pairs->end_count == KY_PENDING_MAX)
			forget_ends(pairs);
		pairs->ends[pairs->end_count++] = *end;
		return;
	}
	if (i < pairs->depth)
		find(pairs, KY_END_MISPLACED, end);
	pairs->depth--;
	memmove(&pairs->begins[i - 1], &pairs->begins[i],
		(pairs->depth - (i - 1)) * sizeof(pairs->begins[0]));
}

void ky_pairs_take(struct ky_pairs *pairs, const struct ky_check_record *record)
{
	if (pairs->end_count > 0 && pairs->ends[0].begin_ns != record->begin_ns)
		forget_ends(pairs);
	if (record->phase == 'B')
		take_begin(pairs, record);
	else
		take_end(pairs, record);
}

void ky_pairs_finish(struct ky_pairs *pairs)
{
	size_t i;

	forget_ends(pairs);
	for (i = 0; i < pairs->depth; i++)
		find(pairs, KY_BEGIN_NO_END, &pairs->begins[i]);
	pairs->depth = 0;
}
