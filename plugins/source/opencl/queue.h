/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's command queues: what it asked for, what we made of it, and the commands
 * that wait for their times.
 *
 * An entry lives for ever and is used again for the same handle, so a look-up takes no
 * lock. It outlasts the program's last reference: events may still lead to the queue.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENCL_QUEUE_H
#define KYMO_PLUGINS_SOURCE_OPENCL_QUEUE_H

#include <pthread.h>

#include "command.h"
#include "device.h"
#include "layer.h"

/* What the program must not see of a queue that we changed. */
struct ky_disguise {
	uint8_t is_hidden;     /* profiling, which it did not ask for */
	uint8_t is_pair_added; /* CL_QUEUE_PROPERTIES, which its list did not have */
	uint8_t is_list_added; /* the whole list, which it did not give */
};

struct ky_queue {
	struct ky_queue *next; /* in its bucket; never changes */
	cl_command_queue _Atomic handle;
	atomic_uint references; /* the program's; 0: given up */

	const struct ky_layer *layer;
	struct ky_device *device;
	cl_context context;
	uint32_t sequence; /* numbers all queues of the process from 1 */
	uint8_t is_in_order;
	struct ky_disguise disguise; /* as created; is_hidden may change, see below */
	atomic_uchar is_hidden;

	/* The host's numbers, valid once `epoch` is the session's. */
	atomic_uint epoch, track, attributes;

	/* Used by whoever has set is_draining. */
	struct ky_anchor anchor;

	pthread_mutex_t lock; /* what stands below */
	struct ky_command *first, *last, *spare;
	size_t count, poll_at;
	int is_draining;
};

/* The entry of a queue, or NULL. Lock-free. */
struct ky_queue *ky_queue_find(cl_command_queue handle);

/*
 * A queue was created (or seen for the first time): makes its entry, whatever the handle
 * stood for before. NULL: out of memory, the queue is not recorded.
 */
struct ky_queue *ky_queue_register(const struct ky_layer *layer, cl_command_queue handle,
				   struct ky_disguise disguise);

/* As register, for a queue whose creation we did not see. */
struct ky_queue *ky_queue_adopt(const struct ky_layer *layer, cl_command_queue handle);

/* The program released a reference. At the last one, memory is given to other queues. */
void ky_queue_release(struct ky_queue *queue);

/* Makes the numbers of a live queue valid for this session; anchors the device. */
void ky_queue_prepare(struct ky_queue *queue);

/*
 * The program has waited for the queue, or gives it up: records what is complete, and
 * anchors the device again where the last time is long ago. The queue must be alive.
 */
void ky_queue_synchronise(struct ky_queue *queue);

/* Calls visit for each entry ever made, also of queues that are gone. */
void ky_queue_visit(void (*visit)(struct ky_queue *queue, void *data), void *data);

/* In a forked child: fresh locks, and the parent's pending commands are forgotten. */
void ky_queue_forked(void);

#endif
