/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands that were launched and wait in their queue, each held by its event, until
 * somebody asks and finds it complete; then its record is written.
 *
 * They are asked for, rather than called back: a callback comes from a thread of the
 * driver, costs more, and comes too late at exit. Who asks: every 64th enqueue, and
 * whatever has just waited for the queue.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENCL_COMMAND_H
#define KYMO_PLUGINS_SOURCE_OPENCL_COMMAND_H

#include "layer.h"

struct ky_queue;

/* A command that was launched and is not recorded yet. It owns a reference to event. */
struct ky_command {
	struct ky_command *next;
	union {
		cl_event event;
		struct ky_command *next_chain; /* of the first one in a chain of spares */
	} u;
	uint64_t correlation;
	uint64_t enter, exit; /* host ticks around the call */
	uint64_t bytes;       /* KY_BYTES_UNKNOWN: not said */
	uint32_t name, attributes;
	uint32_t track, epoch;
	uint32_t call;
};

/*
 * Puts a copy into the queue's list, with its event reference. Returns 0 if there is no
 * room: then nothing was taken. is_due: so many wait that a drain is worth its while.
 */
int ky_command_put(struct ky_queue *queue, const struct ky_command *command, int *is_due);

/* Records the queue's commands that are complete. Never waits. */
void ky_command_drain(struct ky_queue *queue);
void ky_command_drain_all(void);
/* Those of one context, which their events keep alive. */
void ky_command_drain_context(cl_context context);
/* Those of queues that were released with commands in flight. */
void ky_command_drain_given_up(void);

/*
 * Waits for all commands until deadline_ns (CLOCK_MONOTONIC, 0: not at all), or until
 * nothing moves any more; then records the rest as unfinished and lets go of it.
 */
void ky_command_finish(uint64_t deadline_ns);

/* Tells whether the event is held by a pending command of the queue. */
int ky_command_holds(struct ky_queue *queue, cl_event event);

/* Gives the memory of a queue that is gone to the others. */
void ky_command_trim(struct ky_queue *queue);

/* In a forked child: fresh locks. */
void ky_command_forked(void);

#endif
