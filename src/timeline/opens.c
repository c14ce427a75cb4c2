/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Only captures with such begins pay for them: these are walked once more, and the spans
 * of tracks that have any, or the gaps, are sorted together with the begins by what must
 * be equal. How many there are of one kind says how many begins were completed, the first
 * ones.
 */
#include "timeline/opens.h"

#include "base/error.h"
#include "timeline/lanes.h"

#define MEMORY (8u << 20)

#define IS_WHOLE   0u /* sorted in front of the begins that they complete */
#define IS_OPEN    1u
#define IS_UNTIMED 2u /* a begin without a usable time */

#define OF_ALL_TRACKS UINT32_MAX /* as track: a gap */

struct candidate {
	uint64_t capture_track; /* capture << 32 | track of the model */
	uint64_t begin_ticks;
	uint32_t type, what;
	uint64_t place;
	int64_t begin_ns;
	uint32_t row, reserved0; /* the track where it is shown */
};

struct ky_opens {
	struct ky_model *model;
	struct kymo_trace_ledger *ledger;
	uint8_t *has_open; /* per track of the model */
	int has_gap;
	struct ky_sorter *candidates, *unfinished;
};

static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->capture_track != b->capture_track)
		return a->capture_track < b->capture_track ? -1 : 1;
	if (a->begin_ticks != b->begin_ticks)
		return a->begin_ticks < b->begin_ticks ? -1 : 1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->what != b->what)
		return a->what < b->what ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

static int is_same_span(const struct candidate *a, const struct candidate *b)
{
	return a->capture_track == b->capture_track && a->begin_ticks == b->begin_ticks &&
	       a->type == b->type;
}

static int32_t add(struct ky_opens *opens, const struct ky_record *record, uint32_t what,
		   const struct ky_item *item, struct kymo_error *error)
{
	const uint64_t capture = (uint64_t)(record->capture - opens->model->captures);
	const uint32_t track =
		record->first->kind == KYMO_KIND_GAP ? OF_ALL_TRACKS : item->track;
	const struct candidate candidate = {.capture_track = capture << 32 | track,
					    .begin_ticks = record->first->begin,
					    .type = record->first->type,
					    .what = what,
					    .place = item->when.place,
					    .begin_ns = item->when.begin_ns,
					    .row = item->track};

	return ky_sorter_push(opens->candidates, &candidate, error);
}

static void note_kind(struct ky_opens *opens, const struct ky_record *record,
		      const struct ky_item *item)
{
	if (record->first->kind == KYMO_KIND_GAP)
		opens->has_gap = 1;
	else
		opens->has_open[item->track] = 1;
}

int32_t ky_opens_add(struct ky_opens *opens, const struct ky_record *record,
		     const struct ky_item *item, struct kymo_error *error)
{
	note_kind(opens, record, item);
	return add(opens, record, IS_OPEN, item, error);
}

int32_t ky_opens_add_untimed(struct ky_opens *opens, const struct ky_record *record,
			     const struct ky_item *item, struct kymo_error *error)
{
	note_kind(opens, record, item);
	return add(opens, record, IS_UNTIMED, item, error);
}

static int32_t visit_whole(void *context, const struct ky_record *record,
			   struct kymo_error *error)
{
	struct ky_opens *opens = context;
	struct ky_item item = {.track = ky_record_row(record)};
	int is_wanted = 0;

	if (record->first->kind == KYMO_KIND_SPAN)
		is_wanted = opens->has_open[item.track];
	else if (record->first->kind == KYMO_KIND_GAP)
		is_wanted = opens->has_gap && !ky_record_is_open(record->first);
	return is_wanted ? add(opens, record, IS_WHOLE, &item, error) : KYMO_OK;
}

