/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a trace of any tool from its first byte to its last, in memory that does not grow
 * with it. What is no JSON is told of and read on from where that takes no guess: within
 * a text or a number, and from an event that can't be read to the next line that begins
 * one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check_event.h"
#include "check_repair.h"
#include "input.h"
#include "say.h"

#define FIRST_BYTES 128 /* in which a reader looks for what it is given */

struct trace {
	struct ky_check_reading reading; /* first, for the callbacks */
	struct ky_input input;
	bool is_begun, is_tar, begins_well;
	bool is_array, is_whole, is_ndjson;
	uint64_t sound_end; /* the byte behind the last member that came whole */
	unsigned lists;     /* named "traceEvents" */
};

static struct ky_json_reader *reader_of(const struct trace *trace)
{
	return trace->reading.reader;
}

static struct ky_check_place place_of(const struct trace *trace)
{
	return (struct ky_check_place){ky_json_reader_line(reader_of(trace)),
				       ky_json_reader_byte(reader_of(trace)),
				       KY_CHECK_NO_EVENT};
}

static enum ky_json_token next(struct trace *trace)
{
	return ky_json_reader_next(reader_of(trace));
}

static bool is_key(struct trace *trace, const char *key)
{
	return strcmp(ky_json_reader_text(reader_of(trace), NULL), key) == 0;
}

static enum ky_json_token pass_over(struct trace *trace, enum ky_json_token token)
{
	if (token == KY_JSON_OBJECT || token == KY_JSON_ARRAY)
		return ky_json_reader_skip(reader_of(trace), token);
	return token;
}

/* ---- What the file is ---- */

/* Whether it begins with {" or [{", blanks aside. */
static bool begin_well(const char *bytes, size_t size)
{
	char found[4] = "";
	size_t i, used = 0;

	for (i = 0; i < size && i < FIRST_BYTES && used < 3; i++) {
		if (!strchr(" \t\r\n", bytes[i]) || !bytes[i])
			found[used++] = bytes[i];
	}
	return strncmp(found, "{\"", 2) == 0 || strncmp(found, "[{\"", 3) == 0;
}

/* A ky_json_fill_fn that looks at the beginning of what is unpacked. */
static ptrdiff_t fill(void *context, void *buffer, size_t size, char *reason)
{
	struct trace *trace = context;
	const ptrdiff_t got = ky_input_read(&trace->input, buffer, size, reason);
	const char *bytes = buffer;

	if (got > 0 && !trace->is_begun) {
		trace->is_begun = true;
		trace->begins_well = begin_well(bytes, (size_t)got);
		trace->is_tar = got > 262 && memcmp(bytes + 257, "ustar", 5) == 0;
	}
	return got;
}

/* Protobuf begins with the same byte as an empty line. */
static bool is_protobuf(const struct ky_input *input)
{
	size_t i;

	if (input->size < 2 || input->block[0] != '\n')
		return false;
	for (i = 1; i < input->size && i < 64; i++) {
		if (input->block[i] < 0x09 || input->block[i] >= 0x80)
			return true;
	}
	return false;
}

static int refuse_file(const struct ky_check *check, const char *what, const char *help)
{
	return ky_say_error(KY_EXIT_USAGE, "check does not read \"%s\": %s; %s",
			    check->path, what, help);
}

static int refuse_format(const struct trace *trace)
{
	const struct ky_input *input = &trace->input;
	const struct ky_check *check = trace->reading.check;

	if (input->size == 0)
		return ky_say_error(KY_EXIT_USAGE,
				    "cannot read \"%s\": the file is empty", check->path);
	if (input->size >= 4 && memcmp(input->block, "PK\3\4", 4) == 0)
		return refuse_file(check, "an archive (zip)",
				   "unpack it and check its members");
	if (is_protobuf(input))
		return refuse_file(check, "a Perfetto trace (protobuf)",
				   "it reads Chrome traces (JSON) and captures (.kymo)");
	return 0;
}

/* ---- Events ---- */

/* Goes on behind an event that can't be read; false where there is nothing to go on to.
 */
static bool resume(struct trace *trace, unsigned depth)
{
	struct ky_check *check = trace->reading.check;
	const struct ky_check_place place = place_of(trace);
	char reason[KY_JSON_REASON_SIZE];
	const uint64_t from = check->events_end;

	strcpy(reason, ky_json_reader_error(reader_of(trace)));
	trace->reading.level = KY_AT_TOP;
	if (!ky_json_reader_resume(reader_of(trace), depth))
		return false;
	ky_check_find(check, KY_UNREADABLE_EVENT, place, "%s", reason);
	ky_check_mend(check, KY_UNREADABLE_EVENT, place, from,
		      ky_json_reader_end(reader_of(trace)) - from,
		      check->events > 0 ? ",\n" : "\n");
	return true;
}

