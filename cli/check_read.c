/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A trace of any tool, from its first byte to its last, in memory that does not grow with
 * it: what kind of file it is, and how it ends.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check_fit.h"
#include "check_read.h"
#include "check_repair.h"
#include "say.h"

#define FIRST_BYTES 128 /* in which a reader looks for what it is given */

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

/* An object or a list, behind blanks and a byte order mark. */
static bool begin_as_json(const char *bytes, size_t size)
{
	size_t i = 0;

	if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		i = 3;
	while (i < size && (unsigned char)bytes[i] <= ' ')
		i++;
	return i == size || bytes[i] == '{' || bytes[i] == '[';
}

/* A ky_json_fill_fn that looks at the beginning of what is unpacked. */
static ptrdiff_t fill(void *context, void *buffer, size_t size, char *reason)
{
	struct ky_check_trace *trace = context;
	const ptrdiff_t got = ky_input_read(&trace->input, buffer, size, reason);
	const char *bytes = buffer;

	if (got > 0 && !trace->is_begun) {
		trace->is_begun = true;
		trace->begins_well = begin_well(bytes, (size_t)got);
		trace->is_json = begin_as_json(bytes, (size_t)got);
		trace->is_tar = got > 262 && memcmp(bytes + 257, "ustar", 5) == 0;
	}
	if (got > 0)
		ky_fit_scan(&trace->reading.fit, bytes, (size_t)got);
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

static int refuse_format(const struct ky_check_trace *trace)
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

/* ---- The end ---- */

/* The file is closed behind what came whole of it. */
static void judge_cut(struct ky_check_trace *trace)
{
	struct ky_check *check = trace->reading.check;
	const bool in_events = trace->is_array || check->events_end > trace->sound_end;
	const enum ky_check_kind kind = trace->is_array ? KY_CUT_ARRAY : KY_CUT_OBJECT;
	const struct ky_check_place place = ky_trace_place(trace);

	if (trace->is_whole)
		return;
	ky_check_find(check, kind, place, "%s",
		      ky_json_reader_error(ky_trace_reader(trace)));
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

static void judge_behind(struct ky_check_trace *trace)
{
	struct ky_check *check = trace->reading.check;
	const struct ky_check_place place = ky_trace_place(trace);
	const char *error = ky_json_reader_error(ky_trace_reader(trace));

	if (error[0] == '\'' && (error[1] == '{' || error[1] == '[')) {
		ky_check_find(check, KY_SECOND_DOCUMENT, place, "%s", "");
		return;
	}
	ky_check_find(check, KY_DATA_BEHIND_END, place, "%s", error);
	ky_check_mend(check, KY_DATA_BEHIND_END, place, place.byte, KY_TO_THE_END, "");
}

static void judge_gzip(struct ky_check_trace *trace)
{
	static const enum ky_check_kind kinds[] = {
		[KY_INPUT_CUT] = KY_GZIP_CUT,
		[KY_INPUT_BROKEN] = KY_GZIP_BROKEN,
		[KY_INPUT_BEHIND] = KY_GZIP_BEHIND,
	};
	struct ky_check *check = trace->reading.check;
	const struct ky_check_place place = {ky_json_reader_line(ky_trace_reader(trace)),
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
	/* Blanks even; what else stands there has been told of. */
	if (trace->end > 0 && trace->input.members > 1 &&
	    trace->input.member_begin >= trace->end) {
		ky_check_find(check, KY_GZIP_AFTER_END, place, "%s", "");
		ky_check_mend_form(check, KY_GZIP_AFTER_END);
	}
}

/* 0, or an exit status with an error said. */
static int judge_end(struct ky_check_trace *trace, enum ky_json_token token)
{
	struct ky_check *check = trace->reading.check;

	if (trace->is_tar)
		return refuse_file(check, "an archive (tar)",
				   "unpack it and check its members");
	if (trace->input.damage == KY_INPUT_UNREADABLE)
		return ky_say_error(KY_EXIT_USAGE, "cannot read \"%s\": %s", check->path,
				    strerror(trace->input.number));
	if (ky_json_reader_failure(ky_trace_reader(trace)) == KY_JSON_NO_MEMORY)
		return ky_say_error(KY_EXIT_USAGE, "out of memory");
	if (token != KY_JSON_END) {
		switch (ky_json_reader_failure(ky_trace_reader(trace))) {
		case KY_JSON_CUT:
		case KY_JSON_INPUT:
			judge_cut(trace);
			break;
		case KY_JSON_BEHIND:
			judge_behind(trace);
			break;
		default:
			ky_check_find(check, KY_SYNTAX, ky_trace_place(trace), "%s",
				      ky_json_reader_error(ky_trace_reader(trace)));
		}
	}
	if (trace->input.is_gzip)
		judge_gzip(trace);
	ky_fit_finish(&trace->reading);
	return 0;
}

int ky_check_read_trace(struct ky_check *check)
{
	static struct ky_check_trace trace; /* large */
	int number, status;

	memset(&trace, 0, sizeof(trace));
	number = ky_input_open(&trace.input, check->path);
	if (number != 0)
		return ky_say_error(KY_EXIT_USAGE, "cannot read \"%s\": %s", check->path,
				    ky_input_reason(number));
	trace.reading.check = check;
	trace.reading.reader = ky_json_reader_create(fill, &trace);
	check->is_gzip = trace.input.is_gzip;
	if (!trace.reading.reader) {
		status = ky_say_error(KY_EXIT_USAGE, "out of memory");
		goto out;
	}
	ky_json_reader_set_lenient(ky_trace_reader(&trace), ky_check_tell,
				   &trace.reading);
	status = refuse_format(&trace);
	if (status == 0)
		status = judge_end(&trace, ky_check_read_document(&trace));
	if (status == 0 && trace.is_begun && !trace.is_json && check->events == 0)
		status =
			refuse_file(check, "no JSON, and nothing in it is an event",
				    "it reads Chrome traces (JSON) and captures (.kymo)");
	check->bytes = trace.input.bytes;
out:
	ky_json_reader_destroy(trace.reading.reader);
	ky_input_close(&trace.input);
	return status;
}
