/* SPDX-License-Identifier: BSD-3-Clause */
#include "json_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Hands out a text in pieces of a given size. */
struct source {
	const char *data;
	size_t size, at, piece;
	int fails;
};

static ptrdiff_t fill(void *context, void *buffer, size_t size, char *reason)
{
	struct source *source = context;
	size_t got = source->size - source->at;

	if (source->fails && source->at > 0) {
		snprintf(reason, KY_JSON_REASON_SIZE, "the disk is on fire");
		return -1;
	}
	got = got < source->piece ? got : source->piece;
	got = got < size ? got : size;
	memcpy(buffer, source->data + source->at, got);
	source->at += got;
	return (ptrdiff_t)got;
}

/* All tokens in one text: "{k:s" for an object with a key and a string. */
static const char *read_all(struct ky_json_reader *reader, char out[4096])
{
	static const char names[] = "?{}[]\0\0\0tfz";
	enum ky_json_token token;
	size_t used = 0;

	assert_non_null(reader);
	out[0] = '\0';
	while ((token = ky_json_reader_next(reader)) > KY_JSON_END && used < 3000) {
		const char *text = ky_json_reader_text(reader, NULL);

		if (token == KY_JSON_KEY)
			used += (size_t)snprintf(out + used, 4096 - used, "<%s>", text);
		else if (token == KY_JSON_STRING)
			used += (size_t)snprintf(out + used, 4096 - used, "\"%s\"", text);
		else if (token == KY_JSON_NUMBER)
			used += (size_t)snprintf(out + used, 4096 - used, "%s;", text);
		else
			out[used++] = names[token];
		out[used] = '\0';
	}
	if (token == KY_JSON_ERROR)
		snprintf(out, 4096, "%llu:%llu: %s",
			 (unsigned long long)ky_json_reader_line(reader),
			 (unsigned long long)ky_json_reader_byte(reader),
			 ky_json_reader_error(reader));
	assert_int_equal(ky_json_reader_next(reader), token); /* the end stays the end */
	ky_json_reader_destroy(reader);
	return out;
}

static const char *tokens_of(struct source *source, char out[4096])
{
	return read_all(ky_json_reader_create(fill, source), out);
}

static const struct {
	const char *in, *out;
} documents[] = {
	{"{}", "{}"},
	{" [ ] \n", "[]"},
	{"null", "z"},
	{"-0.5e+3", "-0.5e+3;"},
	{"\"\"", "\"\""},
	{"{\"a\":[1,2,{\"b\":null}],\"c\":true}", "{<a>[1;2;{<b>z}]<c>t}"},
	{"[\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\n\\/\"]",
	 "[\"A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n/\"]"},
	{"[\"\xf0\x9f\x98\x80\x7f\"]", "[\"\xf0\x9f\x98\x80\x7f\"]"},
	{"[0,10,1.25,1E5,-1e-2]", "[0;10;1.25;1E5;-1e-2;]"},

	{"", "1:0: ends early, a value is missing"},
	{"{", "1:1: ends early, a key is missing"},
	{"[1,", "1:3: ends early, a value is missing"},
	{"[1 2]", "1:3: '2' where ',' or ']' should be"},
	{"[1,]", "1:3: ']' where a value should be"},
	{"{\"a\":1,}", "1:7: '}' where a key should be"},
	{"{\"a\" 1}", "1:5: '1' where a colon should be"},
	{"{a:1}", "1:1: 'a' where a key should be"},
	{"[}", "1:1: '}' where a value should be"},
	{"{]", "1:1: ']' where a key should be"},
	{"[1]\n\nx", "3:5: 'x' where the end should be"},
	{"[NaN]", "1:1: 'N' where a value should be"},
	{"[\n nul]", "2:6: ']' where true, false or null should be"},
	{"[01]", "1:2: a number with a leading zero"},
	{"[1.]", "1:3: ']' where a digit should be"},
	{"[.5]", "1:1: '.' where a value should be"},
	{"[+5]", "1:1: '+' where a value should be"},
	{"[-]", "1:2: ']' where a digit should be"},
	{"[1e]", "1:3: ']' where a digit should be"},
	{"[\"a", "1:3: ends within a string"},
	{"[\"a\nb\"]",
	 "1:3: byte 0x0a where a printable character of a string should be"},
	{"[\"\\x\"]", "1:3: 'x' where the rest of an escape should be"},
	{"[\"\\u12g4\"]", "1:6: 'g' where a hexadecimal digit should be"},
	{"[\"\\ud83d\"]", "1:8: half a surrogate pair in a string"},
	{"[\"\\ude00\"]", "1:8: half a surrogate pair in a string"},
	{"[\"\xff\"]", "1:2: byte 0xff where UTF-8 should be"},
	{"[\"\xc3\"]", "1:3: '\"' where the rest of a UTF-8 character should be"},
	{"[\"\xed\xa0\x80\"]",
	 "1:3: byte 0xa0 where the rest of a UTF-8 character should be"},
	{"\xef\xbb\xbf{}", "1:0: byte 0xef where a value should be"},
};