static enum ky_json_token read_event(struct trace *trace)
{
	enum ky_json_token token;

	ky_event_begin(&trace->reading);
	token = ky_event_read(&trace->reading);
	if (token > KY_JSON_END)
		ky_event_judge(&trace->reading);
	trace->reading.level = KY_AT_TOP;
	return token;
}

/* After `[`, up to and with `]`. */
static enum ky_json_token read_events(struct trace *trace)
{
	struct ky_check *check = trace->reading.check;
	const unsigned depth = ky_json_reader_depth(reader_of(trace));
	enum ky_json_token token;

	check->events_end = ky_json_reader_end(reader_of(trace));
	for (;;) {
		token = next(trace);
		if (token == KY_JSON_ARRAY_END)
			return token;
		if (token == KY_JSON_OBJECT) {
			token = read_event(trace);
		} else if (token > KY_JSON_END) {
			ky_check_find(check, KY_NOT_AN_EVENT, place_of(trace), "%s", "");
			token = pass_over(trace, token);
		}
		if (token > KY_JSON_END)
			check->events_end = ky_json_reader_end(reader_of(trace));
		else if (!resume(trace, depth))
			return token;
	}
}

/* ---- The document ---- */

static enum ky_json_token read_unit(struct trace *trace)
{
	const enum ky_json_token token = next(trace);

	if (token > KY_JSON_END && token != KY_JSON_STRING)
		ky_check_find(trace->reading.check, KY_DISPLAY_UNIT_NO_TEXT,
			      place_of(trace), "%s", "");
	else if (token == KY_JSON_STRING && !is_key(trace, "ms") && !is_key(trace, "ns"))
		ky_check_find(trace->reading.check, KY_DISPLAY_UNIT, place_of(trace),
			      "\"%.40s\"", ky_json_reader_text(reader_of(trace), NULL));
	return pass_over(trace, token);
}

/* One reader looks for the text `"rank": N`, with the blank. */
static enum ky_json_token read_distributed(struct trace *trace)
{
	enum ky_json_token token = next(trace);

	if (token != KY_JSON_OBJECT)
		return pass_over(trace, token);
	while ((token = next(trace)) == KY_JSON_KEY) {
		const bool is_rank = is_key(trace, "rank");
		const uint64_t end = ky_json_reader_end(reader_of(trace));

		token = next(trace);
		if (is_rank && token == KY_JSON_NUMBER &&
		    ky_json_reader_byte(reader_of(trace)) == end)
			ky_check_find(trace->reading.check, KY_RANK_UNSEEN,
				      place_of(trace), "%s", "");
		if (pass_over(trace, token) <= KY_JSON_END)
			return KY_JSON_ERROR;
	}
	return token;
}

static enum ky_json_token read_ledger(struct trace *trace)
{
	char name[64];
	enum ky_json_token token = next(trace);

	if (token != KY_JSON_OBJECT)
		return pass_over(trace, token);
	while ((token = next(trace)) == KY_JSON_KEY) {
		strncpy(name, ky_json_reader_text(reader_of(trace), NULL),
			sizeof(name) - 1);
		name[sizeof(name) - 1] = '\0';
		token = next(trace);
		if (token == KY_JSON_NUMBER)
			ky_check_ledger(
				trace->reading.check, place_of(trace), name,
				strtoull(ky_json_reader_text(reader_of(trace), NULL),
					 NULL, 10));
		if (pass_over(trace, token) <= KY_JSON_END)
			return KY_JSON_ERROR;
	}
	return token;
}

/* What Kymo wrote of itself. */
static enum ky_json_token read_own(struct trace *trace)
{
	enum ky_json_token token = next(trace);

	if (token != KY_JSON_OBJECT)
		return pass_over(trace, token);
	while ((token = next(trace)) == KY_JSON_KEY) {
		if (is_key(trace, "ledger"))
			token = read_ledger(trace);
		else
			token = ky_json_reader_skip(reader_of(trace), KY_JSON_KEY);
		if (token <= KY_JSON_END)
			return KY_JSON_ERROR;
	}
	return token;
}

static enum ky_json_token read_list(struct trace *trace)
{
	struct ky_check *check = trace->reading.check;
	enum ky_json_token token;

