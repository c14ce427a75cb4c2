/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads one event. What the reader met in it is kept until the event is whole: the same
 * NaN hangs a reader in a counter and costs an argument elsewhere, and "ph" may come
 * last.
 */
#include "check_event.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check_repair.h"
#include "check_rules.h"

static const char *const event_keys[KY_ARG_NAME] = {
	[KY_PH] = "ph",           [KY_NAME] = "name",       [KY_CAT] = "cat",
	[KY_PID] = "pid",         [KY_TID] = "tid",         [KY_TS] = "ts",
	[KY_DUR] = "dur",         [KY_TTS] = "tts",         [KY_TDUR] = "tdur",
	[KY_ID] = "id",           [KY_BP] = "bp",           [KY_SCOPE] = "s",
	[KY_BIND_ID] = "bind_id", [KY_FLOW_IN] = "flow_in", [KY_FLOW_OUT] = "flow_out",
	[KY_ARGS] = "args",       [KY_ID2] = "id2",
};

static const char *const arg_keys[KY_WORD_COUNT] = {
	[KY_ARG_NAME] = "name",
	[KY_ARG_SORT_INDEX] = "sort_index",
	[KY_ARG_CORRELATION] = "correlation",
	[KY_ARG_STREAM] = "stream",
	[KY_ARG_DEVICE] = "device",
	[KY_ARG_LABELS] = "labels",
};

/* ---- What the reader met ---- */

static const enum ky_check_kind kind_of[] = {
	[KY_JSON_CONTROL] = KY_RAW_CONTROL,
	[KY_JSON_ESCAPE] = KY_BAD_ESCAPE,
	[KY_JSON_SURROGATE] = KY_SURROGATE_ESCAPE,
	[KY_JSON_NUL] = KY_NUL,
	[KY_JSON_UTF8] = KY_INVALID_UTF8,
	[KY_JSON_NON_FINITE] = KY_NON_FINITE,
	[KY_JSON_ODD_NUMBER] = KY_ODD_NUMBER,
	[KY_JSON_ODD_WORD] = KY_ODD_WORD,
	[KY_JSON_END_COMMA] = KY_TRAILING_COMMA,
	[KY_JSON_TWO_COMMAS] = KY_DOUBLED_COMMA,
	[KY_JSON_NO_COMMA] = KY_MISSING_COMMA,
};

static bool is_word(enum ky_json_problem_kind kind)
{
	return kind == KY_JSON_NON_FINITE || kind == KY_JSON_ODD_NUMBER ||
	       kind == KY_JSON_ODD_WORD;
}

static enum ky_check_kind kind_of_problem(const struct ky_event_problem *problem)
{
	const bool at_top = problem->place.event == KY_CHECK_NO_EVENT;

	if (at_top &&
	    (problem->kind == KY_JSON_CONTROL || problem->kind == KY_JSON_ESCAPE))
		return KY_TEXT_OUTSIDE;
	if (problem->kind == KY_JSON_NON_FINITE && !problem->in_args)
		return KY_NON_FINITE_OUTSIDE;
	if (problem->kind == KY_JSON_SURROGATE && problem->in_args)
		return KY_SURROGATE_IN_ARGS;
	return kind_of[problem->kind];
}

/* A finding of a further kind, mended with what it comes with. */
static void find_too(struct ky_check *check, enum ky_check_kind kind,
		     const struct ky_event_problem *problem)
{
	ky_check_find(check, kind, problem->place, "%s", problem->text);
	if (problem->has_mend && check->edits)
		check->findings[kind].mended++;
}

static void judge_problem(struct ky_check *check, const struct ky_event_problem *problem)
{
	const enum ky_check_kind kind = kind_of_problem(problem);

	ky_check_find(check, kind, problem->place, "%s", problem->text);
	/* A raw one is no JSON besides. */
	if (problem->kind == KY_JSON_NUL && problem->size == 1)
		find_too(check, KY_RAW_CONTROL, problem);
	if (problem->has_mend)
		ky_check_mend(check, kind, problem->place, problem->place.byte,
			      problem->size, problem->mend);
}

