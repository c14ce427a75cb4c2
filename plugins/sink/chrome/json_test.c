/* SPDX-License-Identifier: BSD-3-Clause */
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"

struct memory {
	char *data;
	size_t size;
	int fails;
	int calls;
};

static int32_t keep(void *context, const char *data, size_t size)
{
	struct memory *memory = context;

	memory->calls++;
	if (memory->fails)
		return KYMO_ERROR_IO;
	memory->data = realloc(memory->data, memory->size + size + 1);
	assert_non_null(memory->data);
	memcpy(memory->data + memory->size, data, size);
	memory->size += size;
	memory->data[memory->size] = '\0';
	return KYMO_OK;
}

#define TEXT(literal)                           \
	{                                       \
		"" literal, sizeof(literal) - 1 \
	}

static const struct {
	struct kymo_str in, out;
	unsigned invalid_utf8, nul;
} strings[] = {
	{TEXT(""), TEXT("\"\""), 0, 0},
	{TEXT("a"), TEXT("\"a\""), 0, 0},
	{TEXT("seven c"), TEXT("\"seven c\""), 0, 0},
	{TEXT("exactly8"), TEXT("\"exactly8\""), 0, 0},
	{TEXT("nine char"), TEXT("\"nine char\""), 0, 0},
	{TEXT("\"quoted\""), TEXT("\"\\\"quoted\\\"\""), 0, 0},
	{TEXT("C:\\dir"), TEXT("\"C:\\\\dir\""), 0, 0},
	{TEXT("\b\f\n\r\t"), TEXT("\"\\b\\f\\n\\r\\t\""), 0, 0},
	{TEXT("\x01\x1f\x7f"), TEXT("\"\\u0001\\u001f\x7f\""), 0, 0},
	{TEXT("/slash/"), TEXT("\"/slash/\""), 0, 0},
	{TEXT("a\0b"),
	 TEXT("\"a\xe2\x90\x80"
	      "b\""),
	 0, 1},
	{TEXT("\0\0\0\0\0\0\0\0\0"),
	 TEXT("\"\xe2\x90\x80\xe2\x90\x80\xe2\x90\x80\xe2\x90\x80\xe2\x90\x80\xe2\x90\x80"
	      "\xe2\x90\x80\xe2\x90\x80\xe2\x90\x80\""),
	 0, 9},
	{TEXT("\xc3\xa9t\xc3\xa9"), TEXT("\"\xc3\xa9t\xc3\xa9\""), 0, 0},
	{TEXT("\xf0\x9f\x98\x80"), TEXT("\"\xf0\x9f\x98\x80\""), 0, 0},
	{TEXT("\xff"), TEXT("\"\xef\xbf\xbd\""), 1, 0},
	{TEXT("\xc0\x80"), TEXT("\"\xef\xbf\xbd\xef\xbf\xbd\""), 2, 0}, /* overlong */
	{TEXT("\xed\xa0\x80"), TEXT("\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""), 3,
	 0}, /* half */
	{TEXT("\xf4\x90\x80\x80"),
	 TEXT("\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""), 4,
	 0},                                                    /* > U+10FFFF */
	{TEXT("ok\xe2\x82"), TEXT("\"ok\xef\xbf\xbd\""), 1, 0}, /* cut: one piece */
	{TEXT("\xe2\x82"
	      "A"),
	 TEXT("\"\xef\xbf\xbd"
	      "A\""),
	 1, 0},
	{TEXT("\x80\xbf"), TEXT("\"\xef\xbf\xbd\xef\xbf\xbd\""), 2, 0},
	{TEXT("\xe2\x80\xa8"), TEXT("\"\xe2\x80\xa8\""), 0, 0}, /* line separator */
	{TEXT("</script><!--"), TEXT("\"</script><!--\""), 0, 0},
	{TEXT("plain then \x80 bad"), TEXT("\"plain then \xef\xbf\xbd bad\""), 1, 0},
};

static void strings_have_only_what_readers_take(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		struct memory memory = {0};
		struct ky_json json;

		assert_int_equal(ky_json_init(&json, keep, &memory), KYMO_OK);
		ky_json_string(&json, strings[i].in);
		assert_int_equal(ky_json_flush(&json), KYMO_OK);
		assert_int_equal(memory.size, strings[i].out.size);
		assert_memory_equal(memory.data, strings[i].out.data, memory.size);
		assert_int_equal(json.invalid_utf8, strings[i].invalid_utf8);
		assert_int_equal(json.nul, strings[i].nul);
		ky_json_fini(&json);
		free(memory.data);
	}
}

static void a_string_of_any_length_goes_through(void **state)
{
	const size_t size = 3000000;
	char *text = malloc(size);
	struct memory memory = {0};
	struct ky_json json;

	(void)state;
	assert_non_null(text);
	memset(text, 1, size); /* each becomes six bytes */
	assert_int_equal(ky_json_init(&json, keep, &memory), KYMO_OK);
	ky_json_string(&json, (struct kymo_str){text, size});
	assert_int_equal(ky_json_flush(&json), KYMO_OK);
	assert_int_equal(memory.size, 6 * size + 2);
	assert_memory_equal(memory.data + 1, "\\u0001\\u0001", 12);
	assert_int_equal(memory.data[memory.size - 1], '"');
	ky_json_fini(&json);
	free(memory.data);
	free(text);
}

/* Wherever pieces of a long text meet, characters must not be torn. */
static void a_byte_that_is_escaped_is_found_at_every_place(void **state)
{
	static const struct {
		char byte;
		const char *out;
	} cases[] = {{'"', "\\\""},
		     {'\\', "\\\\"},
		     {'\x1f', "\\u001f"},
		     {'\n', "\\n"},
		     {'\x80', "\xef\xbf\xbd"},
		     {'\xff', "\xef\xbf\xbd"},
		     {'\x7f', "\x7f"},
		     {' ', " "}};
	char in[50], expected[60];
	struct memory memory = {0};
	size_t i, size, place;
	struct ky_json json;

	(void)state;
	assert_int_equal(ky_json_init(&json, keep, &memory), KYMO_OK);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size = 1; size < sizeof(in); size++) {
			for (place = 0; place < size; place++) {
				memset(in, 'a', size);
				in[place] = cases[i].byte;
				snprintf(expected, sizeof(expected), "\"%.*s%s%.*s\"",
					 (int)place, in, cases[i].out,
					 (int)(size - place - 1), in + place + 1);
				memory.size = 0;
				ky_json_string(&json, (struct kymo_str){in, size});
				ky_json_flush(&json);
				assert_string_equal(memory.data, expected);
			}
		}
	}
	ky_json_fini(&json);
	free(memory.data);
}