	if (trace->lists++ > 0)
		ky_check_find(check, KY_TRACE_EVENTS_TWICE, place_of(trace), "%s", "");
	token = next(trace);
	if (token == KY_JSON_ARRAY)
		return read_events(trace);
	if (token > KY_JSON_END)
		ky_check_find(check, KY_NO_TRACE_EVENTS, place_of(trace),
			      "it is no list");
	return pass_over(trace, token);
}

/* After a key of the outermost object. */
static enum ky_json_token read_top_value(struct trace *trace, bool is_first)
{
	if (is_first && (is_key(trace, "meta") || is_key(trace, "libs") ||
			 is_key(trace, "perfetto_manifest")))
		ky_check_find(trace->reading.check, KY_FOREIGN_FIRST_KEY, place_of(trace),
			      "\"%s\"", ky_json_reader_text(reader_of(trace), NULL));
	if (is_key(trace, "traceEvents"))
		return read_list(trace);
	if (is_key(trace, "displayTimeUnit"))
		return read_unit(trace);
	if (is_key(trace, "distributedInfo"))
		return read_distributed(trace);
	if (is_key(trace, "kymo"))
		return read_own(trace);
	if (trace->lists > 0)
		return ky_json_reader_skip(reader_of(trace), KY_JSON_KEY);
	/* The whole object may be one event, of a file with one a line. */
	return ky_event_read_member(&trace->reading);
}

static enum ky_json_token read_object(struct trace *trace)
{
	enum ky_json_token token;
	bool is_first = true;

	ky_event_begin(&trace->reading);
	trace->reading.level = KY_AT_TOP;
	while ((token = next(trace)) == KY_JSON_KEY) {
		if (read_top_value(trace, is_first) <= KY_JSON_END)
			return KY_JSON_ERROR;
		trace->sound_end = ky_json_reader_end(reader_of(trace));
		is_first = false;
	}
	trace->reading.event.end = ky_json_reader_end(reader_of(trace));
	trace->is_ndjson =
		trace->lists == 0 && ky_event_phase(&trace->reading.event) != '\0';
	return token;
}

/* One event a line: the first has come. */
static enum ky_json_token read_lines(struct trace *trace)
{
	struct ky_check *check = trace->reading.check;
	const struct ky_check_place place = {1, 0, 0};
	enum ky_json_token token;

	ky_check_find(check, KY_NDJSON, place, "%s", "");
	ky_check_mend(check, KY_NDJSON, place, 0, 0, "[");
	check->events_end = trace->reading.event.end;
	ky_event_judge(&trace->reading);
	for (;;) {
		trace->is_whole = true;
		token = next(trace);
		if (token != KY_JSON_ERROR ||
		    ky_json_reader_failure(reader_of(trace)) != KY_JSON_BEHIND)
			break;
		ky_json_reader_again(reader_of(trace));
		token = next(trace);
		if (token != KY_JSON_OBJECT)
			break;
		trace->is_whole = false;
		ky_check_mend_too(check, check->events_end, 0, ",");
		if (read_event(trace) <= KY_JSON_END)
			break;
		check->events_end = ky_json_reader_end(reader_of(trace));
	}
	check->closing =
		(struct ky_check_closing){KY_NDJSON, place, check->events_end, "\n]"};
	return token;
}

static enum ky_json_token read_document(struct trace *trace)
{
	struct ky_check *check = trace->reading.check;
	enum ky_json_token token;

	if (ky_json_reader_skip_mark(reader_of(trace))) {
		const struct ky_check_place place = {1, 0, KY_CHECK_NO_EVENT};

		ky_check_find(check, KY_BYTE_ORDER_MARK, place, "%s", "");
		ky_check_mend(check, KY_BYTE_ORDER_MARK, place, 0, 3, "");
		trace->begins_well = true;
	}
	token = next(trace);
	if (token > KY_JSON_END && !trace->begins_well)
		ky_check_find(check, KY_FIRST_BYTES, place_of(trace), "%s", "");
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
		ky_check_find(check, KY_NO_TRACE_EVENTS, place_of(trace), "%s", "");
	trace->is_whole = true;
	return next(trace);
}

/* ---- The end ---- */

