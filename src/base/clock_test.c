/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <sched.h>

#include "base/clock.h"

static void a_bound_encloses_the_ticks_of_the_monotonic_clock(void **state)
{
	struct ky_clock_bound bound = ky_clock_bound(KY_CLOCK_MONOTONIC, 4);

	(void)state;
	assert_true(bound.monotonic_lo <= bound.ticks);
	assert_true(bound.ticks <= bound.monotonic_hi);
	assert_true(bound.realtime > 1700000000000000000u);
}

static void the_chosen_ticks_never_run_backwards(void **state)
{
	uint32_t kind = ky_clock_choose();
	uint64_t last = ky_ticks_of(kind);

	(void)state;
	assert_in_range(kind, KY_CLOCK_MONOTONIC, KY_CLOCK_CNTVCT);
	assert_int_equal(ky_clock_choose(), kind);
	for (int i = 0; i < 100000; i++) {
		uint64_t now = ky_ticks_of(kind);

		assert_true(now >= last);
		last = now;
	}
}

static void choosing_leaves_the_affinity_of_the_caller_alone(void **state)
{
	cpu_set_t before, after;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	ky_clock_choose();
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bound_encloses_the_ticks_of_the_monotonic_clock),
		cmocka_unit_test(choosing_leaves_the_affinity_of_the_caller_alone),
		cmocka_unit_test(the_chosen_ticks_never_run_backwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