void ky_check_tell(void *context, const struct ky_json_problem *problem)
{
	struct ky_check_reading *reading = context;
	struct ky_event *event = &reading->event;
	const bool at_top = reading->level == KY_AT_TOP;
	struct ky_event_problem kept = {
		.place = {problem->line, problem->byte,
			  at_top ? KY_CHECK_NO_EVENT : event->place.event},
		.kind = problem->kind,
		.in_args = reading->level == KY_IN_ARGS,
		.has_mend = problem->mend,
		.size = problem->size,
	};

	/* Readers pass over texts that are not in events. */
	if (at_top &&
	    (problem->kind == KY_JSON_SURROGATE || problem->kind == KY_JSON_NUL))
		return;
	if (problem->mend)
		strncpy(kept.mend, problem->mend, sizeof(kept.mend) - 1);
	if (is_word(problem->kind))
		strncpy(kept.text, ky_json_reader_text(reading->reader, NULL),
			sizeof(kept.text) - 1);
	if (at_top && reading->is_in_list && problem->kind == KY_JSON_NO_COMMA)
		reading->comma = kept;
	else if (at_top || event->problem_count == KY_PROBLEMS_MAX)
		judge_problem(reading->check, &kept);
	else
		event->problems[event->problem_count++] = kept;
}

void ky_check_tell_comma(struct ky_check_reading *reading, bool is_wanted)
{
	if (is_wanted && reading->comma.has_mend)
		judge_problem(reading->check, &reading->comma);
	reading->comma.has_mend = false;
}

/* Where Perfetto's reader gets stuck. */
static bool is_stuck_by(const struct ky_event *event,
			const struct ky_event_problem *problem)
{
	static const char *const names[] = {"process_name", "thread_name",
					    "process_sort_index", "thread_sort_index"};
	const char phase = ky_event_phase(event);
	size_t i;

	if (!problem->in_args ||
	    (!is_word(problem->kind) && problem->kind != KY_JSON_SURROGATE))
		return false;
	for (i = 0; phase == 'M' && i < sizeof(names) / sizeof(names[0]); i++) {
		if (ky_word_is_text(&event->words[KY_NAME], names[i]))
			return true;
	}
	return phase == 'C';
}

/* A counter's value that is no number is best left out: null would be drawn as 0. */
static const struct ky_event_cut *cut_around(const struct ky_event *event,
					     const struct ky_event_problem *problem)
{
	size_t i;

	if (ky_event_phase(event) != 'C' || problem->kind != KY_JSON_NON_FINITE)
		return NULL;
	for (i = 0; i < event->cut_count; i++) {
		const struct ky_event_cut *cut = &event->cuts[i];

		if (cut->in_args && cut->begin <= problem->place.byte &&
		    problem->place.byte < cut->end)
			return cut;
	}
	return NULL;
}

static void judge_problems(struct ky_check *check, const struct ky_event *event)
{
	size_t i;

	for (i = 0; i < event->problem_count; i++) {
		struct ky_event_problem problem = event->problems[i];
		const struct ky_event_cut *cut = cut_around(event, &problem);

		if (is_stuck_by(event, &problem))
			find_too(check, KY_HANGING_VALUE, &problem);
		problem.has_mend = problem.has_mend && !cut;
		judge_problem(check, &problem);
		if (cut)
			ky_check_mend(check, KY_NON_FINITE, problem.place, cut->begin,
				      cut->end - cut->begin, "");
	}
}

/* ---- Members ---- */

static void close_cut(struct ky_event *event, uint64_t end)
{
	if (event->cut_count > 0 && event->cuts[event->cut_count - 1].is_open) {
		event->cuts[event->cut_count - 1].end = end;
		event->cuts[event->cut_count - 1].is_open = false;
	}
}

static void begin_member(struct ky_check_reading *reading,
			 struct ky_event_members *members)
{
	members->begin = ky_json_reader_byte(reading->reader);
	close_cut(&reading->event, members->begin);
}

