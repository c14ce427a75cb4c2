/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of a Chrome trace, counted as they pass. */
#include "info_trace.h"

#include <stdlib.h>
#include <string.h>

#include "microseconds.h"

/* As much of a pid, tid or category as tells it from others. */
#define WORD_MAX 128

/* ---- Events ---- */

struct event {
	char phase;
	bool has_ts, has_duration;
	int64_t ts_ns, duration_ns;
	char name[WORD_MAX], category[WORD_MAX], pid[WORD_MAX], tid[WORD_MAX];
	char *given_name; /* args.name, of M events */
};

static void keep_word(struct ky_trace *trace, enum ky_json_token token, char *out)
{
	size_t size;
	const char *word = ky_json_reader_text(trace->reader, &size);

	if (token != KY_JSON_STRING && token != KY_JSON_NUMBER)
		return;
	size = size < WORD_MAX ? size : WORD_MAX - 1;
	memcpy(out, word, size);
	out[size] = '\0';
}

static enum ky_json_token read_args(struct ky_trace *trace, struct event *event)
{
	const struct ky_field field = KY_FIELD(event, "name", KY_FIELD_TEXT, given_name);
	const enum ky_json_token token = ky_trace_next(trace);

	if (token != KY_JSON_OBJECT || (event->phase && event->phase != 'M'))
		return ky_trace_pass_over(trace, token);
	return ky_trace_read_fields(trace, &field, 1, event);
}

static enum ky_json_token read_event_value(struct ky_trace *trace, struct event *event)
{
	enum { PHASE, CATEGORY, NAME, PID, TID, TS, DURATION, KEY_COUNT };
	static const char *const keys[] = {"ph",  "cat", "name", "pid",
					   "tid", "ts",  "dur"};
	enum ky_json_token token;
	int key = 0;

	if (ky_trace_is_key(trace, "args"))
		return read_args(trace, event);
	while (key < KEY_COUNT && !ky_trace_is_key(trace, keys[key]))
		key++;
	token = ky_trace_next(trace);
	if (key == PHASE && token == KY_JSON_STRING)
		event->phase = ky_trace_text(trace)[0];
	else if (key == CATEGORY)
		keep_word(trace, token, event->category);
	else if (key == NAME)
		keep_word(trace, token, event->name);
	else if (key == PID)
		keep_word(trace, token, event->pid);
	else if (key == TID)
		keep_word(trace, token, event->tid);
	else if (key == TS && (token == KY_JSON_NUMBER || token == KY_JSON_STRING))
		event->has_ts = ky_us_to_ns(ky_trace_text(trace), &event->ts_ns);
	else if (key == DURATION && (token == KY_JSON_NUMBER || token == KY_JSON_STRING))
		event->has_duration =
			ky_us_to_ns(ky_trace_text(trace), &event->duration_ns);
	return ky_trace_pass_over(trace, token);
}

static struct ky_info_track *track_of(struct ky_trace *trace, const struct event *event)
{
	char key[2 * WORD_MAX];
	const size_t pid = strlen(event->pid) + 1, tid = strlen(event->tid);

	memcpy(key, event->pid, pid);
	memcpy(key + pid, event->tid, tid);
	return ky_info_track(trace->info, key, pid + tid);
}

static char *copy_given(const struct event *event)
{
	return ky_info_copy_name(event->given_name, strlen(event->given_name));
}

static void take_name(struct ky_trace *trace, struct event *event)
{
	struct ky_info_track *track;
	size_t number;

	trace->info->named++;
	if (!event->given_name)
		return;
	if (strcmp(event->name, "thread_name") == 0) {
		track = track_of(trace, event);
		if (track == &trace->info->other_rows)
			return;
		free(track->name);
		track->name = copy_given(event);
	} else if (strcmp(event->name, "process_name") == 0) {
		number = ky_table_number(&trace->pids, event->pid, strlen(event->pid),
					 KY_INFO_KEPT_MAX);
		if (number == KY_TABLE_FULL) {
			trace->info->left_out++;
			return;
		}
		if (number == trace->name_count)
			trace->names = ky_info_append(trace->names, &trace->name_count,
						      sizeof(*trace->names));
		free(trace->names[number].name);
		trace->names[number].name = copy_given(event);
	}
}

static void take_time(struct ky_info *info, const struct event *event)
{
	int64_t end = event->ts_ns;

	if (!event->has_ts)
		return;
	if (event->has_duration && event->duration_ns > 0 &&
	    __builtin_add_overflow(end, event->duration_ns, &end))
		end = INT64_MAX;
	ky_info_note_time(info, event->ts_ns, end);
}

static void take_event(struct ky_trace *trace, struct event *event)
{
	struct ky_info *info = trace->info;
	struct ky_info_category *category;

	if (event->phase == 'M') {
		take_name(trace, event);
		return;
	}
	if (event->phase == 's' || event->phase == 't' || event->phase == 'f') {
		info->arrows += event->phase != 's'; /* one for each end */
		return;
	}
	if (strcmp(event->name, "Record Window End") == 0)
		return; /* nothing that happened */
	take_time(info, event);
	/* Kymo's gaps: no activity, whatever category they were written in. */
	if (strcmp(event->name, "not recorded") == 0) {
		info->others++;
		return;
	}
	category = ky_info_category(info, event->category, strlen(event->category));
	switch (event->phase) {
	case 'X':
		if (event->has_duration)
			category->busy_ns =
				ky_info_add_ns(category->busy_ns, event->duration_ns);
		/* fall through */
	case 'B':
	case 'b':
		category->spans++;
		info->spans++;
		break;
	case 'i':
	case 'I':
	case 'R':
	case 'n':
		category->instants++;
		info->instants++;
		break;
	case 'C':
		category->counters++;
		info->counters++;
		if (!event->tid[0])
			return; /* it belongs to a process, not to a row */
		break;
	default:
		info->others += event->phase != 'E' && event->phase != 'e';
		return;
	}
	track_of(trace, event)->events++;
}

enum ky_json_token ky_trace_read_events(struct ky_trace *trace)
{
	enum ky_json_token token;

	while ((token = ky_trace_next(trace)) > KY_JSON_END &&
	       token != KY_JSON_ARRAY_END) {
		struct event event = {0};

		if (token != KY_JSON_OBJECT) {
			trace->info->others++;
			if (ky_trace_pass_over(trace, token) == KY_JSON_ERROR)
				return KY_JSON_ERROR;
			continue;
		}
		while ((token = ky_trace_next(trace)) == KY_JSON_KEY) {
			token = read_event_value(trace, &event);
			if (token == KY_JSON_ERROR)
				break;
		}
		if (token != KY_JSON_ERROR)
			take_event(trace, &event);
		free(event.given_name);
		if (token == KY_JSON_ERROR)
			return token;
	}
	return token;
}
