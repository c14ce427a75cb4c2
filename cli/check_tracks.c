/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The spans of one row, in order of begin, longer ones first. Each goes to the first lane
 * where it nests or follows; lane 0 is the row itself, and what goes elsewhere overlaps.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_between.h"
#include "check_repair.h"
#include "say.h"

#define LANES_MAX  256
#define DEPTH_MAX  512 /* that a reader draws */
#define RECENT_MAX 64

/* Above the lanes that Kymo itself opens. */
#define FIRST_LANE_TID ((INT64_C(1) << 30) + (INT64_C(1) << 25))

struct lane {
	struct span {
		int64_t begin_ns, end_ns;
		struct ky_check_place place;
	} open[DEPTH_MAX];
	size_t depth;
	int64_t tid; /* that a mend gives it; 0: none yet */
};

struct ky_tracks {
	struct ky_check *check;
	bool has_key;
	uint64_t key;
	struct lane *lanes[LANES_MAX];
	size_t lane_count; /* in use on this row; memory stays */
	int64_t next_tid;

	struct ky_check_record last; /* the one furthest behind in the file so far */
	bool has_last;

	/* Spans that begin at this moment, for the arrows that are bound to them. */
	struct recent {
		uint64_t event;
		size_t lane;
		bool is_empty; /* of length 0 */
	} recent[RECENT_MAX];
	size_t recent_count;
	int64_t recent_ns;

	struct ky_pairs pairs;
};

/* ---- Lanes ---- */

static bool fits(struct lane *lane, const struct ky_check_record *span)
{
	while (lane->depth > 0 && lane->open[lane->depth - 1].end_ns <= span->begin_ns)
		lane->depth--;
	return lane->depth == 0 || lane->open[lane->depth - 1].end_ns >= span->end_ns;
}

static void add_lane(struct ky_tracks *tracks)
{
	struct lane **lane = &tracks->lanes[tracks->lane_count++];

	if (!*lane)
		*lane = ky_must_grow(NULL, 1, sizeof(**lane));
	(*lane)->depth = 0;
	(*lane)->tid = 0;
}

/* The first that the span fits into; LANES_MAX where none is left. */
static size_t find_lane(struct ky_tracks *tracks, const struct ky_check_record *span)
{
	size_t i;

	for (i = 0; i < tracks->lane_count; i++) {
		if (fits(tracks->lanes[i], span))
			return i;
	}
	if (tracks->lane_count < LANES_MAX)
		add_lane(tracks);
	else
		i = LANES_MAX;
	return i;
}

static void insert(struct ky_check *check, const char *text)
{
	ky_check_mend_too(check, check->events_end, 0, text);
}

/* An M event behind all others. */
static void name_lane(struct ky_tracks *tracks, const struct ky_check_record *span,
		      size_t lane, int64_t tid)
{
	const char *name = ky_check_track_name(tracks->check, tracks->key);
	char text[96];

	if (span->flags & KY_RECORD_TEXT_PID)
		return;
	snprintf(text, sizeof(text),
		 ",\n{\"ph\":\"M\",\"cat\":\"__metadata\",\"name\":\"thread_name\",");
	insert(tracks->check, text);
	snprintf(text, sizeof(text), "\"pid\":%" PRId64 ",\"tid\":%" PRId64, span->pid,
		 tid);
	insert(tracks->check, text);
	insert(tracks->check, ",\"args\":{\"name\":\"");
	insert(tracks->check, name);
	snprintf(text, sizeof(text), "%slane %zu\"}}", *name ? ", " : "", lane + 1);
	insert(tracks->check, text);
}

/* 0 where there is no number left, or the row's can't be replaced. */
static int64_t tid_of(struct ky_tracks *tracks, const struct ky_check_record *span,
		      size_t number)
{
	struct lane *lane = number < LANES_MAX ? tracks->lanes[number] : NULL;

	if (!lane || span->tid_size == 0 || !tracks->check->edits)
		return 0;
	if (lane->tid == 0 && tracks->next_tid <= tracks->check->largest_tid)
		tracks->next_tid = tracks->check->largest_tid + 1;
	if (lane->tid == 0 && tracks->next_tid <= INT32_MAX) {
		lane->tid = tracks->next_tid++;
		name_lane(tracks, span, number, lane->tid);
	}
	return lane->tid;
}

static void tell_overlap(struct ky_tracks *tracks, const struct ky_check_record *span,
			 size_t lane)
{
	const struct lane *row = tracks->lanes[0];
	const struct span *around = &row->open[row->depth ? row->depth - 1 : 0];
	const int64_t tid = tid_of(tracks, span, lane);
	char text[24];

	ky_check_find(tracks->check, KY_OVERLAP, ky_record_place(span),
		      "begins at %.3f us, within the span of line %" PRIu64
		      " that ends at %.3f",
		      (double)span->begin_ns / 1e3, around->place.line,
		      (double)around->end_ns / 1e3);
	if (tid == 0)
		return;
	snprintf(text, sizeof(text), "%" PRId64, tid);
	ky_check_mend(tracks->check, KY_OVERLAP, ky_record_place(span),
		      span->byte + span->tid_at, span->tid_size, text);
}

/* ---- Spans ---- */

static double end_as_double(int64_t begin_ns, int64_t end_ns)
{
	return (double)begin_ns / 1e3 + (double)(end_ns - begin_ns) / 1e3;
}

static void check_order(struct ky_tracks *tracks, const struct ky_check_record *span)
{
	const struct ky_check_record *last = &tracks->last;

	if (tracks->has_last && span->event < last->event) {
		if (span->begin_ns == last->begin_ns && span->end_ns < last->end_ns)
			ky_check_find(tracks->check, KY_CHILD_FIRST,
				      ky_record_place(span),
				      "its parent is in line %" PRIu64, last->line);
		else if (span->begin_ns > last->begin_ns)
			ky_check_find(tracks->check, KY_OUT_OF_ORDER,
				      ky_record_place(span),
				      "that one is in line %" PRIu64, last->line);
		return;
	}
	tracks->last = *span;
	tracks->has_last = true;
}