/* With the buffer ending at every place, since tokens must survive that. */
static void documents_are_taken_or_refused_with_the_place(void **state)
{
	char out[4096];
	size_t i, piece;

	(void)state;
	for (i = 0; i < COUNT(documents); i++) {
		for (piece = 1; piece < 9; piece++) {
			struct source source = {
				.data = documents[i].in,
				.size = strlen(documents[i].in),
				.piece = piece,
			};

			assert_string_equal(tokens_of(&source, out), documents[i].out);
		}
	}
}

/* " kind@byte+size=mend" for each. */
static void note_problem(void *context, const struct ky_json_problem *problem)
{
	static const char *const kinds[] = {
		[KY_JSON_CONTROL] = "control",     [KY_JSON_ESCAPE] = "escape",
		[KY_JSON_SURROGATE] = "surrogate", [KY_JSON_NUL] = "nul",
		[KY_JSON_UTF8] = "utf8",           [KY_JSON_NON_FINITE] = "infinite",
		[KY_JSON_ODD_NUMBER] = "number",   [KY_JSON_ODD_WORD] = "word",
		[KY_JSON_END_COMMA] = "end",       [KY_JSON_TWO_COMMAS] = "two",
		[KY_JSON_NO_COMMA] = "none",
	};
	char *out = context;
	const size_t used = strlen(out);

	snprintf(out + used, 4096 - used, " %s@%llu+%llu=%s", kinds[problem->kind],
		 (unsigned long long)problem->byte, (unsigned long long)problem->size,
		 problem->mend ? problem->mend : "?");
}

static const struct {
	const char *in, *out, *problems;
} broken[] = {
	{"[1,]", "[1;]", " end@2+1="},
	{"[,1]", "[1;]", " end@1+1="},
	{"[1,,2]", "[1;2;]", " two@3+1="},
	{"[1,,]", "[1;]", " two@3+1= end@2+1="},
	{"{\"a\":1,}", "{<a>1;}", " end@6+1="},
	{"[1 2{}\"x\"]", "[1;2;{}\"x\"]", " none@3+0=, none@4+0=, none@6+0=,"},
	{"[NaN,-Infinity,N/A]", "[zzz]",
	 " infinite@1+3=null infinite@5+9=null infinite@15+3=null"},
	{"[100.,.5,+5,007,-.5]", "[100;0.5;5;7;-0.5;]",
	 " number@1+4=100 number@6+2=0.5 number@9+2=5 number@12+3=7 number@16+3=-0.5"},
	{"[1_000,1e]", "[zz]", " number@1+5=? number@7+2=?"},
	{"[True]", "[z]", " word@1+4=?"},
	{"[\"a\nb\tc\x01\"]", "[\"a\nb\tc\x01\"]",
	 " control@3+1=\\n control@5+1=\\t control@7+1=\\u0001"},
	{"[\"a\\qb\\u12g\"]", "[\"a\\qb\\u12g\"]", " escape@3+1=\\\\ escape@6+1=\\\\"},
	{"[\"\\ud83d\\ude00\"]", "[\"\xf0\x9f\x98\x80\"]",
	 " surrogate@2+12=\xf0\x9f\x98\x80"},
	{"[\"\\ud83dx\\ude00\"]", "[\"\xef\xbf\xbdx\xef\xbf\xbd\"]",
	 " surrogate@2+6=\xef\xbf\xbd surrogate@9+6=\xef\xbf\xbd"},
	{"[\"\\ud83d\\n\"]", "[\"\xef\xbf\xbd\n\"]", " surrogate@2+6=\xef\xbf\xbd"},
	{"[\"\xff\xc3(\"]", "[\"\xef\xbf\xbd\xef\xbf\xbd(\"]",
	 " utf8@2+1=\xef\xbf\xbd utf8@3+1=\xef\xbf\xbd"},
	{"[\"a", "1:3: ends within a string", ""},
	{"[1", "1:2: ends early, a value is missing", ""},
	{"[1]x", "1:3: 'x' where the end should be", ""},
	{"{(1}", "1:1: '(' where a key should be", ""},
	{"[}", "1:1: '}' where a value should be", ""},
};

