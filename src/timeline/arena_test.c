/* SPDX-License-Identifier: BSD-3-Clause */
/* The arena gives memory that nobody else has. */
#include "timeline/arena.h"

#include <string.h>

#include "support/test.h"

static void pieces_do_not_overlap_and_are_aligned(void **state)
{
	struct ky_arena arena = {NULL, 0, 0};
	uint8_t *pieces[400];

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < 400; i++) {
			pieces[i] = ky_arena_take(&arena, i * 7);
			assert_int_equal((uintptr_t)pieces[i] % 16, 0);
			memset(pieces[i], (int)(i & 0xff), i * 7);
		}
		for (size_t i = 0; i < 400; i++) {
			for (size_t j = 0; j < i * 7; j++)
				assert_int_equal(pieces[i][j], i & 0xff);
		}
		ky_arena_reset(&arena);
	}
	ky_arena_clear(&arena);
	ky_arena_clear(&arena);
}

static void a_piece_can_be_larger_than_a_block(void **state)
{
	struct ky_arena arena = {NULL, 0, 0};
	uint8_t *large = ky_arena_take_zeroed(&arena, 1000000);

	(void)state;
	assert_int_equal(large[0] | large[999999], 0);
	memset(large, 1, 1000000);
	assert_non_null(ky_arena_take(&arena, 10));
	ky_arena_reset(&arena);
	assert_non_null(ky_arena_take(&arena, 10));
	assert_null(ky_arena_take(&arena, SIZE_MAX));
	ky_arena_clear(&arena);
}

static void text_is_formatted(void **state)
{
	struct ky_arena arena = {NULL, 0, 0};
	struct kymo_str text = ky_arena_format(&arena, "(unknown %s %d)", "name", 17);

	(void)state;
	assert_int_equal(text.size, 17);
	assert_string_equal(text.data, "(unknown name 17)");
	ky_arena_clear(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_do_not_overlap_and_are_aligned),
		cmocka_unit_test(a_piece_can_be_larger_than_a_block),
		cmocka_unit_test(text_is_formatted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
