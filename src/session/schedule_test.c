/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/schedule.h"

#include "support/test.h"

#define IDLE       KY_SCHEDULE_IDLE
#define WAITING    KY_SCHEDULE_WAITING
#define WARMING_UP KY_SCHEDULE_WARMING_UP
#define RECORDING  KY_SCHEDULE_RECORDING
#define PROCESSING KY_SCHEDULE_PROCESSING

struct pair {
	enum ky_schedule_state state;
	enum ky_schedule_trigger trigger;
	enum ky_schedule_state next;
	enum ky_schedule_action action;
};

/* Every pair there is; the contract, in the words of request.h. */
static const struct pair pairs[] = {
	{IDLE, KY_TRIGGER_SUBMIT, WAITING, KY_ACTION_ARM},
	{IDLE, KY_TRIGGER_DUE, IDLE, KY_ACTION_REFUSE},
	{IDLE, KY_TRIGGER_CANCEL, IDLE, KY_ACTION_REFUSE},
	{IDLE, KY_TRIGGER_PREEMPT, IDLE, KY_ACTION_NONE},
	{IDLE, KY_TRIGGER_FAIL, IDLE, KY_ACTION_REFUSE},
	{IDLE, KY_TRIGGER_SAVED, IDLE, KY_ACTION_REFUSE},

	{WAITING, KY_TRIGGER_SUBMIT, WAITING, KY_ACTION_REFUSE},
	{WAITING, KY_TRIGGER_DUE, WARMING_UP, KY_ACTION_PREPARE},
	{WAITING, KY_TRIGGER_CANCEL, IDLE, KY_ACTION_END},
	{WAITING, KY_TRIGGER_PREEMPT, IDLE, KY_ACTION_END},
	{WAITING, KY_TRIGGER_FAIL, WAITING, KY_ACTION_REFUSE},
	{WAITING, KY_TRIGGER_SAVED, WAITING, KY_ACTION_REFUSE},

	{WARMING_UP, KY_TRIGGER_SUBMIT, WARMING_UP, KY_ACTION_REFUSE},
	{WARMING_UP, KY_TRIGGER_DUE, RECORDING, KY_ACTION_START},
	{WARMING_UP, KY_TRIGGER_CANCEL, IDLE, KY_ACTION_DISCARD},
	{WARMING_UP, KY_TRIGGER_PREEMPT, IDLE, KY_ACTION_DISCARD},
	{WARMING_UP, KY_TRIGGER_FAIL, IDLE, KY_ACTION_DISCARD},
	{WARMING_UP, KY_TRIGGER_SAVED, WARMING_UP, KY_ACTION_REFUSE},

	{RECORDING, KY_TRIGGER_SUBMIT, RECORDING, KY_ACTION_REFUSE},
	{RECORDING, KY_TRIGGER_DUE, PROCESSING, KY_ACTION_STOP},
	{RECORDING, KY_TRIGGER_CANCEL, IDLE, KY_ACTION_DISCARD},
	{RECORDING, KY_TRIGGER_PREEMPT, PROCESSING, KY_ACTION_STOP},
	{RECORDING, KY_TRIGGER_FAIL, IDLE, KY_ACTION_DISCARD},
	{RECORDING, KY_TRIGGER_SAVED, RECORDING, KY_ACTION_REFUSE},

	{PROCESSING, KY_TRIGGER_SUBMIT, PROCESSING, KY_ACTION_REFUSE},
	{PROCESSING, KY_TRIGGER_DUE, PROCESSING, KY_ACTION_REFUSE},
	{PROCESSING, KY_TRIGGER_CANCEL, IDLE, KY_ACTION_DISCARD},
	{PROCESSING, KY_TRIGGER_PREEMPT, PROCESSING, KY_ACTION_NONE},
	{PROCESSING, KY_TRIGGER_FAIL, IDLE, KY_ACTION_DISCARD},
	{PROCESSING, KY_TRIGGER_SAVED, IDLE, KY_ACTION_END},
};