static void characters_are_whole_at_every_place(void **state)
{
	char text[5000];
	size_t shift, i;

	(void)state;
	for (shift = 0; shift < 16; shift++) {
		struct memory memory = {0};
		struct ky_json json;

		memset(text, 'x', shift);
		for (i = shift; i + 3 <= sizeof(text); i += 3)
			memcpy(text + i, "\xe2\x82\xac", 3);
		assert_int_equal(ky_json_init(&json, keep, &memory), KYMO_OK);
		ky_json_string(&json, (struct kymo_str){text, i});
		assert_int_equal(ky_json_flush(&json), KYMO_OK);
		assert_int_equal(json.invalid_utf8, 0);
		assert_int_equal(memory.size, i + 2);
		assert_memory_equal(memory.data + 1, text, i);
		ky_json_fini(&json);
		free(memory.data);
	}
}

static void a_failed_write_is_remembered_and_nothing_more_is_written(void **state)
{
	struct memory memory = {.fails = 1};
	struct ky_json json;
	int i;

	(void)state;
	assert_int_equal(ky_json_init(&json, keep, &memory), KYMO_OK);
	for (i = 0; i < 1000000; i++)
		ky_json_u64(&json, UINT64_MAX);
	assert_int_equal(json.status, KYMO_ERROR_IO);
	assert_int_equal(ky_json_flush(&json), KYMO_ERROR_IO);
	assert_int_equal(memory.calls, 1);
	ky_json_fini(&json);
}

static void what_is_not_finite_is_null(void **state)
{
	struct memory memory = {0};
	struct ky_json json;

	(void)state;
	assert_int_equal(ky_json_init(&json, keep, &memory), KYMO_OK);
	json.at = ky_json_put_double(&json, json.at, INFINITY);
	json.at = ky_json_put_double(&json, json.at, -INFINITY);
	json.at = ky_json_put_double(&json, json.at, NAN);
	assert_int_equal(ky_json_flush(&json), KYMO_OK);
	assert_string_equal(memory.data, "nullnullnull");
	ky_json_fini(&json);
	free(memory.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings_have_only_what_readers_take),
		cmocka_unit_test(a_string_of_any_length_goes_through),
		cmocka_unit_test(a_byte_that_is_escaped_is_found_at_every_place),
		cmocka_unit_test(characters_are_whole_at_every_place),
		cmocka_unit_test(
			a_failed_write_is_remembered_and_nothing_more_is_written),
		cmocka_unit_test(what_is_not_finite_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
