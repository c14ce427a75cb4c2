/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grammar of a trace, of any tool. What is no JSON is told of and read on from where
 * that takes no guess: within a text or a number, and from an event that can't be read to
 * the next line that begins one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_fit.h"
#include "check_read.h"
#include "check_repair.h"

static enum ky_json_token next(struct ky_check_trace *trace)
{
	return ky_json_reader_next(ky_trace_reader(trace));
}

static bool is_key(struct ky_check_trace *trace, const char *key)
{
	return strcmp(ky_json_reader_text(ky_trace_reader(trace), NULL), key) == 0;
}

static enum ky_json_token pass_over(struct ky_check_trace *trace,
				    enum ky_json_token token)
{
	if (token == KY_JSON_OBJECT || token == KY_JSON_ARRAY)
		return ky_json_reader_skip(ky_trace_reader(trace), token);
	return token;
}

/* ---- Events ---- */

/*
 * Goes on behind an event that can't be read; false where there is nothing to go on to.
 * The comma is put in when what follows has come whole.
 */
static bool resume(struct ky_check_trace *trace, unsigned depth)
{
	struct ky_check *check = trace->reading.check;
	const struct ky_check_place place = ky_trace_place(trace);
	char reason[KY_JSON_REASON_SIZE];
	const uint64_t from = check->events_end;

	snprintf(reason, sizeof(reason), "%s",
		 ky_json_reader_error(ky_trace_reader(trace)));
	trace->reading.level = KY_AT_TOP;
	ky_check_tell_comma(&trace->reading, false);
	if (!ky_json_reader_resume(ky_trace_reader(trace), depth))
		return false;
	check->events_end = ky_json_reader_end(ky_trace_reader(trace));
	ky_check_find(check, KY_UNREADABLE_EVENT, place, "%s", reason);
	ky_check_mend(check, KY_UNREADABLE_EVENT, place, from, check->events_end - from,
		      "");
	return true;
}

/* One more item of the list is whole; `comma`, if any, is put in before it. */
static void end_item(struct ky_check_trace *trace, const char *comma)
{
	struct ky_check *check = trace->reading.check;

	ky_check_tell_comma(&trace->reading, true);
	if (comma)
		ky_check_mend_too(check, check->events_end, 0, comma);
	check->events_end = ky_json_reader_end(ky_trace_reader(trace));
}

static enum ky_json_token read_event(struct ky_check_trace *trace)
{
	enum ky_json_token token;

	ky_event_begin(&trace->reading);
	token = ky_event_read(&trace->reading);
	if (token > KY_JSON_END && trace->is_array && trace->reading.fit.events == 0)
		ky_fit_take_first(&trace->reading);
	if (token > KY_JSON_END)
		ky_event_judge(&trace->reading);
	trace->reading.level = KY_AT_TOP;
	return token;
}

static enum ky_json_token read_item(struct ky_check_trace *trace,
				    enum ky_json_token token)
{
	if (token == KY_JSON_OBJECT)
		return read_event(trace);
	if (token > KY_JSON_END)
		ky_check_find(trace->reading.check, KY_NOT_AN_EVENT,
			      ky_trace_place(trace), "%s", "");
	return pass_over(trace, token);
}

/* After `[`, up to and with `]`. */
static enum ky_json_token read_events(struct ky_check_trace *trace)
{
	const unsigned depth = ky_json_reader_depth(ky_trace_reader(trace));
	bool has_items = false, is_resumed = false;
	enum ky_json_token token;

	trace->reading.check->events_end = ky_json_reader_end(ky_trace_reader(trace));
	trace->reading.is_in_list = true;
	for (;;) {
		token = next(trace);
		if (token == KY_JSON_ARRAY_END)
			break;
		token = read_item(trace, token);
		if (token > KY_JSON_END) {
			end_item(trace, is_resumed && has_items ? ",\n" : NULL);
			has_items = true;
		} else if (!resume(trace, depth)) {
			break;
		}
		is_resumed = token <= KY_JSON_END;
	}
	trace->reading.is_in_list = false;
	return token;
}

/* ---- The document ---- */

static enum ky_json_token read_unit(struct ky_check_trace *trace)
{
	const enum ky_json_token token = next(trace);