static void every_pair_of_state_and_trigger_does_what_the_contract_says(void **state)
{
	(void)state;
	assert_int_equal(sizeof(pairs) / sizeof(pairs[0]),
			 KY_SCHEDULE_STATES * KY_TRIGGER_COUNT);
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const struct pair *pair = &pairs[i];
		struct ky_schedule schedule = {.state = pair->state};
		enum ky_schedule_action action =
			ky_schedule_handle(&schedule, pair->trigger);

		if (action != pair->action || schedule.state != pair->next)
			fail_msg("%s, trigger %d: action %d, then %s",
				 ky_schedule_state_name(pair->state), pair->trigger,
				 action, ky_schedule_state_name(schedule.state));
	}
}

static struct ky_schedule submitted(struct ky_schedule_plan plan)
{
	struct ky_schedule schedule = {.state = IDLE};

	assert_int_equal(ky_schedule_submit(&schedule, &plan), KY_ACTION_ARM);
	return schedule;
}

static void each_point_is_due_once_and_not_before(void **state)
{
	struct ky_schedule schedule =
		submitted((struct ky_schedule_plan){.warm = 10, .start = 20, .end = 30});
	int64_t point = 0;

	(void)state;
	assert_true(ky_schedule_next(&schedule, &point));
	assert_int_equal(point, 10);
	assert_int_equal(ky_schedule_advance(&schedule, 9), KY_ACTION_NONE);
	assert_int_equal(ky_schedule_advance(&schedule, 10), KY_ACTION_PREPARE);
	assert_int_equal(ky_schedule_advance(&schedule, 10), KY_ACTION_NONE);
	assert_int_equal(ky_schedule_advance(&schedule, 20), KY_ACTION_START);
	assert_int_equal(ky_schedule_advance(&schedule, 29), KY_ACTION_NONE);
	assert_int_equal(ky_schedule_advance(&schedule, 30), KY_ACTION_STOP);
	assert_int_equal(ky_schedule_advance(&schedule, 31), KY_ACTION_NONE);
	assert_false(ky_schedule_next(&schedule, &point));
}

static void whoever_comes_late_catches_up_step_by_step(void **state)
{
	struct ky_schedule schedule =
		submitted((struct ky_schedule_plan){.warm = 10, .start = 20, .end = 30});

	(void)state;
	assert_int_equal(ky_schedule_advance(&schedule, 100), KY_ACTION_PREPARE);
	assert_int_equal(ky_schedule_advance(&schedule, 100), KY_ACTION_START);
	assert_int_equal(ky_schedule_advance(&schedule, 100), KY_ACTION_STOP);
}

static void a_late_start_moves_the_end_unless_its_moment_was_asked_for(void **state)
{
	struct ky_schedule floating = submitted((struct ky_schedule_plan){
		.is_floating = 1, .warm = 10, .start = 20, .end = 30});
	struct ky_schedule fixed =
		submitted((struct ky_schedule_plan){.warm = 10, .start = 20, .end = 30});
	int64_t point = 0;

	(void)state;
	ky_schedule_advance(&floating, 25);
	assert_int_equal(ky_schedule_advance(&floating, 25), KY_ACTION_START);
	assert_true(ky_schedule_next(&floating, &point));
	assert_int_equal(point, 35);
	ky_schedule_advance(&fixed, 25);
	assert_int_equal(ky_schedule_advance(&fixed, 25), KY_ACTION_START);
	assert_true(ky_schedule_next(&fixed, &point));
	assert_int_equal(point, 30);
}

static void a_second_submit_leaves_the_first_plan_alone(void **state)
{
	struct ky_schedule schedule =
		submitted((struct ky_schedule_plan){.warm = 10, .start = 20, .end = 30});
	const struct ky_schedule_plan second = {.warm = 1, .start = 2, .end = 3};
	int64_t point = 0;

	(void)state;
	assert_int_equal(ky_schedule_submit(&schedule, &second), KY_ACTION_REFUSE);
	assert_true(ky_schedule_next(&schedule, &point));
	assert_int_equal(point, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			every_pair_of_state_and_trigger_does_what_the_contract_says),
		cmocka_unit_test(each_point_is_due_once_and_not_before),
		cmocka_unit_test(whoever_comes_late_catches_up_step_by_step),
		cmocka_unit_test(
			a_late_start_moves_the_end_unless_its_moment_was_asked_for),
		cmocka_unit_test(a_second_submit_leaves_the_first_plan_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
