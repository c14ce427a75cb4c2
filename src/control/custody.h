/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The front's side of the keeper: the memory and the process of every capture that is not
 * safely in the file, the keeper itself, and another keeper if that one dies.
 *
 * Nothing here blocks: what the keeper's socket does not take is sent when it does.
 */
#ifndef KYMO_CONTROL_CUSTODY_H
#define KYMO_CONTROL_CUSTODY_H

#include "capture/capture.h"
#include "control/keeper.h"
#include "control/loop.h"

/* A capture. */
struct ky_ward {
	struct ky_ward *next;
	uint64_t number;
	int memory_fd;
	pid_t pid;
	int pidfd;             /* -1: no process has it yet */
	struct ky_watch watch; /* of the pidfd */
	int has_ended;         /* the process */
	int is_released;
	uint32_t release_flags;
	uint32_t unsent; /* what the keeper does not know yet */
};

struct ky_custody {
	struct ky_loop *loop;
	struct ky_keeper_setup keeper_setup;
	struct ky_capture_setup capture_setup; /* of the next capture */
	struct ky_ward *wards;
	pid_t keeper; /* 0: none */
	int keeper_fd;
	struct ky_watch keeper_watch;
	uint32_t unsent;  /* COMMAND, FINISH or ABANDON */
	uint32_t command; /* KY_COMMAND_*, or 0 */
	uint64_t command_number;
	uint32_t finish_flags;
	/*
	 * Told when the processes have obeyed the command of that number, or how many
	 * have not; may be NULL. One that came before then is overtaken.
	 */
	void (*obeyed)(void *owner, uint64_t number, uint32_t not_count);
	void *obeyed_owner;
	uint64_t patience_ns; /* for the keeper's first word; 0: half a minute */
	int is_ready, is_finishing;
	int is_over; /* outcome is there, whatever it is */
	struct ky_outcome outcome;
};

/*
 * Makes a capture in advance and a keeper, and waits until that has warmed it; zero the
 * object before and fill the three first members. An output that cannot be made is an
 * error here, and so is a keeper that does not begin in time. The other functions accept
 * an object for which this has failed.
 */
int32_t ky_custody_open(struct ky_custody *custody, struct kymo_error *error);

/* Lets go of everything; a keeper that is not done goes on by itself. */
void ky_custody_close(struct ky_custody *custody);

/*
 * A capture for the process `pid` behind `pidfd`, which is taken, also on failure. The
 * ward is borrowed until the next step of the loop.
 */
int32_t ky_custody_take_process(struct ky_custody *custody, pid_t pid, int pidfd,
				const struct ky_ward **out, struct kymo_error *error);

/*
 * Makes a capture in advance, if there is none, so that the next process need not wait.
 */
void ky_custody_restock(struct ky_custody *custody);

/* The capture will not be used; KY_RELEASE_IF_UNUSED in `flags`: if it was not opened. */
void ky_custody_release(struct ky_custody *custody, uint64_t number, uint32_t flags);

/* How far the output is that the keeper makes. */
uint32_t ky_custody_percent(const struct ky_custody *custody);

/* How many captures have a process that lives; `*pid`, or NULL, is one of these. */
size_t ky_custody_count_processes(const struct ky_custody *custody, pid_t *pid);

/* Has all processes do what is commanded, also those that come later; its number. */
uint64_t ky_custody_command(struct ky_custody *custody, uint32_t command);

/* No capture will come any more: the output is made, then `is_over`. `flags`:
 * KY_FINISH_*. */
void ky_custody_finish(struct ky_custody *custody, uint32_t flags);

/* The same, and nothing is to be left behind. Waits for the keeper's end. */
void ky_custody_abandon(struct ky_custody *custody);

#endif