/* The file is closed behind what came whole of it. */
static void judge_cut(struct trace *trace)
{
	struct ky_check *check = trace->reading.check;
	const bool in_events = trace->is_array || check->events_end > trace->sound_end;
	const enum ky_check_kind kind = trace->is_array ? KY_CUT_ARRAY : KY_CUT_OBJECT;
	const struct ky_check_place place = place_of(trace);

	if (trace->is_whole)
		return;
	ky_check_find(check, kind, place, "%s", ky_json_reader_error(reader_of(trace)));
	if (check->closing.text)
		return;
	check->closing = (struct ky_check_closing){
		.kind = kind,
		.place = place,
		.byte = in_events ? check->events_end : trace->sound_end,
		.text = trace->is_array ? "\n]"
			: in_events     ? "\n]}"
					: "}",
	};
	/* Nothing came whole: there is nothing to close. */
	if (check->closing.byte == 0)
		check->closing.text = NULL;
}

static void judge_behind(struct trace *trace)
{
	struct ky_check *check = trace->reading.check;
	const struct ky_check_place place = place_of(trace);
	const char *error = ky_json_reader_error(reader_of(trace));

	if (error[0] == '\'' && (error[1] == '{' || error[1] == '[')) {
		ky_check_find(check, KY_SECOND_DOCUMENT, place, "%s", "");
		return;
	}
	ky_check_find(check, KY_DATA_BEHIND_END, place, "%s", error);
	ky_check_mend(check, KY_DATA_BEHIND_END, place, place.byte, KY_TO_THE_END, "");
}

static void judge_gzip(struct trace *trace)
{
	static const enum ky_check_kind kinds[] = {
		[KY_INPUT_CUT] = KY_GZIP_CUT,
		[KY_INPUT_BROKEN] = KY_GZIP_BROKEN,
		[KY_INPUT_BEHIND] = KY_GZIP_BEHIND,
	};
	struct ky_check *check = trace->reading.check;
	const struct ky_check_place place = {ky_json_reader_line(reader_of(trace)),
					     trace->input.bytes, KY_CHECK_NO_EVENT};

	if (trace->input.damage >= KY_INPUT_CUT) {
		ky_check_find(check, kinds[trace->input.damage], place, "%s", "");
		ky_check_mend_form(check, kinds[trace->input.damage]);
	} else if (trace->input.is_padded) {
		ky_check_find(check, KY_GZIP_BEHIND, place, "zeros");
		ky_check_mend_form(check, KY_GZIP_BEHIND);
	}
	if (trace->input.members > 1) {
		ky_check_find(check, KY_GZIP_MEMBERS, place, "%" PRIu64,
			      trace->input.members);
		ky_check_mend_form(check, KY_GZIP_MEMBERS);
	}
}

/* 0, or an exit status with an error said. */
static int judge_end(struct trace *trace, enum ky_json_token token)
{
	struct ky_check *check = trace->reading.check;

	if (trace->is_tar)
		return refuse_file(check, "an archive (tar)",
				   "unpack it and check its members");
	if (trace->input.damage == KY_INPUT_UNREADABLE)
		return ky_say_error(KY_EXIT_USAGE, "cannot read \"%s\": %s", check->path,
				    strerror(trace->input.number));
	if (token != KY_JSON_END) {
		switch (ky_json_reader_failure(reader_of(trace))) {
		case KY_JSON_CUT:
		case KY_JSON_INPUT:
			judge_cut(trace);
			break;
		case KY_JSON_BEHIND:
			judge_behind(trace);
			break;
		default:
			ky_check_find(check, KY_SYNTAX, place_of(trace), "%s",
				      ky_json_reader_error(reader_of(trace)));
		}
	}
	if (trace->input.is_gzip)
		judge_gzip(trace);
	return 0;
}

int ky_check_read_trace(struct ky_check *check)
{
	static struct trace trace; /* large */
	int number, status;

	memset(&trace, 0, sizeof(trace));
	number = ky_input_open(&trace.input, check->path);
	if (number != 0)
		return ky_say_error(KY_EXIT_USAGE, "cannot read \"%s\": %s", check->path,
				    strerror(number));
	trace.reading.check = check;
	trace.reading.reader = ky_json_reader_create(fill, &trace);
	check->is_gzip = trace.input.is_gzip;
	if (!trace.reading.reader) {
		status = ky_say_error(KY_EXIT_USAGE, "out of memory");
		goto out;
	}
	ky_json_reader_set_lenient(reader_of(&trace), ky_check_tell, &trace.reading);
	status = refuse_format(&trace);
	if (status == 0)
		status = judge_end(&trace, read_document(&trace));
	check->bytes = trace.input.bytes;
out:
	ky_json_reader_destroy(trace.reading.reader);
	ky_input_close(&trace.input);
	return status;
}
