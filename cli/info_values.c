/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was said of the whole trace. Each value is kept as JSON: of a trace as it stands
 * there, of a capture as a trace would have it; and of all only so much, whatever the
 * file holds.
 */
#include "info_values.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

#define EXACT_MAX (UINT64_C(1) << 53) /* what readers' numbers hold of integers */

/* ---- A value in the making ---- */

struct writer {
	const struct ky_info *info;
	FILE *out;
	char *json;
	size_t size;
	bool is_full;
};

static void begin(struct writer *writer, const struct ky_info *info)
{
	*writer = (struct writer){.info = info};
	writer->out = open_memstream(&writer->json, &writer->size);
	if (!writer->out)
		exit(ky_say_error(KY_EXIT_FAILED, "out of memory"));
}

/* Whether there is room for what is written so far. */
static bool has_room(struct writer *writer)
{
	const long size = ftell(writer->out);

	writer->is_full |=
		size < 0 || (size_t)size > KY_INFO_VALUES_MAX - writer->info->value_bytes;
	return !writer->is_full;
}

/* Keeps it under `key`, which is taken; or counts it as left out. */
static void end(struct writer *writer, struct ky_info *info, char *key)
{
	struct ky_info_value *value;

	writer->is_full |= info->value_count >= KY_INFO_KEPT_MAX;
	has_room(writer);
	if (fclose(writer->out) != 0)
		exit(ky_say_error(KY_EXIT_FAILED, "out of memory"));
	if (writer->is_full) {
		info->left_out++;
		free(key);
		free(writer->json);
		return;
	}
	info->values =
		ky_info_append(info->values, &info->value_count, sizeof(*info->values));
	value = &info->values[info->value_count - 1];
	value->key = key;
	value->json = writer->json;
	info->value_bytes += writer->size;
}

/* ---- Of a trace ---- */

static void put_token(struct ky_trace *trace, enum ky_json_token token, FILE *out)
{
	static const char *const words[] = {
		[KY_JSON_OBJECT] = "{",  [KY_JSON_OBJECT_END] = "}",
		[KY_JSON_ARRAY] = "[",   [KY_JSON_ARRAY_END] = "]",
		[KY_JSON_TRUE] = "true", [KY_JSON_FALSE] = "false",
		[KY_JSON_NULL] = "null",
	};
	size_t size;
	const char *text;

	if (token != KY_JSON_KEY && token != KY_JSON_STRING && token != KY_JSON_NUMBER) {
		fputs(words[token], out);
		return;
	}
	text = ky_json_reader_text(trace->reader, &size);
	if (token == KY_JSON_NUMBER)
		fputs(text, out);
	else
		ky_say_json_text(out, text, size);
	if (token == KY_JSON_KEY)
		fputs(": ", out);
}

/* Copies one value, as far as there is room; its last token. */
static enum ky_json_token copy_value(struct ky_trace *trace, struct writer *writer)
{
	enum ky_json_token token, before = KY_JSON_KEY;
	unsigned depth = 0;

	do {
		token = ky_trace_next(trace);
		if (token <= KY_JSON_END)
			return token;
		depth -= token == KY_JSON_OBJECT_END || token == KY_JSON_ARRAY_END;
		if (has_room(writer)) {
			if (before != KY_JSON_KEY && before != KY_JSON_OBJECT &&
			    before != KY_JSON_ARRAY && token != KY_JSON_OBJECT_END &&
			    token != KY_JSON_ARRAY_END)
				fputs(", ", writer->out);
			put_token(trace, token, writer->out);
		}
		depth += token == KY_JSON_OBJECT || token == KY_JSON_ARRAY;
		before = token;
	} while (depth > 0 || token == KY_JSON_KEY);
	return token;
}

bool ky_info_is_value(struct ky_trace *trace)
{
	/*
	 * What is shown elsewhere, says nothing of the run, or is as long as the trace.
	 */
	static const char *const others[] = {
		"schemaVersion", "displayTimeUnit", "metadata",          "traceName",
		"stackFrames",   "samples",         "systemTraceEvents", "traceEvents",
	};
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (ky_trace_is_key(trace, others[i]))
			return false;
	}
	return true;
}