	if (token > KY_JSON_END && token != KY_JSON_STRING)
		ky_check_find(trace->reading.check, KY_DISPLAY_UNIT_NO_TEXT,
			      ky_trace_place(trace), "%s", "");
	else if (token == KY_JSON_STRING && !is_key(trace, "ms") && !is_key(trace, "ns"))
		ky_check_find(trace->reading.check, KY_DISPLAY_UNIT,
			      ky_trace_place(trace), "\"%.40s\"",
			      ky_json_reader_text(ky_trace_reader(trace), NULL));
	return pass_over(trace, token);
}

static enum ky_json_token read_distributed(struct ky_check_trace *trace)
{
	enum ky_json_token token = next(trace);

	if (token != KY_JSON_OBJECT)
		return pass_over(trace, token);
	while ((token = next(trace)) == KY_JSON_KEY) {
		const bool is_rank = is_key(trace, "rank");

		token = next(trace);
		if (is_rank && token == KY_JSON_NUMBER)
			ky_fit_take_rank(&trace->reading);
		if (pass_over(trace, token) <= KY_JSON_END)
			return KY_JSON_ERROR;
	}
	return token;
}

/* ---- What Kymo wrote of itself ---- */

/* After a key, whose number is wanted: the value; 0 where there is none. */
static enum ky_json_token read_number(struct ky_check_trace *trace, uint64_t *number)
{
	const enum ky_json_token token = next(trace);

	*number = 0;
	if (token == KY_JSON_NUMBER)
		*number = strtoull(ky_json_reader_text(ky_trace_reader(trace), NULL),
				   NULL, 10);
	return pass_over(trace, token);
}

static enum ky_json_token read_ledger(struct ky_check_trace *trace)
{
	char name[64];
	uint64_t value;
	enum ky_json_token token = next(trace);

	if (token != KY_JSON_OBJECT)
		return pass_over(trace, token);
	while ((token = next(trace)) == KY_JSON_KEY) {
		snprintf(name, sizeof(name), "%s",
			 ky_json_reader_text(ky_trace_reader(trace), NULL));
		if (read_number(trace, &value) <= KY_JSON_END)
			return KY_JSON_ERROR;
		ky_check_ledger(trace->reading.check, ky_trace_place(trace), name, value);
	}
	return token;
}

/* The largest error that is stated of any. */
static enum ky_json_token read_clocks(struct ky_check_trace *trace)
{
	struct ky_check *check = trace->reading.check;
	enum ky_json_token token = next(trace);
	uint64_t error_ns;

	if (token != KY_JSON_ARRAY)
		return pass_over(trace, token);
	while ((token = next(trace)) > KY_JSON_END && token != KY_JSON_ARRAY_END) {
		if (token != KY_JSON_OBJECT) {
			if (pass_over(trace, token) <= KY_JSON_END)
				return KY_JSON_ERROR;
			continue;
		}
		while ((token = next(trace)) == KY_JSON_KEY) {
			const bool is_error = is_key(trace, "uncertainty (ns)");

			if (read_number(trace, &error_ns) <= KY_JSON_END)
				return KY_JSON_ERROR;
			if (is_error && error_ns > check->error_ns)
				check->error_ns = error_ns;
		}
		if (token <= KY_JSON_END)
			return token;
	}
	return token;
}

static enum ky_json_token read_own(struct ky_check_trace *trace)
{
	enum ky_json_token token = next(trace);

	if (token != KY_JSON_OBJECT)
		return pass_over(trace, token);
	while ((token = next(trace)) == KY_JSON_KEY) {
		if (is_key(trace, "ledger"))
			token = read_ledger(trace);
		else if (is_key(trace, "clocks"))
			token = read_clocks(trace);
		else
			token = ky_json_reader_skip(ky_trace_reader(trace), KY_JSON_KEY);
		if (token <= KY_JSON_END)
			return KY_JSON_ERROR;
	}
	return token;
}

/* ---- The document ---- */

static enum ky_json_token read_list(struct ky_check_trace *trace)
{
	struct ky_check *check = trace->reading.check;
	enum ky_json_token token;

	if (trace->lists++ > 0)
		ky_check_find(check, KY_TRACE_EVENTS_TWICE, ky_trace_place(trace), "%s",
			      "");
	token = next(trace);
	if (token == KY_JSON_ARRAY)
		return read_events(trace);
	if (token > KY_JSON_END)
		ky_check_find(check, KY_NO_TRACE_EVENTS, ky_trace_place(trace),
			      "it is no list");
	return pass_over(trace, token);
}

