/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events that belong together by a number: arrows, async operations, samples of one
 * counter, launches and what they launched. In order of time, then of the file.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check_between.h"
#include "say.h"

#define HELD_MAX   64
#define SERIES_MAX 128

struct held {
	struct ky_check_record items[HELD_MAX];
	size_t count;
};

struct ky_links {
	struct ky_check *check;
	bool has_last;
	struct ky_check_record last; /* the record before */

	bool has_begin; /* arrow: its s; correlation: the launch */
	struct ky_check_record begin;
	uint64_t end_count;
	struct held early; /* ends whose begin has not come yet */

	/* Of one id, whatever cat and name are. */
	struct held only_begins, only_ends;

	struct held open; /* async */
	bool is_told;

	uint64_t series[SERIES_MAX]; /* of a counter */
	size_t series_count;
	uint64_t first_event;
};

static void find(struct ky_links *links, enum ky_check_kind kind,
		 const struct ky_check_record *record)
{
	ky_check_find(links->check, kind, ky_record_place(record), "at %.3f us",
		      (double)record->begin_ns / 1e3);
}

/* Where it is full, the record is told of at once. */
static void hold(struct ky_links *links, struct held *held,
		 const struct ky_check_record *record, enum ky_check_kind kind)
{
	if (held->count < HELD_MAX)
		held->items[held->count++] = *record;
	else
		find(links, kind, record);
}

/* ---- Arrows ---- */

static void take_begin(struct ky_links *links, const struct ky_check_record *record)
{
	size_t i;

	if (links->has_begin) {
		find(links, KY_ARROW_ID_REUSED, record);
		return;
	}
	links->has_begin = true;
	links->begin = *record;
	for (i = 0; i < links->early.count; i++) {
		const struct ky_check_record *end = &links->early.items[i];

		ky_check_find(links->check,
			      end->begin_ns < record->begin_ns ? KY_ARROW_BACKWARD
							       : KY_ARROW_FILE_ORDER,
			      ky_record_place(end),
			      "at %.3f us; its begin at %.3f, line %" PRIu64,
			      (double)end->begin_ns / 1e3, (double)record->begin_ns / 1e3,
			      record->line);
		links->end_count++;
	}
	links->early.count = 0;
}

static void take_arrow(struct ky_links *links, const struct ky_check_record *record)
{
	if (record->phase == 's') {
		take_begin(links, record);
	} else if (!links->has_begin) {
		hold(links, &links->early, record, KY_ARROW_NO_BEGIN);
	} else {
		links->end_count++;
		if (links->end_count > 1 && record->phase == 'f' &&
		    !(record->flags & KY_RECORD_BOUND))
			find(links, KY_ARROW_MANY_ENDS, record);
	}
}

/* All of one id, cat and name have come. */
static void finish_arrow(struct ky_links *links)
{
	size_t i;

	if (links->has_begin && links->end_count == 0)
		hold(links, &links->only_begins, &links->begin, KY_ARROW_NO_END);
	for (i = 0; i < links->early.count; i++)
		hold(links, &links->only_ends, &links->early.items[i], KY_ARROW_NO_BEGIN);
	links->early.count = 0;
	links->end_count = 0;
	links->has_begin = false;
}

/* All of one id have come: what is left over may have been meant for one another. */
static void finish_id(struct ky_links *links)
{
	const size_t begins = links->only_begins.count, ends = links->only_ends.count;
	size_t i;

	for (i = 0; i < begins || i < ends; i++) {
		if (i < begins && i < ends)
			find(links, KY_ARROW_UNLIKE, &links->only_ends.items[i]);
		else if (i < begins)
			find(links, KY_ARROW_NO_END, &links->only_begins.items[i]);
		else
			find(links, KY_ARROW_NO_BEGIN, &links->only_ends.items[i]);
	}
	links->only_begins.count = links->only_ends.count = 0;
}

/* ---- Async operations ---- */

static void take_async_begin(struct ky_links *links, const struct ky_check_record *record)
{
	struct held *open = &links->open;

	if (!links->is_told && open->count > 0 &&
	    open->items[open->count - 1].pid != record->pid) {
		find(links, KY_ASYNC_SHARED_ID, record);
		links->is_told = true;
	}
	hold(links, open, record, KY_TOO_DEEP);
}