static void note_recent(struct ky_tracks *tracks, const struct ky_check_record *span,
			size_t lane)
{
	if (tracks->recent_ns != span->begin_ns)
		tracks->recent_count = 0;
	tracks->recent_ns = span->begin_ns;
	if (tracks->recent_count < RECENT_MAX)
		tracks->recent[tracks->recent_count++] = (struct recent){
			span->event, lane, span->end_ns == span->begin_ns};
}

static void take_span(struct ky_tracks *tracks, const struct ky_check_record *span)
{
	const size_t number = find_lane(tracks, span);
	const struct span *parent;
	struct lane *lane;

	check_order(tracks, span);
	if (number > 0)
		tell_overlap(tracks, span, number);
	if (number == LANES_MAX)
		return;
	note_recent(tracks, span, number);
	lane = tracks->lanes[number];
	parent = lane->depth ? &lane->open[lane->depth - 1] : NULL;
	if (parent && parent->end_ns == span->end_ns &&
	    end_as_double(span->begin_ns, span->end_ns) >
		    end_as_double(parent->begin_ns, parent->end_ns))
		ky_check_find(tracks->check, KY_END_ROUNDED, ky_record_place(span), "%s",
			      "");
	if (lane->depth == DEPTH_MAX)
		ky_check_find(tracks->check, KY_TOO_DEEP, ky_record_place(span), "%s",
			      "");
	else
		lane->open[lane->depth++] = (struct span){span->begin_ns, span->end_ns,
							  ky_record_place(span)};
}

/* ---- Ends of arrows ---- */

static bool is_within(const struct ky_tracks *tracks, int64_t ns)
{
	size_t i;

	/* Of a lane the outermost one ends last. */
	for (i = 0; i < tracks->lane_count; i++) {
		const struct lane *lane = tracks->lanes[i];

		if (lane->depth > 0 && lane->open[0].end_ns >= ns)
			return true;
	}
	return false;
}

/* Of the span that begins with the arrow's end and stands nearest before it. */
static size_t lane_of(const struct ky_tracks *tracks, const struct ky_check_record *end)
{
	size_t i, lane = 0;
	uint64_t nearest = 0;

	if (tracks->recent_ns != end->begin_ns)
		return 0;
	for (i = 0; i < tracks->recent_count; i++) {
		const struct recent *recent = &tracks->recent[i];

		if (recent->event < end->event && recent->event >= nearest) {
			nearest = recent->event;
			lane = recent->lane;
		}
	}
	return lane;
}

/*
 * Whether all that begins with the arrow's end are spans of length 0 behind it in the
 * file: one reader takes these in the order of the file, and the arrow comes too early.
 */
static bool is_before_empty(const struct ky_tracks *tracks,
			    const struct ky_check_record *end)
{
	size_t i;

	if (tracks->recent_count == 0 || tracks->recent_ns != end->begin_ns)
		return false;
	for (i = 0; i < tracks->recent_count; i++) {
		if (!tracks->recent[i].is_empty || tracks->recent[i].event < end->event)
			return false;
	}
	return true;
}

static void take_arrow(struct ky_tracks *tracks, const struct ky_check_record *end)
{
	const size_t lane = lane_of(tracks, end);
	char text[24];

	if (!(end->flags & KY_RECORD_NO_BP) && !is_within(tracks, end->begin_ns))
		ky_check_find(tracks->check, KY_ARROW_UNBOUND, ky_record_place(end),
			      "at %.3f us", (double)end->begin_ns / 1e3);
	if (is_before_empty(tracks, end))
		ky_check_find(tracks->check, KY_ARROW_BEFORE_EMPTY, ky_record_place(end),
			      "at %.3f us", (double)end->begin_ns / 1e3);
	if (lane == 0 || tracks->lanes[lane]->tid == 0 || end->tid_size == 0)
		return;
	snprintf(text, sizeof(text), "%" PRId64, tracks->lanes[lane]->tid);
	ky_check_mend_too(tracks->check, end->byte + end->tid_at, end->tid_size, text);
}

/* ---- The row ---- */

void ky_tracks_finish(struct ky_tracks *tracks)
{
	ky_pairs_finish(&tracks->pairs);
	tracks->lane_count = 0;
	tracks->recent_count = 0;
	tracks->has_last = false;
	tracks->has_key = false;
}

void ky_tracks_take(struct ky_tracks *tracks, const struct ky_check_record *record)
{
	if (!tracks->has_key || tracks->key != record->key) {
		ky_tracks_finish(tracks);
		tracks->has_key = true;
		tracks->key = record->key;
		add_lane(tracks);
	}
	switch (record->phase) {
	case 'X':
		take_span(tracks, record);
		break;
	case 'B':
	case 'E':
		ky_pairs_take(&tracks->pairs, record);
		break;
	default:
		take_arrow(tracks, record);
	}
}

void ky_tracks_destroy(struct ky_tracks *tracks)
{
	size_t i;

	if (!tracks)
		return;
	for (i = 0; i < LANES_MAX; i++)
		free(tracks->lanes[i]);
	free(tracks);
}

struct ky_tracks *ky_tracks_create(struct ky_check *check)
{
	struct ky_tracks *tracks = ky_must_grow(NULL, 1, sizeof(*tracks));

	memset(tracks, 0, sizeof(*tracks));
	tracks->check = check;
	tracks->pairs.check = check;
	tracks->next_tid = FIRST_LANE_TID;
	return tracks;
}
