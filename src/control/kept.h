/* SPDX-License-Identifier: BSD-3-Clause */
/* The captures that a keeper holds. */
#ifndef KYMO_CONTROL_KEPT_H
#define KYMO_CONTROL_KEPT_H

#include "capture/spool.h"
#include "control/loop.h"

struct ky_kept {
	struct ky_kept *next;
	uint64_t number;
	struct ky_capture capture;
	struct ky_spool_capture *spooled; /* NULL: nothing is in the file yet */
	int pidfd;                        /* -1: no process uses it, as far as we know */
	struct ky_watch watch;            /* of the pidfd */
	ino_t inode;                      /* of the memory */
	int is_commanded;                 /* it was there when a command was given */
	int has_left; /* its process has called exec: nobody is there to obey */
};

/* Zero: none. */
struct ky_kept_list {
	struct ky_kept *first;
	uint32_t count;
};

/*
 * Maps the capture behind `fd`, which is taken, also on failure; `setup` is what it was
 * made with, but for the number.
 */
int32_t ky_kept_add(struct ky_kept_list *list, uint64_t number, int fd,
		    const struct ky_capture_setup *setup, struct ky_kept **out,
		    struct kymo_error *error);
/* Nobody watches its process any more. */
void ky_kept_remove(struct ky_kept_list *list, struct ky_kept *kept);

/* NULL: there is none. */
struct ky_kept *ky_kept_find(const struct ky_kept_list *list, uint64_t number);
/* One that no program uses. */
struct ky_kept *ky_kept_find_spare(const struct ky_kept_list *list);
int ky_kept_has_process(const struct ky_kept_list *list);

/* Whether its program has begun to use it. */
int ky_kept_is_opened(const struct ky_kept *kept);

/*
 * KY_END_*, of one whose end we have not been told of; that it is over we may be told
 * first.
 */
uint32_t ky_kept_end_reason(const struct ky_kept *kept);

void ky_kept_command(struct ky_kept_list *list, uint32_t command);

/*
 * Whether somebody is there to obey, and has not obeyed. A capture that was made later
 * has the command from the beginning: who gets that need not be waited for, which would
 * be for ever where processes come all the time.
 */
int ky_kept_is_to_obey(const struct ky_kept_list *list, const struct ky_kept *kept);
uint32_t ky_kept_count_to_obey(const struct ky_kept_list *list);

/* Of those that have not obeyed, finds those that cannot; takes a while. */
void ky_kept_find_left(struct ky_kept_list *list);

/*
 * Takes care that chunks are warm before they are used, of all the fewer the more
 * captures there are: most of those are idle, and what is warm there is memory that
 * nobody uses. How many it was.
 */
uint32_t ky_kept_warm(const struct ky_kept_list *list, struct ky_kept *kept);

/* Makes the file know of it. */
int32_t ky_kept_begin(struct ky_kept *kept, struct ky_spool *spool,
		      struct kymo_error *error);

#endif