static void take_async_end(struct ky_links *links, const struct ky_check_record *record)
{
	struct held *open = &links->open;
	size_t i = open->count;

	while (i > 0 && open->items[i - 1].word != record->word)
		i--;
	if (i == 0) {
		find(links, KY_ASYNC_NO_BEGIN, record);
		return;
	}
	if (i < open->count)
		find(links, KY_ASYNC_CROSSED, record);
	open->count--;
	memmove(&open->items[i - 1], &open->items[i],
		(open->count - (i - 1)) * sizeof(open->items[0]));
}

static void finish_async(struct ky_links *links)
{
	size_t i;

	for (i = 0; i < links->open.count; i++)
		find(links, KY_ASYNC_NO_END, &links->open.items[i]);
	links->open.count = 0;
	links->is_told = false;
}

/* ---- Counters ---- */

static void take_sample(struct ky_links *links, const struct ky_check_record *record)
{
	size_t i;

	if (links->series_count == 0)
		links->first_event = record->event;
	for (i = 0; i < links->series_count; i++) {
		if (links->series[i] == record->word)
			return;
	}
	if (record->event != links->first_event)
		find(links, KY_COUNTER_LATE_SERIES, record);
	if (links->series_count < SERIES_MAX)
		links->series[links->series_count++] = record->word;
}

/* ---- Launches ---- */

static void take_correlation(struct ky_links *links, const struct ky_check_record *record)
{
	size_t i;

	if (record->flags & KY_RECORD_DEVICE) {
		if (links->end_count++ > 0)
			find(links, KY_CORRELATION_REPEATED, record);
		if (!links->has_begin && links->early.count < HELD_MAX)
			links->early.items[links->early.count++] = *record;
		return;
	}
	if (links->has_begin) {
		find(links, KY_CORRELATION_REPEATED, record);
		return;
	}
	links->has_begin = true;
	for (i = 0; i < links->early.count; i++) {
		const struct ky_check_record *work = &links->early.items[i];
		const uint64_t early_ns =
			(uint64_t)record->begin_ns - (uint64_t)work->begin_ns;

		if (work->begin_ns < record->begin_ns)
			ky_check_find(links->check,
				      early_ns > links->check->error_ns
					      ? KY_KERNEL_BEFORE_LAUNCH
					      : KY_ORDER_UNDECIDED,
				      ky_record_place(work),
				      "at %.3f us, its launch at %.3f, line %" PRIu64,
				      (double)work->begin_ns / 1e3,
				      (double)record->begin_ns / 1e3, record->line);
	}
	links->early.count = 0;
}

/* ---- Groups ---- */

static void finish_group(struct ky_links *links, bool whole_key)
{
	switch (links->last.group) {
	case KY_OF_ARROW:
		finish_arrow(links);
		if (whole_key)
			finish_id(links);
		break;
	case KY_OF_ASYNC:
		finish_async(links);
		break;
	default:
		links->series_count = 0;
		links->early.count = 0;
		links->end_count = 0;
		links->has_begin = false;
	}
}

void ky_links_finish(struct ky_links *links)
{
	if (links->has_last)
		finish_group(links, true);
	links->has_last = false;
}

void ky_links_take(struct ky_links *links, const struct ky_check_record *record)
{
	const struct ky_check_record *last = &links->last;
	const bool is_new = last->group != record->group || last->key != record->key;

	if (links->has_last && (is_new || last->sub != record->sub))
		finish_group(links, is_new);
	links->last = *record;
	links->has_last = true;
	switch (record->group) {
	case KY_OF_ARROW:
		take_arrow(links, record);
		break;
	case KY_OF_ASYNC:
		if (record->phase == 'b')
			take_async_begin(links, record);
		else
			take_async_end(links, record);
		break;
	case KY_OF_COUNTER:
		take_sample(links, record);
		break;
	default:
		take_correlation(links, record);
	}
}

void ky_links_destroy(struct ky_links *links)
{
	free(links);
}

struct ky_links *ky_links_create(struct ky_check *check)
{
	struct ky_links *links = ky_must_grow(NULL, 1, sizeof(*links));

	memset(links, 0, sizeof(*links));
	links->check = check;
	return links;
}
