/* SPDX-License-Identifier: BSD-3-Clause */
#include "number.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

static struct ky_powers powers;

static const char *text_of(char *(*put)(char *at, uint64_t value), uint64_t value)
{
	static char text[KY_NUMBER_SIZE + 1];

	*put(text, value) = '\0';
	return text;
}

static const char *double_text(double value)
{
	static char text[KY_NUMBER_SIZE + 1];

	*ky_put_double(text, value, &powers) = '\0';
	return text;
}

static void integers_of_every_length_are_written_in_full(void **state)
{
	char expected[32], text[KY_NUMBER_SIZE + 1];
	uint64_t value;
	int i;

	(void)state;
	for (value = 0; value < 11000; value++) {
		snprintf(expected, sizeof(expected), "%llu", (unsigned long long)value);
		assert_string_equal(text_of(ky_put_u64, value), expected);
	}
	value = 1;
	for (i = 0; i < 20; i++, value *= 10) {
		snprintf(expected, sizeof(expected), "%llu", (unsigned long long)value);
		assert_string_equal(text_of(ky_put_u64, value), expected);
		snprintf(expected, sizeof(expected), "%llu",
			 (unsigned long long)value - 1);
		assert_string_equal(text_of(ky_put_u64, value - 1), expected);
	}
	assert_string_equal(text_of(ky_put_u64, UINT64_MAX), "18446744073709551615");
	*ky_put_i64(text, INT64_MIN) = '\0';
	assert_string_equal(text, "-9223372036854775808");
	*ky_put_i64(text, -7) = '\0';
	assert_string_equal(text, "-7");
}

static void times_are_microseconds_with_three_decimals(void **state)
{
	(void)state;
	assert_string_equal(text_of(ky_put_us, 0), "0.000");
	assert_string_equal(text_of(ky_put_us, 7), "0.007");
	assert_string_equal(text_of(ky_put_us, 999), "0.999");
	assert_string_equal(text_of(ky_put_us, 1000), "1.000");
	assert_string_equal(text_of(ky_put_us, UINT64_C(40600000000381)),
			    "40600000000.381");
	assert_string_equal(text_of(ky_put_us, UINT64_C(999999999999999999)),
			    "999999999999999.999");
}

static const struct {
	double value;
	const char *text;
} doubles[] = {
	{0.0, "0"},
	{-0.0, "-0.0"},
	{1.0, "1"},
	{-3.0, "-3"},
	{2048.0, "2048"},
	{0.1, "0.1"},
	{0.3, "0.3"},
	{0.1 + 0.2, "0.30000000000000004"},
	{1.25, "1.25"},
	{-12.5, "-12.5"},
	{100.5, "100.5"},
	{1.0 / 3, "0.3333333333333333"},
	{2.0 / 3, "0.6666666666666666"},
	{123456.789, "123456.789"},
	{9007199254740991.0, "9007199254740991"},
	{9007199254740992.0, "9.007199254740992e+15"},
	{1e16, "1.0e+16"},
	{1e22, "1.0e+22"},
	{1e23, "1.0e+23"},
	{1e300, "1.0e+300"},
	{DBL_MAX, "1.7976931348623157e+308"},
	{DBL_MIN, "2.2250738585072014e-308"},
	{4.9406564584124654e-324, "5.0e-324"},
	{0.0001, "0.0001"},
	{1e-5, "0.00001"},
	{1e-17, "0.00000000000000001"},
	{1e-18, "1.0e-18"},
	{1.2345678901234567e-05, "1.2345678901234568e-05"},
	{0.00012345678901234567, "1.2345678901234567e-04"},
	{0.03030303120613098, "0.03030303120613098"},
	{5e-7, "0.0000005"},
	{299792458.123, "299792458.123"},
	{2251799813685248.5, "2251799813685248.5"},
	{8.41e21, "8.41e+21"},
	{9.5367431640625e-07, "9.5367431640625e-07"},
	{2.0 * 4503599627370497.0, "9.007199254740994e+15"},
};

static void doubles_have_their_shortest_digits(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(doubles) / sizeof(doubles[0]); i++)
		assert_string_equal(double_text(doubles[i].value), doubles[i].text);
}

/* A reader gathers digits in 64 bits: at most 18 on either side of the point. */
static void check_form(const char *text)
{
	const char *point = strchr(text, '.');
	size_t fraction;

	if (!point) {
		assert_true(strlen(text) <= 17);
		assert_null(strchr(text, 'e'));
		return;
	}
	fraction = strspn(point + 1, "0123456789");
	assert_true(fraction >= 1 && fraction <= 17);
	assert_true(point > text && point - text <= 18);
}

static void any_double_reads_back_as_itself(void **state)
{
	uint64_t seed = UINT64_C(88172645463325252);
	int i;

	(void)state;
	for (i = 0; i < 300000; i++) {
		double value, back;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		if (i % 3 == 0)
			memcpy(&value, &seed, sizeof(value));
		else if (i % 3 == 1)
			value = (double)(seed % 1000000) / 1000.0;
		else
			value = (double)(float)((double)(seed >> 20) / 1234567.0);
		if (!(value <= DBL_MAX && value >= -DBL_MAX))
			continue;
		check_form(double_text(value));
		back = strtod(double_text(value), NULL);
		assert_memory_equal(&back, &value, sizeof(value));
	}
}

static int set_up(void **state)
{
	(void)state;
	ky_powers_init(&powers);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_of_every_length_are_written_in_full),
		cmocka_unit_test(times_are_microseconds_with_three_decimals),
		cmocka_unit_test(doubles_have_their_shortest_digits),
		cmocka_unit_test(any_double_reads_back_as_itself),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
