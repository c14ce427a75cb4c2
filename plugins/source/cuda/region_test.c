/* SPDX-License-Identifier: BSD-3-Clause */
#include "region.h"

#include "support/test.h"

static uint64_t stacks[8][16]; /* by kind, of the one thread that there is */
static uint32_t depths[8];

static int32_t push(uint32_t kind, uint64_t id)
{
	stacks[kind][depths[kind]++] = id;
	return CUPTI_RC_SUCCESS;
}

static int32_t pop(uint32_t kind, uint64_t *last)
{
	if (depths[kind] == 0)
		return CUPTI_RC_QUEUE_EMPTY;
	*last = stacks[kind][--depths[kind]];
	return CUPTI_RC_SUCCESS;
}

static void each_domain_has_a_stack_of_its_own_as_far_as_there_are_any(void **state)
{
	(void)state;
	ky_region_push(NULL, 40, 1);
	ky_region_push(NULL, 41, 2);
	ky_region_push(NULL, 40, 3);
	assert_int_equal(ky_region_domain(CUPTI_EXTERNAL_CUSTOM0), 40);
	assert_int_equal(ky_region_domain(CUPTI_EXTERNAL_CUSTOM1), 41);
	assert_int_equal(ky_region_domain(1), 0);
	assert_int_equal(ky_region_domain(99), 0);
	assert_int_equal(depths[CUPTI_EXTERNAL_CUSTOM0], 2);
	ky_region_pop(NULL, 40);
	assert_int_equal(depths[CUPTI_EXTERNAL_CUSTOM0], 1);
	ky_region_push(NULL, 42, 4);
	ky_region_push(NULL, 43, 5); /* the fourth: nowhere */
	assert_int_equal(depths[CUPTI_EXTERNAL_CUSTOM2], 1);
}

static void what_an_earlier_session_left_open_is_closed(void **state)
{
	(void)state;
	ky_region_push(NULL, 40, 1);
	atomic_store(&ky_source.epoch, 2);
	ky_region_push(NULL, 40, 7);
	assert_int_equal(depths[CUPTI_EXTERNAL_CUSTOM0], 1);
	assert_int_equal(stacks[CUPTI_EXTERNAL_CUSTOM0][0], 7);
}

static void cupti_is_not_called_while_nothing_is_recorded(void **state)
{
	const uint32_t before = depths[CUPTI_EXTERNAL_CUSTOM0];

	(void)state;
	atomic_store(&ky_source.is_attached, 0);
	ky_region_push(NULL, 40, 1);
	assert_int_equal(depths[CUPTI_EXTERNAL_CUSTOM0], before);
	ky_region_pop(NULL, 40);
	assert_int_equal(depths[CUPTI_EXTERNAL_CUSTOM0], before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			each_domain_has_a_stack_of_its_own_as_far_as_there_are_any),
		cmocka_unit_test(what_an_earlier_session_left_open_is_closed),
		cmocka_unit_test(cupti_is_not_called_while_nothing_is_recorded),
	};

	ky_source.library.ActivityPushExternalCorrelationId = push;
	ky_source.library.ActivityPopExternalCorrelationId = pop;
	ky_source.wants[KY_TYPE_EXTERNAL] = 1;
	atomic_store(&ky_source.is_attached, 1);
	atomic_store(&ky_source.epoch, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