static void a_lenient_reader_tells_what_it_reads_on_from(void **state)
{
	char out[4096], problems[4096];
	size_t i, piece;

	(void)state;
	for (i = 0; i < COUNT(broken); i++) {
		for (piece = 1; piece < 9; piece++) {
			struct source source = {
				.data = broken[i].in,
				.size = strlen(broken[i].in),
				.piece = piece,
			};
			struct ky_json_reader *reader =
				ky_json_reader_create(fill, &source);

			problems[0] = '\0';
			ky_json_reader_set_lenient(reader, note_problem, problems);
			assert_string_equal(read_all(reader, out), broken[i].out);
			assert_string_equal(problems, broken[i].problems);
		}
	}
}

static void reading_goes_on_at_a_line_that_begins_an_item(void **state)
{
	static const char text[] = "[{},\n {\"a\": (\n  {\"b\": 1}\n]";
	struct source source = {.data = text, .size = sizeof(text) - 1, .piece = 3};
	struct ky_json_reader *reader = ky_json_reader_create(fill, &source);
	char problems[4096] = "", out[4096];

	(void)state;
	while (ky_json_reader_next(reader) > KY_JSON_END)
		;
	assert_int_equal(ky_json_reader_failure(reader), KY_JSON_SYNTAX);
	assert_true(ky_json_reader_resume(reader, 1));
	ky_json_reader_set_lenient(reader, note_problem, problems);
	assert_string_equal(read_all(reader, out), "{<b>1;}]");
	assert_string_equal(problems, "");
}

static void what_stands_behind_can_be_read_as_another_document(void **state)
{
	struct source source = {.data = "[1]\n{}", .size = 6, .piece = 9};
	struct ky_json_reader *reader = ky_json_reader_create(fill, &source);
	char out[4096];

	(void)state;
	while (ky_json_reader_next(reader) > KY_JSON_END)
		;
	assert_int_equal(ky_json_reader_failure(reader), KY_JSON_BEHIND);
	ky_json_reader_again(reader);
	assert_string_equal(read_all(reader, out), "{}");
}

static void a_zero_byte_in_a_string_is_kept(void **state)
{
	struct source source = {.data = "\"a\\u0000b\"", .size = 10, .piece = 100};
	struct ky_json_reader *reader = ky_json_reader_create(fill, &source);
	const char *text;
	size_t size;

	(void)state;
	assert_int_equal(ky_json_reader_next(reader), KY_JSON_STRING);
	text = ky_json_reader_text(reader, &size);
	assert_int_equal(size, 3);
	assert_memory_equal(text, "a\0b", 4);
	ky_json_reader_destroy(reader);
}