/* It is shown as part of what followed, so it is no event of its own. */
static void count_begin(struct ky_opens *opens, const struct candidate *candidate)
{
	const struct ky_model_capture *capture =
		&opens->model->captures[candidate->capture_track >> 32];
	struct ky_model_source *source = NULL;

	if (candidate->type < capture->type_count)
		source = capture->types[candidate->type].source;
	/* A gap was not counted as one. */
	if (source && ky_place_kind(candidate->place) != KYMO_KIND_GAP)
		source->trace.events--;
	if (candidate->what == IS_UNTIMED)
		opens->ledger->untimed--;
	opens->ledger->begins++;
}

static int32_t keep_unfinished(struct ky_opens *opens, const struct candidate *candidate,
			       struct kymo_error *error)
{
	const struct ky_item item = {
		.when = {candidate->begin_ns, INT64_MAX, candidate->place},
		.track = candidate->row};

	return ky_sorter_push(opens->unfinished, &item, error);
}

/* What was opened more often than completed goes to `unfinished`. */
static int32_t match(struct ky_opens *opens, struct kymo_error *error)
{
	struct candidate last = {.capture_track = UINT64_MAX};
	uint64_t completed = 0;
	const void *next;
	int32_t status = ky_sorter_finish(opens->candidates, error);

	while (status == KYMO_OK) {
		const struct candidate *candidate;

		status = ky_sorter_next(opens->candidates, &next, error);
		if (status != KYMO_OK)
			break;
		candidate = next;
		if (!is_same_span(candidate, &last))
			completed = 0;
		last = *candidate;
		if (candidate->what == IS_WHOLE) {
			completed++;
		} else if (completed > 0) {
			completed--;
			count_begin(opens, candidate);
		} else if (candidate->what == IS_OPEN) {
			status = keep_unfinished(opens, candidate, error);
		}
	}
	return status == KYMO_END ? KYMO_OK : status;
}

static uint64_t capture_of(const struct ky_model *model, uint64_t place)
{
	uint64_t chunk = ky_place_line(place) >> KY_CHUNK_LINE_BITS;
	size_t low = 0, high = model->capture_count;

	while (high - low > 1) {
		size_t at = low + (high - low) / 2;

		if (model->captures[at].first_chunk <= chunk)
			low = at;
		else
			high = at;
	}
	return low;
}

/* Lets the finished ones up to `open` onto the lanes, so that its parent is there. */
static int32_t catch_up(struct ky_sorter *items, struct ky_lanes *lanes,
			const struct ky_item *open, const struct ky_item **head,
			struct kymo_error *error)
{
	int32_t status = KYMO_OK;

	while (*head && ky_moment_compare(&(*head)->when, &open->when) < 0) {
		const void *next = NULL;
		uint32_t lane;

		if (ky_place_kind((*head)->when.place) == KYMO_KIND_SPAN)
			status = ky_lanes_place(lanes, (*head)->track,
						(*head)->when.begin_ns,
						(*head)->when.end_ns, &lane);
		if (status == KYMO_ERROR_NO_MEMORY)
			ky_error_set(error, status, "no memory for lanes");
		else
			status = ky_sorter_next(items, &next, error);
		*head = status == KYMO_OK ? next : NULL;
	}
	return status == KYMO_END ? KYMO_OK : status;
}

/* When the process of `capture` attached again, behind `begin_ns`; else INT64_MAX. */
static int64_t next_attach(const struct ky_model *model,
			   const struct ky_model_capture *capture, int64_t begin_ns)
{
	int64_t next_ns = INT64_MAX;

	for (size_t i = 0; i < model->capture_count; i++) {
		const struct ky_model_capture *other = &model->captures[i];
		const int64_t at_ns = ky_ns_add(
			other->capture->header.attach_monotonic_ns, other->shift_ns);

		if (other->process == capture->process && at_ns > begin_ns &&
		    at_ns < next_ns)
			next_ns = at_ns;
	}
	return next_ns;
}