/* The first ones go with the comma behind, the others with the one before. */
static void end_member(struct ky_check_reading *reading, struct ky_event_members *members,
		       bool is_cut)
{
	struct ky_event *event = &reading->event;
	const uint64_t end = ky_json_reader_end(reading->reader);

	if (is_cut && event->cut_count < KY_CUTS_MAX)
		event->cuts[event->cut_count++] = (struct ky_event_cut){
			.begin = members->has_kept ? members->previous_end
						   : members->begin,
			.end = end,
			.in_args = reading->level == KY_IN_ARGS,
			.is_open = !members->has_kept,
		};
	members->has_kept |= !is_cut;
	members->previous_end = end;
}

static uint64_t hash_text(const char *text, size_t size)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	size_t i;

	for (i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(1099511628211);
	return hash;
}

static void keep_word(struct ky_check_reading *reading, enum ky_json_token token,
		      struct ky_word *word)
{
	size_t size = 0;
	const char *text = "";

	if (token == KY_JSON_STRING || token == KY_JSON_NUMBER)
		text = ky_json_reader_text(reading->reader, &size);
	word->token = token;
	word->begin = ky_json_reader_byte(reading->reader);
	word->end = ky_json_reader_end(reading->reader);
	word->hash = hash_text(text, size) + (uint64_t)token;
	size = size < KY_WORD_TEXT ? size : KY_WORD_TEXT - 1;
	memcpy(word->text, text, size);
	word->text[size] = '\0';
}

/* The rest of a value in args: its numbers are looked at, at any depth. */
static enum ky_json_token read_rest(struct ky_check_reading *reading,
				    enum ky_json_token token)
{
	const unsigned depth = ky_json_reader_depth(reading->reader);

	if (token == KY_JSON_NUMBER)
		ky_rule_number(reading);
	if (token != KY_JSON_OBJECT && token != KY_JSON_ARRAY)
		return token;
	do {
		token = ky_json_reader_next(reading->reader);
		if (token == KY_JSON_NUMBER)
			ky_rule_number(reading);
	} while (token > KY_JSON_END && ky_json_reader_depth(reading->reader) >= depth);
	return token;
}

static bool is_counted(enum ky_json_token token, const char *text)
{
	char *end;

	if (token != KY_JSON_STRING)
		return token == KY_JSON_NUMBER;
	strtod(text, &end);
	return end != text && !*end;
}

static enum ky_json_token read_arg(struct ky_check_reading *reading,
				   struct ky_event_members *members)
{
	struct ky_event *event = &reading->event;
	const size_t problems = event->problem_count;
	size_t size;
	const char *key = ky_json_reader_text(reading->reader, &size);
	const uint64_t hash = hash_text(key, size);
	enum ky_json_token token;
	int word = KY_ARG_NAME;

	begin_member(reading, members);
	while (word < KY_WORD_COUNT && strcmp(key, arg_keys[word]) != 0)
		word++;
	token = ky_json_reader_next(reading->reader);
	if (word < KY_WORD_COUNT && token > KY_JSON_END)
		keep_word(reading, token, &event->words[word]);
	/* What was told of already is not told of again. */
	event->bad_values +=
		event->problem_count == problems &&
		!is_counted(token, ky_json_reader_text(reading->reader, NULL));
	if (event->series_count < KY_SERIES_MAX)
		event->series[event->series_count++] = hash;
	token = read_rest(reading, token);
	end_member(reading, members,
		   event->problem_count > problems &&
			   event->problems[problems].kind == KY_JSON_NON_FINITE);
	return token;
}

static enum ky_json_token read_args(struct ky_check_reading *reading)
{
	const int level = reading->level;
	struct ky_event_members members = {0};
	enum ky_json_token token = ky_json_reader_next(reading->reader);