static void brackets_may_be_nested_up_to_the_limit(void **state)
{
	char text[2 * KY_JSON_DEPTH_MAX + 3], out[4096];
	struct source source = {.data = text, .piece = 100};

	(void)state;
	memset(text, '[', KY_JSON_DEPTH_MAX);
	memset(text + KY_JSON_DEPTH_MAX, ']', KY_JSON_DEPTH_MAX);
	source.size = 2 * KY_JSON_DEPTH_MAX;
	assert_int_equal(strlen(tokens_of(&source, out)), 2 * KY_JSON_DEPTH_MAX);
	memset(text, '[', KY_JSON_DEPTH_MAX + 1);
	source.at = 0;
	assert_string_equal(tokens_of(&source, out),
			    "1:512: more than 512 brackets are open");
}

static void a_long_string_is_checked_but_cut(void **state)
{
	const size_t size = KY_JSON_TEXT_MAX + 1000;
	char *text = malloc(size + 2);
	struct source source = {.data = text, .size = size + 2, .piece = 7777};
	struct ky_json_reader *reader = ky_json_reader_create(fill, &source);
	size_t kept;

	(void)state;
	memset(text, 'x', size + 2);
	text[0] = text[size + 1] = '"';
	assert_int_equal(ky_json_reader_next(reader), KY_JSON_STRING);
	ky_json_reader_text(reader, &kept);
	assert_int_equal(kept, KY_JSON_TEXT_MAX);
	assert_int_equal(ky_json_reader_next(reader), KY_JSON_END);
	ky_json_reader_destroy(reader);
	free(text);
}

static void skipping_passes_over_one_value(void **state)
{
	static const char text[] =
		"{\"a\":{\"x\":[1,{}]},\"b\":7,\"c\":[[],2],\"d\":\"end\"}";
	struct source source = {.data = text, .size = sizeof(text) - 1, .piece = 3};
	struct ky_json_reader *reader = ky_json_reader_create(fill, &source);

	(void)state;
	assert_int_equal(ky_json_reader_next(reader), KY_JSON_OBJECT);
	assert_int_equal(ky_json_reader_next(reader), KY_JSON_KEY);
	assert_int_equal(ky_json_reader_skip(reader, KY_JSON_KEY), KY_JSON_OBJECT_END);
	assert_int_equal(ky_json_reader_next(reader), KY_JSON_KEY);
	assert_string_equal(ky_json_reader_text(reader, NULL), "b");
	assert_int_equal(ky_json_reader_skip(reader, KY_JSON_KEY), KY_JSON_NUMBER);
	assert_int_equal(ky_json_reader_next(reader), KY_JSON_KEY);
	assert_int_equal(ky_json_reader_next(reader), KY_JSON_ARRAY);
	assert_int_equal(ky_json_reader_skip(reader, KY_JSON_ARRAY), KY_JSON_ARRAY_END);
	assert_int_equal(ky_json_reader_next(reader), KY_JSON_KEY);
	assert_string_equal(ky_json_reader_text(reader, NULL), "d");
	ky_json_reader_destroy(reader);
}

static void a_read_failure_is_told_as_it_is(void **state)
{
	struct source source = {.data = "[1,2]", .size = 5, .piece = 2, .fails = 1};
	char out[4096];

	(void)state;
	assert_string_equal(tokens_of(&source, out), "1:2: the disk is on fire");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documents_are_taken_or_refused_with_the_place),
		cmocka_unit_test(a_lenient_reader_tells_what_it_reads_on_from),
		cmocka_unit_test(reading_goes_on_at_a_line_that_begins_an_item),
		cmocka_unit_test(what_stands_behind_can_be_read_as_another_document),
		cmocka_unit_test(a_zero_byte_in_a_string_is_kept),
		cmocka_unit_test(brackets_may_be_nested_up_to_the_limit),
		cmocka_unit_test(a_long_string_is_checked_but_cut),
		cmocka_unit_test(skipping_passes_over_one_value),
		cmocka_unit_test(a_read_failure_is_told_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