/* After a key of the outermost object. */
static enum ky_json_token read_top_value(struct ky_check_trace *trace, bool is_first)
{
	if (is_first && (is_key(trace, "meta") || is_key(trace, "libs") ||
			 is_key(trace, "perfetto_manifest")))
		ky_check_find(trace->reading.check, KY_FOREIGN_FIRST_KEY,
			      ky_trace_place(trace), "\"%s\"",
			      ky_json_reader_text(ky_trace_reader(trace), NULL));
	if (is_key(trace, "traceEvents"))
		return read_list(trace);
	if (is_key(trace, "displayTimeUnit"))
		return read_unit(trace);
	if (is_key(trace, "distributedInfo"))
		return read_distributed(trace);
	if (is_key(trace, "kymo"))
		return read_own(trace);
	if (trace->lists > 0)
		return ky_json_reader_skip(ky_trace_reader(trace), KY_JSON_KEY);
	/* The whole object may be one event, of a file with one a line. */
	return ky_event_read_member(&trace->reading);
}

static enum ky_json_token read_object(struct ky_check_trace *trace)
{
	enum ky_json_token token;
	bool is_first = true;

	ky_event_begin(&trace->reading);
	trace->reading.level = KY_AT_TOP;
	while ((token = next(trace)) == KY_JSON_KEY) {
		if (read_top_value(trace, is_first) <= KY_JSON_END)
			return KY_JSON_ERROR;
		trace->sound_end = ky_json_reader_end(ky_trace_reader(trace));
		is_first = false;
	}
	ky_event_end(&trace->reading);
	trace->is_ndjson =
		trace->lists == 0 && ky_event_phase(&trace->reading.event) != '\0';
	return token;
}

/* The next of several documents that follow one another. */
static enum ky_json_token next_line(struct ky_check_trace *trace)
{
	const enum ky_json_token token = next(trace);

	if (token != KY_JSON_ERROR ||
	    ky_json_reader_failure(ky_trace_reader(trace)) != KY_JSON_BEHIND)
		return token;
	ky_json_reader_again(ky_trace_reader(trace));
	return next(trace);
}

/* One event a line: the first has come. */
static enum ky_json_token read_lines(struct ky_check_trace *trace)
{
	struct ky_check *check = trace->reading.check;
	const struct ky_check_place place = trace->reading.event.place;
	bool is_resumed = false;
	enum ky_json_token token;

	ky_check_find(check, KY_NDJSON, place, "%s", "");
	ky_check_mend(check, KY_NDJSON, place, place.byte, 0, "[");
	check->events_end = trace->reading.event.end;
	ky_event_judge(&trace->reading);
	do {
		token = next_line(trace);
		trace->is_whole = token == KY_JSON_END;
		token = read_item(trace, token);
		if (token > KY_JSON_END)
			end_item(trace, is_resumed ? ",\n" : ",");
		is_resumed = token <= KY_JSON_END;
	} while (!is_resumed || resume(trace, 0));
	check->closing =
		(struct ky_check_closing){KY_NDJSON, place, check->events_end, "\n]"};
	return token;
}

enum ky_json_token ky_check_read_document(struct ky_check_trace *trace)
{
	struct ky_check *check = trace->reading.check;
	const struct ky_check_place begin = {1, 0, KY_CHECK_NO_EVENT};
	const bool has_mark = ky_json_reader_skip_mark(ky_trace_reader(trace));
	enum ky_json_token token = next(trace);

	if (has_mark) {
		ky_check_find(check, KY_BYTE_ORDER_MARK, begin, "%s", "");
		trace->begins_well = true;
	}
	/* Without anything behind it, nothing would be left. */
	if (has_mark && token > KY_JSON_END)
		ky_check_mend(check, KY_BYTE_ORDER_MARK, begin, 0, 3, "");
	if (token > KY_JSON_END && !trace->begins_well)
		ky_check_find(check, KY_FIRST_BYTES, ky_trace_place(trace), "%s", "");
	trace->is_array = token == KY_JSON_ARRAY;
	check->format = trace->is_array ? "Chrome trace (array form)" : "Chrome trace";
	if (token == KY_JSON_ARRAY)
		token = read_events(trace);
	else if (token == KY_JSON_OBJECT)
		token = read_object(trace);
	if (token <= KY_JSON_END)
		return token;
	if (trace->is_ndjson)
		return read_lines(trace);
	if (!trace->is_array && trace->lists == 0)
		ky_check_find(check, KY_NO_TRACE_EVENTS, ky_trace_place(trace), "%s", "");
	trace->is_whole = true;
	trace->end = ky_json_reader_end(ky_trace_reader(trace));
	return next(trace);
}
