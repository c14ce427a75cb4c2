/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters. Readers draw the series of one event on one axis, and none of them can be
 * told a unit: so a sample of a group is one event for each unit in it. Which events that
 * are is settled by the group's first sample, since readers know series by names.
 */
#include "events.h"

#include <math.h>

/* Those values of an event that have the unit of the first of them. */
struct sample {
	struct ky_chrome *chrome;
	const struct kymo_trace_event *event;
	const struct ky_row *row;
	struct kymo_str unit;
	size_t first;
	uint64_t hash;   /* of the group and the unit */
	bool names_unit; /* the group has others, too */
};

/* What a series draws: readers plot doubles, so a large integer is one, too. */
static bool series_value(const struct kymo_trace_value *value, double *number)
{
	if (value->type == KYMO_VALUE_DOUBLE)
		*number = value->f64;
	else if (value->type == KYMO_VALUE_INT64)
		*number = (double)value->i64;
	else if (value->type == KYMO_VALUE_UINT64 || value->type == KYMO_VALUE_BOOL)
		*number = (double)value->u64;
	else
		return false;
	return isfinite(*number);
}

/*
 * Counters of one name are one row per process to the readers; the first track's have
 * their plain name, those of further tracks also an id.
 */
static bool needs_id(struct ky_chrome *chrome, const struct kymo_trace_track *track)
{
	struct ky_home *home = ky_tracks_home(&chrome->tracks, track);

	if (!home->counters)
		home->counters = track;
	return home->counters != track;
}

/* The next value of the sample at or behind `i`; value_count: there is none. */
static size_t next_value(const struct sample *sample, size_t i, double *number)
{
	const struct kymo_trace_event *event = sample->event;

	while (i < event->value_count &&
	       (!ky_text_equal(event->values[i].unit, sample->unit) ||
		!series_value(&event->values[i], number)))
		i++;
	return i;
}

static char *put_name(const struct sample *sample, char *at,
		      const struct kymo_str *series)
{
	struct ky_json *json = &sample->chrome->json;

	at = ky_json_put_text(json, at, sample->event->name);
	if (sample->names_unit) {
		at = KY_PUT(ky_json_room(json, at), " (");
		at = ky_json_put_text(json, at, sample->unit);
		at = KY_PUT(ky_json_room(json, at), ")");
	}
	if (series) {
		at = KY_PUT(ky_json_room(json, at), " ");
		at = ky_json_put_text(json, at, *series);
	}
	return ky_json_room(json, at);
}

/* `series`: NULL for all of the unit. Args stay open. */
static char *put_sample(const struct sample *sample, const struct kymo_str *series)
{
	struct ky_chrome *chrome = sample->chrome;
	const struct kymo_trace_event *event = sample->event;
	const uint64_t since = (uint64_t)event->begin_ns - (uint64_t)chrome->base_ns;
	char *at = ky_event_begin(chrome, 'C', event->type);

	at = KY_PUT(at, SEPARATOR "\"name\": \"");
	at = KY_PUT(put_name(sample, at, series), "\"");
	if (needs_id(chrome, event->track)) {
		at = ky_put_u64(KY_PUT(at, SEPARATOR "\"id\": \""), sample->row->tid);
		at = KY_PUT(at, "\"");
	}
	at = ky_event_put_place(KY_PUT(at, SEPARATOR), sample->row, since);
	return KY_PUT(at, SEPARATOR "\"args\": {\n      ");
}

static void end_sample(struct ky_chrome *chrome, char *at)
{
	ky_event_end(chrome, KY_PUT(ky_json_room(&chrome->json, at), "\n    }"));
}

static void write_series(const struct sample *sample)
{
	const struct kymo_trace_event *event = sample->event;
	struct ky_chrome *chrome = sample->chrome;
	double number;
	size_t i = next_value(sample, sample->first, &number);

	for (; i < event->value_count; i = next_value(sample, i + 1, &number)) {
		char *at = put_sample(sample, &event->values[i].key);

		at = ky_json_put_double(&chrome->json, KY_PUT(at, "\"value\": "), number);
		end_sample(chrome, at);
	}
}

