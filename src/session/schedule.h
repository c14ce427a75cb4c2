/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a request is warmed up, recorded and ended: the state machine alone, without
 * clock, thread or session. Its owner says what happened and does what it answers.
 *
 *   IDLE --submit--> WAITING --due--> WARMING_UP --due--> RECORDING --due--> PROCESSING
 *
 *   and back to IDLE
 *       from WAITING     by cancel, pre-empt
 *       from WARMING_UP  by cancel, pre-empt, failure
 *       from RECORDING   by cancel, failure; pre-empt leads to PROCESSING
 *       from PROCESSING  by saved, cancel, failure
 *
 * A schedule goes by time or by iterations: the points at which something is due are
 * either nanoseconds of CLOCK_MONOTONIC or numbers of iterations. It does not matter to
 * the machine which.
 */
#ifndef KYMO_SESSION_SCHEDULE_H
#define KYMO_SESSION_SCHEDULE_H

#include <stdint.h>

enum ky_schedule_state {
	KY_SCHEDULE_IDLE,
	KY_SCHEDULE_WAITING,
	KY_SCHEDULE_WARMING_UP,
	KY_SCHEDULE_RECORDING,
	KY_SCHEDULE_PROCESSING,
	KY_SCHEDULE_STATES
};

enum ky_schedule_trigger {
	KY_TRIGGER_SUBMIT,  /* a plan was made for a request */
	KY_TRIGGER_DUE,     /* the next point of the plan has come */
	KY_TRIGGER_CANCEL,  /* by whoever made the request, or the end of the program */
	KY_TRIGGER_PREEMPT, /* by a session that the program begins itself */
	KY_TRIGGER_FAIL,    /* an action could not be done */
	KY_TRIGGER_SAVED,   /* the trace is written */
	KY_TRIGGER_COUNT
};

enum ky_schedule_action {
	KY_ACTION_REFUSE, /* nothing changes: it does not fit the state */
	KY_ACTION_NONE,
	KY_ACTION_ARM,     /* wait for the first point of the plan */
	KY_ACTION_PREPARE, /* sources are to run, nothing is recorded yet */
	KY_ACTION_START,
	KY_ACTION_STOP,    /* and save */
	KY_ACTION_DISCARD, /* drop what there is of the session, prepared or recorded */
	KY_ACTION_END      /* nothing is left to do but to tell */
};

/* By `warm` the sources run, from `start` on is recorded, at `end` no more. */
struct ky_schedule_plan {
	uint32_t by_iteration; /* else by time */
	/* The start was not asked for at a point of its own: late, it moves the end. */
	uint32_t is_floating;
	int64_t warm, start, end;
};

struct ky_schedule {
	enum ky_schedule_state state;
	struct ky_schedule_plan plan; /* undefined while IDLE */
};

/* Changes the state as the table says, and gives what is to be done now. */
enum ky_schedule_action ky_schedule_handle(struct ky_schedule *schedule,
					   enum ky_schedule_trigger trigger);

/* SUBMIT with a plan, which is not looked at where that is refused. */
enum ky_schedule_action ky_schedule_submit(struct ky_schedule *schedule,
					   const struct ky_schedule_plan *plan);

/* The point at which something is due next; 0 if nothing ever is in this state. */
int ky_schedule_next(const struct ky_schedule *schedule, int64_t *point);

/*
 * Time or iterations have come to `now`: DUE if the next point is reached, once; call it
 * until it gives NONE, for several may be.
 */
enum ky_schedule_action ky_schedule_advance(struct ky_schedule *schedule, int64_t now);

const char *ky_schedule_state_name(enum ky_schedule_state state);

#endif