static int64_t find_end(const struct ky_opens *opens, struct ky_lanes *lanes,
			const int64_t *last_ns, const struct ky_item *open)
{
	const uint64_t number = capture_of(opens->model, open->when.place);
	const struct ky_model_capture *capture = &opens->model->captures[number];
	int64_t end_ns;

	if (ky_place_kind(open->when.place) == KYMO_KIND_GAP) {
		end_ns = next_attach(opens->model, capture, open->when.begin_ns);
		if (last_ns[number] < end_ns)
			end_ns = last_ns[number];
	} else {
		end_ns = ky_lanes_open_end(lanes, open->track, open->when.begin_ns);
		if (end_ns == INT64_MAX)
			end_ns = last_ns[number];
	}
	return end_ns < open->when.begin_ns ? open->when.begin_ns : end_ns;
}

static int32_t give_ends(struct ky_opens *opens, struct ky_sorter *items,
			 const int64_t *last_ns, struct ky_sorter *out,
			 struct kymo_error *error)
{
	const struct ky_item *head = NULL;
	struct ky_lanes *lanes = NULL;
	const void *next = NULL;
	int32_t status = ky_lanes_create(&lanes, opens->model->tracks.count, error);

	if (status == KYMO_OK)
		status = ky_sorter_finish(opens->unfinished, error);
	if (status == KYMO_OK)
		status = ky_sorter_next(items, &next, error);
	head = status == KYMO_OK ? next : NULL;
	while (status == KYMO_OK || status == KYMO_END) {
		struct ky_item open;

		status = ky_sorter_next(opens->unfinished, &next, error);
		if (status != KYMO_OK)
			break;
		open = *(const struct ky_item *)next;
		status = catch_up(items, lanes, &open, &head, error);
		if (status != KYMO_OK)
			break;
		open.when.end_ns = find_end(opens, lanes, last_ns, &open);
		status = ky_sorter_push(out, &open, error);
	}
	ky_lanes_destroy(lanes);
	return status == KYMO_END ? KYMO_OK : status;
}

int32_t ky_opens_resolve(struct ky_opens *opens, struct ky_sorter *items,
			 const int64_t *last_ns, struct ky_sorter **out,
			 struct kymo_error *error)
{
	int32_t status;

	*out = NULL;
	if (ky_sorter_count(opens->candidates) == 0)
		return KYMO_OK;
	status = ky_records_walk(opens->model, visit_whole, opens, error);
	if (status == KYMO_OK)
		status = match(opens, error);
	if (status != KYMO_OK || ky_sorter_count(opens->unfinished) == 0)
		return status;
	status = ky_sorter_create(out, sizeof(struct ky_item), ky_moment_compare, MEMORY,
				  error);
	if (status == KYMO_OK)
		status = give_ends(opens, items, last_ns, *out, error);
	return status;
}

void ky_opens_destroy(struct ky_opens *opens)
{
	if (!opens)
		return;
	ky_sorter_destroy(opens->candidates);
	ky_sorter_destroy(opens->unfinished);
	free(opens->has_open);
	free(opens);
}

int32_t ky_opens_create(struct ky_opens **out, struct ky_model *model,
			struct kymo_trace_ledger *ledger, struct kymo_error *error)
{
	struct ky_opens *opens = calloc(1, sizeof(*opens));
	int32_t status = KYMO_OK;

	*out = NULL;
	if (opens) {
		opens->model = model;
		opens->ledger = ledger;
		opens->has_open = calloc(model->tracks.count + 1, 1);
	}
	if (!opens || !opens->has_open)
		status = ky_error_set(error, KYMO_ERROR_NO_MEMORY,
				      "no memory for open spans");
	if (status == KYMO_OK)
		status = ky_sorter_create(&opens->candidates, sizeof(struct candidate),
					  compare_candidates, MEMORY, error);
	if (status == KYMO_OK)
		status = ky_sorter_create(&opens->unfinished, sizeof(struct ky_item),
					  ky_moment_compare, MEMORY, error);
	if (status == KYMO_OK)
		*out = opens;
	else
		ky_opens_destroy(opens);
	return status;
}
