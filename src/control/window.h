/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a recording takes of the program's life, by time. All processes rest from the
 * first moment until the delay is over, and are stopped when the duration is; each step
 * is a command that they obey, as those of others are. Ranges are the processes' own
 * affair.
 *
 *     closed -> open -> closing -> over
 */
#ifndef KYMO_CONTROL_WINDOW_H
#define KYMO_CONTROL_WINDOW_H

#include "control/reception.h"

#define KY_WINDOW_CLOSED  0u /* the delay is not over, or it has none and rests */
#define KY_WINDOW_OPEN    1u
#define KY_WINDOW_CLOSING 2u /* who records has been told to stop */
#define KY_WINDOW_OVER    3u

struct ky_window {
	struct ky_reception *reception;
	uint64_t delay_ns, duration_ns;
	const char *range; /* or NULL */
	uint32_t rests;    /* 1: until somebody orders otherwise */
	uint32_t state;    /* KY_WINDOW_* */
	uint64_t begun_ns; /* when the program was started; CLOCK_MONOTONIC */
	uint64_t closed_ns;
	uint64_t stop;        /* number of the command at the end */
	uint32_t not_stopped; /* processes that did not obey it */
	char plan[384];       /* what was asked for, for people; "": all */
};

/* Before any capture is made: those are to be at rest if the program begins so. */
void ky_window_plan(struct ky_window *window, const struct kymo_recorder_options *options,
		    struct ky_reception *reception);

/* The program has started. */
void ky_window_begin(struct ky_window *window);

/* Does what is due; milliseconds until something is, or -1. */
int ky_window_expire(struct ky_window *window);

/* Whether there is nothing more to record, though the program may go on. */
int ky_window_is_over(const struct ky_window *window);

/*
 * What became of it: one line for people, "" if all was recorded. `is_empty`: nothing was
 * recorded at all, not even the mark that a range is.
 */
void ky_window_tell(const struct ky_window *window, int is_empty, char *out, size_t size);

#endif
