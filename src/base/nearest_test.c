/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <string.h>

#include "base/nearest.h"

static const char *const words[] = {"record", "export", "info", "KYMO_BUFFER_SIZE"};

/* What is found for `typed` among the words; "" for nothing. */
static const char *find(const char *typed)
{
	static struct ky_nearest nearest;

	nearest = (struct ky_nearest){.word = {typed, strlen(typed)}};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ky_nearest_offer(&nearest, words[i]);
	return ky_nearest_found(&nearest) ? ky_nearest_found(&nearest) : "";
}

static void a_word_with_a_third_of_it_wrong_is_found(void **state)
{
	(void)state;
	assert_string_equal(find("recrod"), "record");
	assert_string_equal(find("xport"), "export");
	assert_string_equal(find("infos"), "info");
	assert_string_equal(find("rcd"), "record");
}

static void the_case_does_not_count(void **state)
{
	(void)state;
	assert_string_equal(find("Kymo_bufer_size"), "KYMO_BUFFER_SIZE");
}

static void what_is_near_to_nothing_finds_nothing(void **state)
{
	(void)state;
	assert_string_equal(find("something_else"), "");
	assert_string_equal(find(""), "");
}

static void
a_word_that_is_too_far_does_not_stand_in_front_of_one_that_is_near(void **state)
{
	struct ky_nearest nearest = {.word = {"abcdefgh", 8}};

	(void)state;
	ky_nearest_offer(&nearest, "abcdef"); /* 2, of 3 that it may be */
	ky_nearest_offer(&nearest, "h");      /* 7, of 1 */
	assert_string_equal(ky_nearest_found(&nearest), "abcdef");
	nearest = (struct ky_nearest){.word = {"abcd", 4}};
	ky_nearest_offer(&nearest, "xy");             /* 4, of 1 */
	ky_nearest_offer(&nearest, "abcdxxyyxxyyzz"); /* 10, of 5 */
	ky_nearest_offer(&nearest, "abcdefgh");       /* 4, of 3 */
	assert_null(ky_nearest_found(&nearest));
	ky_nearest_offer(&nearest, "abcdefg"); /* 3, of 3 */
	assert_string_equal(ky_nearest_found(&nearest), "abcdefg");
}

static void words_that_are_too_long_are_passed_over(void **state)
{
	char typed[KY_NEAREST_MAX + 2], longest[KY_NEAREST_MAX + 2];
	struct ky_nearest nearest = {.word = {typed, KY_NEAREST_MAX}};

	(void)state;
	memset(typed, 'x', sizeof(typed));
	memset(longest, 'x', sizeof(longest));
	longest[KY_NEAREST_MAX + 1] = '\0';
	ky_nearest_offer(&nearest, longest);
	assert_null(ky_nearest_found(&nearest));
	longest[KY_NEAREST_MAX] = '\0';
	ky_nearest_offer(&nearest, longest);
	assert_string_equal(ky_nearest_found(&nearest), longest);
	nearest = (struct ky_nearest){.word = {typed, KY_NEAREST_MAX + 1}};
	ky_nearest_offer(&nearest, longest);
	assert_null(ky_nearest_found(&nearest));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_word_with_a_third_of_it_wrong_is_found),
		cmocka_unit_test(the_case_does_not_count),
		cmocka_unit_test(what_is_near_to_nothing_finds_nothing),
		cmocka_unit_test(
			a_word_that_is_too_far_does_not_stand_in_front_of_one_that_is_near),
		cmocka_unit_test(words_that_are_too_long_are_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
