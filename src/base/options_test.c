/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <stddef.h>
#include <string.h>

#include "base/options.h"

/* What this library knows, and what programs of other times have. */
struct known {
	uint32_t struct_size, first;
	uint64_t second, third;
};

struct newer {
	struct known known;
	uint64_t fourth;
};

#define LEAST offsetof(struct known, second)

static int32_t read_known(const void *options, struct known *out)
{
	struct kymo_error error = {0};
	int32_t status = ky_options_read(options, sizeof(*out), LEAST, out, &error);

	assert_int_equal(error.status, status);
	return status;
}

static void options_of_an_older_program_are_taken_with_the_rest_zero(void **state)
{
	struct known options = {.struct_size = offsetof(struct known, third),
				.first = 1,
				.second = 2,
				.third = 3};
	struct known read;

	(void)state;
	assert_int_equal(read_known(&options, &read), KYMO_OK);
	assert_int_equal(read.struct_size, sizeof(read));
	assert_int_equal(read.first, 1);
	assert_int_equal(read.second, 2);
	assert_int_equal(read.third, 0);
	options.struct_size = LEAST;
	assert_int_equal(read_known(&options, &read), KYMO_OK);
	assert_int_equal(read.second, 0);
	options.struct_size = LEAST - 1;
	assert_int_equal(read_known(&options, &read), KYMO_ERROR_INVALID);
}

static void no_options_are_zeros(void **state)
{
	struct known read;

	(void)state;
	memset(&read, 0xff, sizeof(read));
	assert_int_equal(read_known(NULL, &read), KYMO_OK);
	assert_int_equal(read.struct_size, sizeof(read));
	assert_int_equal(read.first, 0);
	assert_int_equal(read.third, 0);
}

static void options_of_a_newer_program_must_not_want_what_is_not_known(void **state)
{
	struct newer options = {.known = {.struct_size = sizeof(options), .third = 3}};
	struct known read;

	(void)state;
	assert_int_equal(read_known(&options, &read), KYMO_OK);
	assert_int_equal(read.struct_size, sizeof(read));
	assert_int_equal(read.third, 3);
	options.fourth = 1;
	assert_int_equal(read_known(&options, &read), KYMO_ERROR_UNSUPPORTED);
}

static void a_result_is_written_as_far_as_it_reaches(void **state)
{
	const struct known whole = {
		.struct_size = sizeof(whole), .first = 1, .second = 2, .third = 3};
	struct newer result = {
		.known = {.struct_size = offsetof(struct known, third), .third = 7},
		.fourth = 8,
	};

	(void)state;
	assert_int_equal(ky_result_check(&result, NULL), KYMO_OK);
	ky_result_write(&result, &whole, sizeof(whole));
	assert_int_equal(result.known.struct_size, offsetof(struct known, third));
	assert_int_equal(result.known.second, 2);
	assert_int_equal(result.known.third, 7);
	result.known.struct_size = sizeof(result);
	ky_result_write(&result, &whole, sizeof(whole));
	assert_int_equal(result.known.struct_size, sizeof(result));
	assert_int_equal(result.known.third, 3);
	assert_int_equal(result.fourth, 8);
	result.known.struct_size = 3;
	assert_int_equal(ky_result_check(&result, NULL), KYMO_ERROR_INVALID);
	assert_int_equal(ky_result_check(NULL, NULL), KYMO_OK);
	ky_result_write(NULL, &whole, sizeof(whole));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			options_of_an_older_program_are_taken_with_the_rest_zero),
		cmocka_unit_test(no_options_are_zeros),
		cmocka_unit_test(
			options_of_a_newer_program_must_not_want_what_is_not_known),
		cmocka_unit_test(a_result_is_written_as_far_as_it_reaches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