enum ky_json_token ky_info_read_value(struct ky_trace *trace)
{
	char *key = ky_info_copy_name(ky_trace_text(trace), strlen(ky_trace_text(trace)));
	enum ky_json_token token;
	struct writer writer;

	begin(&writer, trace->info);
	token = copy_value(trace, &writer);
	end(&writer, trace->info, key);
	return token;
}

/* ---- Of a capture ---- */

static void put_text(FILE *out, struct kymo_str text)
{
	char *copy = ky_must_copy(text.data, text.size);

	ky_say_json_text(out, copy, text.size);
	free(copy);
}

static void put_i64(FILE *out, int64_t number)
{
	const bool is_exact =
		number <= (int64_t)EXACT_MAX && number >= -(int64_t)EXACT_MAX;

	fprintf(out, is_exact ? "%" PRId64 : "\"%" PRId64 "\"", number);
}

static void put_u64(FILE *out, uint64_t number)
{
	fprintf(out, number <= EXACT_MAX ? "%" PRIu64 : "\"%" PRIu64 "\"", number);
}

/* With as few digits as it takes. */
static void put_double(FILE *out, double number)
{
	char text[32];
	int digits = 15;

	if (!isfinite(number)) {
		fputs("null", out);
		return;
	}
	do
		snprintf(text, sizeof(text), "%.*g", digits, number);
	while (strtod(text, NULL) != number && ++digits <= 17);
	fputs(text, out);
}

static void put_element(FILE *out, const struct kymo_trace_value *value, uint32_t i)
{
	switch (value->type & ~KYMO_VALUE_ARRAY) {
	case KYMO_VALUE_INT64:
		put_i64(out, value->i64_array[i]);
		break;
	case KYMO_VALUE_UINT64:
		put_u64(out, value->u64_array[i]);
		break;
	case KYMO_VALUE_DOUBLE:
		put_double(out, value->f64_array[i]);
		break;
	case KYMO_VALUE_BOOL:
		fputs(value->u64_array[i] ? "true" : "false", out);
		break;
	case KYMO_VALUE_STRING:
	case KYMO_VALUE_CODE:
		put_text(out, value->text_array[i]);
		break;
	default:
		fputs("null", out);
	}
}

static void put_scalar(FILE *out, const struct kymo_trace_value *value)
{
	struct kymo_trace_value one = *value;

	/* The members of the union begin together. */
	one.u64_array = &value->u64;
	put_element(out, &one, 0);
}

static void put_array(struct writer *writer, const struct kymo_trace_value *value)
{
	uint32_t i;

	fputc('[', writer->out);
	for (i = 0; i < value->count && has_room(writer); i++) {
		fputs(i > 0 ? ", " : "", writer->out);
		put_element(writer->out, value, i);
	}
	fputc(']', writer->out);
}

/* Nested as deep as KYMO_NESTED_DEPTH_MAX at most. */
static void put_value(struct writer *writer, const struct kymo_trace_value *value)
{
	const bool is_dict = value->type == KYMO_VALUE_DICT;
	uint32_t i;

	if (!is_dict && value->type != KYMO_VALUE_LIST) {
		if (value->type & KYMO_VALUE_ARRAY)
			put_array(writer, value);
		else
			put_scalar(writer->out, value);
		return;
	}
	fputc(is_dict ? '{' : '[', writer->out);
	for (i = 0; i < value->count && has_room(writer); i++) {
		fputs(i > 0 ? ", " : "", writer->out);
		if (is_dict) {
			put_text(writer->out, value->items[i].key);
			fputs(": ", writer->out);
		}
		put_value(writer, &value->items[i]);
	}
	fputc(is_dict ? '}' : ']', writer->out);
}

void ky_info_take_value(struct ky_info *info, const struct kymo_trace_value *value)
{
	struct writer writer;

	begin(&writer, info);
	put_value(&writer, value);
	end(&writer, info, ky_info_copy_name(value->key.data, value->key.size));
}
