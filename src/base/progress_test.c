/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps make up the whole, and a cancelled one says so. */
#include "base/progress.h"

#include <stddef.h>

#include "support/test.h"

static void steps_lead_up_to_the_whole_and_never_back(void **state)
{
	struct ky_progress progress = {.percent = 0};

	(void)state;
	ky_progress_step(&progress, 20, 4);
	assert_int_equal(ky_progress_percent(&progress), 0);
	for (uint32_t i = 1; i <= 4; i++) {
		assert_int_equal(ky_progress_add(&progress, 1, NULL), KYMO_OK);
		assert_int_equal(ky_progress_percent(&progress), i * 5);
	}
	/* More than was foreseen. */
	assert_int_equal(ky_progress_add(&progress, UINT64_MAX, NULL), KYMO_OK);
	assert_int_equal(ky_progress_percent(&progress), 20);
	ky_progress_step(&progress, 100, UINT64_MAX);
	assert_int_equal(ky_progress_percent(&progress), 20);
	assert_int_equal(ky_progress_add(&progress, UINT64_MAX / 2, NULL), KYMO_OK);
	assert_in_range(ky_progress_percent(&progress), 59, 60);
	ky_progress_finish(&progress);
	assert_int_equal(ky_progress_percent(&progress), 100);
	ky_progress_step(&progress, 100, 0);
	assert_int_equal(ky_progress_add(&progress, 1, NULL), KYMO_OK);
	assert_int_equal(ky_progress_percent(&progress), 100);
}

static void who_cancels_it_ends_it(void **state)
{
	struct ky_progress progress = {.percent = 0};
	struct kymo_error error = {0};

	(void)state;
	ky_progress_step(&progress, 100, 10);
	ky_progress_cancel(&progress);
	assert_int_equal(ky_progress_add(&progress, 1, &error), KYMO_ERROR_CANCELLED);
	assert_string_equal(error.message, "it was cancelled");
	/* Where nobody cares nothing is cancelled. */
	ky_progress_step(NULL, 100, 10);
	assert_int_equal(ky_progress_add(NULL, 1, &error), KYMO_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_lead_up_to_the_whole_and_never_back),
		cmocka_unit_test(who_cancels_it_ends_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
