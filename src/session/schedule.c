/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/schedule.h"

struct transition {
	enum ky_schedule_state next;
	enum ky_schedule_action action;
};

/* What does not stand here leaves the state as it is, and is refused. */
static const struct transition table[KY_SCHEDULE_STATES][KY_TRIGGER_COUNT] = {
	[KY_SCHEDULE_IDLE] =
		{
			[KY_TRIGGER_SUBMIT] = {KY_SCHEDULE_WAITING, KY_ACTION_ARM},
			[KY_TRIGGER_PREEMPT] = {KY_SCHEDULE_IDLE, KY_ACTION_NONE},
		},
	[KY_SCHEDULE_WAITING] =
		{
			[KY_TRIGGER_DUE] = {KY_SCHEDULE_WARMING_UP, KY_ACTION_PREPARE},
			[KY_TRIGGER_CANCEL] = {KY_SCHEDULE_IDLE, KY_ACTION_END},
			[KY_TRIGGER_PREEMPT] = {KY_SCHEDULE_IDLE, KY_ACTION_END},
		},
	[KY_SCHEDULE_WARMING_UP] =
		{
			[KY_TRIGGER_DUE] = {KY_SCHEDULE_RECORDING, KY_ACTION_START},
			[KY_TRIGGER_CANCEL] = {KY_SCHEDULE_IDLE, KY_ACTION_DISCARD},
			[KY_TRIGGER_PREEMPT] = {KY_SCHEDULE_IDLE, KY_ACTION_DISCARD},
			[KY_TRIGGER_FAIL] = {KY_SCHEDULE_IDLE, KY_ACTION_DISCARD},
		},
	[KY_SCHEDULE_RECORDING] =
		{
			[KY_TRIGGER_DUE] = {KY_SCHEDULE_PROCESSING, KY_ACTION_STOP},
			[KY_TRIGGER_CANCEL] = {KY_SCHEDULE_IDLE, KY_ACTION_DISCARD},
			/* What it had so far is kept. */
			[KY_TRIGGER_PREEMPT] = {KY_SCHEDULE_PROCESSING, KY_ACTION_STOP},
			[KY_TRIGGER_FAIL] = {KY_SCHEDULE_IDLE, KY_ACTION_DISCARD},
		},
	[KY_SCHEDULE_PROCESSING] =
		{
			[KY_TRIGGER_SAVED] = {KY_SCHEDULE_IDLE, KY_ACTION_END},
			[KY_TRIGGER_CANCEL] = {KY_SCHEDULE_IDLE, KY_ACTION_DISCARD},
			/*
			 * It is over for the gate already; a session may begin beside it.
			 */
			[KY_TRIGGER_PREEMPT] = {KY_SCHEDULE_PROCESSING, KY_ACTION_NONE},
			[KY_TRIGGER_FAIL] = {KY_SCHEDULE_IDLE, KY_ACTION_DISCARD},
		},
};

static const char *const state_names[KY_SCHEDULE_STATES] = {
	[KY_SCHEDULE_IDLE] = "idle",
	[KY_SCHEDULE_WAITING] = "waiting",
	[KY_SCHEDULE_WARMING_UP] = "warm-up",
	[KY_SCHEDULE_RECORDING] = "recording",
	[KY_SCHEDULE_PROCESSING] = "processing",
};

enum ky_schedule_action ky_schedule_handle(struct ky_schedule *schedule,
					   enum ky_schedule_trigger trigger)
{
	const struct transition *transition = &table[schedule->state][trigger];

	if (transition->action != KY_ACTION_REFUSE)
		schedule->state = transition->next;
	return transition->action;
}

enum ky_schedule_action ky_schedule_submit(struct ky_schedule *schedule,
					   const struct ky_schedule_plan *plan)
{
	const enum ky_schedule_action action =
		ky_schedule_handle(schedule, KY_TRIGGER_SUBMIT);

	if (action == KY_ACTION_ARM)
		schedule->plan = *plan;
	return action;
}

int ky_schedule_next(const struct ky_schedule *schedule, int64_t *point)
{
	switch (schedule->state) {
	case KY_SCHEDULE_WAITING:
		*point = schedule->plan.warm;
		return 1;
	case KY_SCHEDULE_WARMING_UP:
		*point = schedule->plan.start;
		return 1;
	case KY_SCHEDULE_RECORDING:
		*point = schedule->plan.end;
		return 1;
	default:
		return 0;
	}
}

enum ky_schedule_action ky_schedule_advance(struct ky_schedule *schedule, int64_t now)
{
	int64_t point;
	enum ky_schedule_action action;

	if (!ky_schedule_next(schedule, &point) || now < point)
		return KY_ACTION_NONE;
	action = ky_schedule_handle(schedule, KY_TRIGGER_DUE);
	if (action == KY_ACTION_START && schedule->plan.is_floating)
		schedule->plan.end += now - point;
	return action;
}

const char *ky_schedule_state_name(enum ky_schedule_state state)
{
	return state_names[state];
}
