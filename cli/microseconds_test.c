/* SPDX-License-Identifier: BSD-3-Clause */
#include "microseconds.h"

#include "support/test.h"

#define NO_TIME INT64_MIN

static void microseconds_are_read_to_the_nanosecond(void **state)
{
	static const struct {
		const char *word;
		int64_t ns;
	} words[] = {
		{"0", 0},
		{"1", 1000},
		{"-1", -1000},
		{"1.5", 1500},
		{"0.001", 1},
		{"0.0005", 1},
		{"1.9999", 2000},
		{"1.0004999", 1000},
		{"-0.001", -1},
		{"5120425044023.798", INT64_C(5120425044023798)},
		{"1757000000000009", INT64_C(1757000000000009000)},
		{"1757000000000000.123", INT64_C(1757000000000000123)},
		{"9223372036854775", INT64_C(9223372036854775000)},
		{"9223372036854776", NO_TIME},
		{"-9223372036854776", NO_TIME},
		{"1e3", 1000000},
		{"5.0E2", 500000},
		{"1e-3", 1},
		{"1e30", NO_TIME},
		{"nan", NO_TIME},
		{"", NO_TIME},
		{"-", NO_TIME},
		{"x", NO_TIME},
		{"1x", NO_TIME},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		int64_t ns = 0;
		const bool is_time = ky_us_to_ns(words[i].word, &ns);

		if (is_time != (words[i].ns != NO_TIME) || (is_time && ns != words[i].ns))
			fail_msg("\"%s\": %lld", words[i].word, (long long)ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(microseconds_are_read_to_the_nanosecond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
