/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <string.h>

#include "base/str.h"

static const struct kymo_str none = {NULL, 0};

static void a_text_is_what_has_its_size_and_bytes(void **state)
{
	(void)state;
	assert_true(ky_str_is(KYMO_STR("all"), "all"));
	assert_false(ky_str_is(KYMO_STR("all"), "al"));
	assert_false(ky_str_is(KYMO_STR("all"), "alls"));
	assert_false(ky_str_is(KYMO_STR("al\0"), "al"));
	assert_true(ky_str_is(none, ""));
	assert_false(ky_str_is(none, "a"));
}

static void letters_are_the_same_in_any_case_and_nothing_else_is(void **state)
{
	(void)state;
	assert_true(ky_str_is_any_case(KYMO_STR("aLL_Z"), "AlL_z"));
	assert_false(ky_str_is_any_case(KYMO_STR("[a"), "{a"));
	assert_false(ky_str_is_any_case(KYMO_STR("@"), "`"));
	assert_false(ky_str_is_any_case(KYMO_STR("al"), "all"));
	assert_false(ky_str_is_any_case(KYMO_STR("al\0"), "al"));
	assert_true(ky_str_is_any_case(none, ""));
}

static void a_text_begins_with_no_more_than_it_has(void **state)
{
	(void)state;
	assert_true(ky_str_begins(KYMO_STR("KYMO_X"), "KYMO_"));
	assert_true(ky_str_begins(KYMO_STR("KYMO_"), "KYMO_"));
	assert_false(ky_str_begins((struct kymo_str){"KYMO_", 4}, "KYMO_"));
	assert_true(ky_str_begins(none, ""));
	assert_false(ky_str_begins(none, "K"));
}

static void blanks_are_trimmed_at_both_ends_only(void **state)
{
	const struct kymo_str text = ky_str_trim(KYMO_STR(" \ta \tb\t "));

	(void)state;
	assert_int_equal(text.size, 4);
	assert_memory_equal(text.data, "a \tb", 4);
	assert_int_equal(ky_str_trim(KYMO_STR(" \t ")).size, 0);
	assert_int_equal(ky_str_trim(none).size, 0);
}

static void what_is_quoted_is_one_line_of_a_certain_length(void **state)
{
	char out[KY_QUOTE_SIZE], text[KY_QUOTE_SIZE];

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_string_equal(ky_quote(out, KYMO_STR("a\nb\x7f\0c")), "a?b??c");
	assert_string_equal(ky_quote(out, none), "");
	assert_int_equal(
		strlen(ky_quote(out, (struct kymo_str){text, KY_QUOTE_SIZE - 1})),
		KY_QUOTE_SIZE - 1);
	ky_quote(out, (struct kymo_str){text, KY_QUOTE_SIZE});
	assert_int_equal(strlen(out), KY_QUOTE_SIZE - 1);
	assert_string_equal(out + KY_QUOTE_SIZE - 4, "...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_is_what_has_its_size_and_bytes),
		cmocka_unit_test(letters_are_the_same_in_any_case_and_nothing_else_is),
		cmocka_unit_test(a_text_begins_with_no_more_than_it_has),
		cmocka_unit_test(blanks_are_trimmed_at_both_ends_only),
		cmocka_unit_test(what_is_quoted_is_one_line_of_a_certain_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
