/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every wrapped enqueue does around the real one: begin, (the real call), returned,
 * end. The host span is exactly the real call; what we do stands outside of it.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENCL_ENQUEUE_H
#define KYMO_PLUGINS_SOURCE_OPENCL_ENQUEUE_H

#include "command.h"
#include "queue.h"

/* An enqueue under way, on the caller's stack. */
struct ky_enqueue {
	struct ky_queue *queue; /* NULL: not to be recorded, or not known yet */
	cl_event *event;        /* what the real call gets: the program's, or own_event */
	cl_event own_event;
	cl_int error;
	int saved_errno;
	int is_lost; /* to be recorded, but the queue is unknown or without a track */
	struct ky_command command;
};

/* Sees to it that there will be an event, and notes the time. */
void ky_enqueue_begin(struct ky_enqueue *enqueue, enum ky_call call,
		      cl_command_queue handle, cl_event *event);

/* The real call is back. After it, name, bytes and attributes may be filled in. */
void ky_enqueue_returned(struct ky_enqueue *enqueue, cl_int error);

/*
 * Records the call and keeps the command. A blocking call has waited for its command,
 * so that one's times are read at once. Leaves errno as the real call did.
 */
void ky_enqueue_end(struct ky_enqueue *enqueue, const struct ky_layer *layer,
		    cl_command_queue handle, cl_bool is_blocking);

/*
 * The body of a wrapped enqueue: its parameters are called `queue` and `event`, the rest
 * is what the function takes before `event`. `byte_count` and `blocking` are evaluated
 * after the call, the former only if it succeeded.
 */
#define KY_ENQUEUE(call, byte_count, blocking, function, ...)                          \
	do {                                                                           \
		struct ky_enqueue enqueue;                                             \
                                                                                       \
		if (!ky_state_is_recording())                                          \
			return (function)(__VA_ARGS__, event);                         \
		ky_enqueue_begin(&enqueue, call, queue, event);                        \
		ky_enqueue_returned(&enqueue, (function)(__VA_ARGS__, enqueue.event)); \
		if (enqueue.error == CL_SUCCESS)                                       \
			enqueue.command.bytes = (byte_count);                          \
		ky_enqueue_end(&enqueue, KY_LAYER, queue, blocking);                   \
		return enqueue.error;                                                  \
	} while (0)

#endif
