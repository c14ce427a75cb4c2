/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The common part of all wrapped enqueues. Hot: no allocation once the queue's memory is
 * warm, and one uncontended lock.
 */
#include "enqueue.h"

#include <errno.h>

#include "span.h"

/* The queue with its track in this session; NULL: its commands cannot be followed. */
static struct ky_queue *find_prepared(cl_command_queue handle)
{
	struct ky_queue *queue = ky_queue_find(handle);

	if (!queue)
		return NULL;
	if (KYMO_UNLIKELY(atomic_load_explicit(&queue->epoch, memory_order_acquire) !=
			  atomic_load_explicit(&ky_state.epoch, memory_order_relaxed)))
		ky_queue_prepare(queue);
	return atomic_load_explicit(&queue->track, memory_order_relaxed) ? queue : NULL;
}

void ky_enqueue_begin(struct ky_enqueue *enqueue, enum ky_call call,
		      cl_command_queue handle, cl_event *event)
{
	const int saved_errno = errno;
	struct ky_queue *queue = NULL;

	enqueue->is_lost = 0;
	if (ky_state.is_wanted[ky_call_descs[call].type]) {
		queue = find_prepared(handle);
		enqueue->is_lost = !queue;
	}
	enqueue->queue = queue;
	enqueue->event = event || !queue ? event : &enqueue->own_event;
	enqueue->command.call = call;
	enqueue->command.bytes = KY_BYTES_UNKNOWN;
	enqueue->command.name = ky_state.command_name[call];
	enqueue->command.attributes = queue ? queue->attributes : 0;
	errno = saved_errno;
	enqueue->command.enter = ky_state.host->now();
}

void ky_enqueue_returned(struct ky_enqueue *enqueue, cl_int error)
{
	enqueue->command.exit = ky_state.host->now();
	enqueue->saved_errno = errno;
	enqueue->error = error;
}

/* Keeps the command until it is complete, or counts it as lost. */
static void keep_command(struct ky_enqueue *enqueue, cl_bool is_blocking)
{
	struct ky_queue *queue = enqueue->queue;
	const cl_icd_dispatch *target = &queue->layer->target;
	struct ky_command *command = &enqueue->command;
	int is_due;

	command->u.event = *enqueue->event;
	command->track = queue->track;
	command->epoch = atomic_load_explicit(&queue->epoch, memory_order_relaxed);
	/* The program owns what it asked for, so that needs a second reference. */
	if (enqueue->event != &enqueue->own_event &&
	    target->clRetainEvent(command->u.event) != CL_SUCCESS) {
		ky_state.host->lost(ky_state.source, KYMO_LOST_UNTIMED, 1);
		return;
	}
	if (!ky_command_put(queue, command, &is_due)) {
		target->clReleaseEvent(command->u.event);
		ky_state.host->lost(ky_state.source, KYMO_LOST_PENDING, 1);
		return;
	}
	if (is_blocking || is_due)
		ky_command_drain(queue);
}

void ky_enqueue_end(struct ky_enqueue *enqueue, const struct ky_layer *layer,
		    cl_command_queue handle, cl_bool is_blocking)
{
	struct ky_command *command = &enqueue->command;

	command->correlation = 0;
	if (enqueue->error == CL_SUCCESS && enqueue->queue) {
		command->correlation =
			1 + atomic_fetch_add_explicit(&ky_state.last_correlation, 1,
						      memory_order_relaxed);
	} else if (enqueue->error == CL_SUCCESS && enqueue->is_lost) {
		/* Nobody may hold an event of this one, but the next can be followed. */
		if (!ky_queue_find(handle))
			ky_queue_adopt(layer, handle);
		ky_state.host->lost(ky_state.source, KYMO_LOST_UNTIMED, 1);
	}
	ky_span_emit((enum ky_call)command->call, command->enter, command->exit,
		     enqueue->error, command->correlation);
	if (command->correlation)
		keep_command(enqueue, is_blocking);
	errno = enqueue->saved_errno;
}