	if (token > KY_JSON_END)
		keep_word(reading, token, &reading->event.words[KY_ARGS]);
	if (token != KY_JSON_OBJECT)
		return read_rest(reading, token);
	reading->level = level == KY_AT_TOP ? KY_AT_TOP : KY_IN_ARGS;
	while ((token = ky_json_reader_next(reading->reader)) == KY_JSON_KEY) {
		if (read_arg(reading, &members) <= KY_JSON_END)
			return KY_JSON_ERROR;
	}
	close_cut(&reading->event, ky_json_reader_byte(reading->reader));
	reading->level = level;
	return token;
}

/* {"local": id} or {"global": id} stands for the id. */
static enum ky_json_token read_id2(struct ky_check_reading *reading)
{
	struct ky_event *event = &reading->event;
	enum ky_json_token token = ky_json_reader_next(reading->reader);

	event->words[KY_ID2].token = token;
	if (token != KY_JSON_OBJECT)
		return read_rest(reading, token);
	while ((token = ky_json_reader_next(reading->reader)) == KY_JSON_KEY) {
		event->is_local =
			strcmp(ky_json_reader_text(reading->reader, NULL), "local") == 0;
		token = ky_json_reader_next(reading->reader);
		if (token > KY_JSON_END)
			keep_word(reading, token, &event->words[KY_ID]);
		if (read_rest(reading, token) <= KY_JSON_END)
			return KY_JSON_ERROR;
	}
	return token;
}

static enum ky_json_token read_member(struct ky_check_reading *reading,
				      struct ky_event_members *members)
{
	const char *key = ky_json_reader_text(reading->reader, NULL);
	enum ky_json_token token;
	int word = 0;
	bool is_cut = false;

	begin_member(reading, members);
	while (word < KY_ARG_NAME && strcmp(key, event_keys[word]) != 0)
		word++;
	if (word == KY_ARGS) {
		token = read_args(reading);
	} else if (word == KY_ID2) {
		token = read_id2(reading);
	} else {
		token = ky_json_reader_next(reading->reader);
		if (word < KY_ARG_NAME && token > KY_JSON_END) {
			keep_word(reading, token, &reading->event.words[word]);
			is_cut = (word == KY_DUR || word == KY_TTS || word == KY_TDUR) &&
				 !ky_word_is_time(&reading->event.words[word]);
		}
		if (token == KY_JSON_OBJECT || token == KY_JSON_ARRAY)
			token = ky_json_reader_skip(reading->reader, token);
	}
	if (token > KY_JSON_END)
		end_member(reading, members, is_cut);
	return token;
}

enum ky_json_token ky_event_read_member(struct ky_check_reading *reading)
{
	return read_member(reading, &reading->members);
}

void ky_event_end(struct ky_check_reading *reading)
{
	close_cut(&reading->event, ky_json_reader_byte(reading->reader));
	reading->event.end = ky_json_reader_end(reading->reader);
}

enum ky_json_token ky_event_read(struct ky_check_reading *reading)
{
	enum ky_json_token token;

	while ((token = ky_json_reader_next(reading->reader)) == KY_JSON_KEY) {
		if (ky_event_read_member(reading) <= KY_JSON_END)
			return KY_JSON_ERROR;
	}
	ky_event_end(reading);
	return token;
}

void ky_event_begin(struct ky_check_reading *reading)
{
	struct ky_event *event = &reading->event;
	int word;

	event->place = (struct ky_check_place){
		ky_json_reader_line(reading->reader),
		ky_json_reader_byte(reading->reader),
		reading->check->events,
	};
	for (word = 0; word < KY_WORD_COUNT; word++) {
		event->words[word].token = KY_JSON_END;
		event->words[word].text[0] = '\0';
		event->words[word].hash = 0;
	}
	event->is_local = false;
	event->series_count = event->problem_count = event->cut_count = 0;
	event->bad_values = 0;
	reading->members = (struct ky_event_members){0};
	reading->level = KY_IN_EVENT;
}

void ky_event_judge(struct ky_check_reading *reading)
{
	reading->level = KY_AT_TOP;
	reading->check->events++;
	judge_problems(reading->check, &reading->event);
	ky_rules_judge(reading);
}