static void write_whole(const struct sample *sample)
{
	const struct kymo_trace_event *event = sample->event;
	struct ky_chrome *chrome = sample->chrome;
	struct ky_json *json = &chrome->json;
	struct ky_names names = {0};
	const char *between = "";
	double number;
	size_t i = next_value(sample, sample->first, &number);
	char *at;

	if (i == event->value_count)
		return;
	at = put_sample(sample, NULL);
	for (; i < event->value_count; i = next_value(sample, i + 1, &number)) {
		if (*between)
			at = KY_PUT(ky_json_room(json, at), ", ");
		between = ", ";
		at = ky_keys_put_key(&chrome->keys, &names, json, at, event->values, i);
		at = ky_json_put_double(json, at, number);
	}
	end_sample(chrome, at);
}

/* Notes the units, and whether one of the values is none that can be drawn. */
static bool has_hole(const struct sample *sample)
{
	const struct kymo_trace_event *event = sample->event;
	bool has = false;
	double number;
	size_t i;

	for (i = sample->first; i < event->value_count; i++) {
		if (!ky_text_equal(event->values[i].unit, sample->unit))
			continue;
		ky_keys_note_series(&sample->chrome->keys, &event->values[i]);
		has |= !series_value(&event->values[i], &number);
	}
	return has;
}

/*
 * One reader knows only those series of a counter that its first sample has. So if one
 * of the unit is missing there they are written as so many counters, from the beginning.
 */
static int32_t settle(const struct sample *sample, bool is_mixed)
{
	struct ky_chrome *chrome = sample->chrome;
	int32_t status = KYMO_OK;

	if (has_hole(sample))
		status = ky_set_add(&chrome->counters_split, sample->hash);
	if (status >= 0 && is_mixed)
		status = ky_set_add(&chrome->counters_mixed, sample->hash);
	return status;
}

/* `is_mixed`: as far as that is not settled. */
static int32_t write_sample(struct sample *sample, bool is_mixed)
{
	struct ky_chrome *chrome = sample->chrome;
	int32_t status = ky_set_add(&chrome->counters_seen, sample->hash);

	if (status == KYMO_OK)
		status = settle(sample, is_mixed);
	if (status < 0)
		return status;
	sample->names_unit = sample->unit.size > 0 &&
			     ky_set_has(&chrome->counters_mixed, sample->hash);
	if (ky_set_has(&chrome->counters_split, sample->hash))
		write_series(sample);
	else
		write_whole(sample);
	return KYMO_OK;
}

static size_t first_of_unit(const struct kymo_trace_event *event, size_t i)
{
	size_t first = 0;

	while (!ky_text_equal(event->values[first].unit, event->values[i].unit))
		first++;
	return first;
}

/*
 * 1, 0 or an error. A unit that comes later than in the first sample is another one than
 * those before.
 */
static int32_t is_mixed(struct ky_chrome *chrome, const struct kymo_trace_event *event,
			uint64_t group)
{
	const int32_t status = ky_set_add(&chrome->counters_seen, group);
	size_t i = 0;

	if (status != KYMO_OK)
		return status < 0 ? status : 1;
	while (i < event->value_count && first_of_unit(event, i) == 0)
		i++;
	return i < event->value_count;
}

int32_t ky_counters_write(struct ky_chrome *chrome, const struct kymo_trace_event *event,
			  const struct ky_row *row)
{
	const uint64_t group = ky_text_hash(event->name, event->track->index);
	const int32_t mixed = is_mixed(chrome, event, group);
	int32_t status = mixed < 0 ? mixed : KYMO_OK;
	double number;
	size_t i;

	for (i = 0; i < event->value_count && status >= 0; i++) {
		struct sample sample = {
			.chrome = chrome,
			.event = event,
			.row = row,
			.unit = event->values[i].unit,
			.first = i,
		};

		chrome->counts.non_finite += !series_value(&event->values[i], &number);
		if (first_of_unit(event, i) != i)
			continue;
		sample.hash = ky_text_hash(sample.unit, group);
		status = write_sample(&sample, mixed != 0);
	}
	return status;
}
