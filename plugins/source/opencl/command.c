/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pending commands of all queues, their memory, and the records they become.
 *
 * A queue's commands are a list under the queue's lock. Whoever drains takes the list
 * out, asks OpenCL without the lock, and puts back what is not complete; a second
 * drainer meanwhile finds is_draining and goes on. So the program's callbacks, which
 * some drivers run inside of what we call, can call us again.
 */
#include "command.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "queue.h"

#define SLAB_COMMANDS 64
#define POLL_COMMANDS 64 /* enqueues between two polls of a queue */
#define SPARE_LIMIT   1024
#define NAP_NS        100000

/*
 * Naps without any command moving after which nothing is expected to: what is left
 * waits for an event of the program that may never come, or was never flushed.
 */
#define STILL_NAPS 200

/* Incomplete commands looked at per drain of an out-of-order queue; others next time. */
#define SCAN_LIMIT 64

/* First and last of a list. */
struct list {
	struct ky_command *first, *last;
};

/* The four stamps of a command, in the device's ticks. */
struct stamps {
	cl_ulong queued, submitted, begin, end;
};

/* A record of up to two lines under construction. */
struct draft {
	union kymo_line line[2];
	uint32_t value_count;
};

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER; /* what stands below */
static struct ky_command *pool;                               /* chains of spares */
static size_t allocated;

static void list_append(struct list *list, struct ky_command *command)
{
	command->next = NULL;
	if (list->last)
		list->last->next = command;
	else
		list->first = command;
	list->last = command;
}

static void list_join(struct list *list, const struct list *tail)
{
	if (!tail->first)
		return;
	if (list->last)
		list->last->next = tail->first;
	else
		list->first = tail->first;
	list->last = tail->last;
}

/* ---- Memory ---- */

/* A chain of spares, from the pool or the heap; NULL: the limit is reached. */
static struct ky_command *take_chain(void)
{
	struct ky_command *chain;

	pthread_mutex_lock(&pool_lock);
	chain = pool;
	if (chain) {
		pool = chain->u.next_chain;
	} else if (allocated + SLAB_COMMANDS <= atomic_load(&ky_state.pending_limit)) {
		chain = calloc(SLAB_COMMANDS, sizeof(*chain));
		if (chain)
			allocated += SLAB_COMMANDS;
		for (size_t i = 0; chain && i + 1 < SLAB_COMMANDS; i++)
			chain[i].next = &chain[i + 1];
	}
	pthread_mutex_unlock(&pool_lock);
	return chain;
}

static void give_chain(struct ky_command *chain)
{
	if (!chain)
		return;
	pthread_mutex_lock(&pool_lock);
	chain->u.next_chain = pool;
	pool = chain;
	pthread_mutex_unlock(&pool_lock);
}

void ky_command_trim(struct ky_queue *queue)
{
	struct ky_command *chain;

	pthread_mutex_lock(&queue->lock);
	chain = queue->spare;
	queue->spare = NULL;
	pthread_mutex_unlock(&queue->lock);
	give_chain(chain);
}

/* ---- Records ---- */

static void start_draft(struct draft *draft, const struct ky_command *command,
			uint16_t flags)
{
	memset(draft, 0, sizeof(*draft));
	draft->line[0].record = (struct kymo_record){
		.kind = KYMO_KIND_SPAN,
		.lines = 1,
		.flags = flags | KYMO_RECORD_TARGET,
		.track = command->track,
		.type = ky_state.type[ky_call_descs[command->call].type],
		.domain = ky_state.domain,
		.name = command->name,
		.correlation = command->correlation,
		.attributes = command->attributes,
	};
}

static void add_value(struct draft *draft, enum ky_key key, uint64_t value)
{
	struct kymo_record *record = &draft->line[0].record;
	struct kymo_record_more *more = &draft->line[1].more;
	const uint32_t at = draft->value_count++;

	if (at < 2) {
		record->key[at] = ky_state.key[key];
		record->value[at] = value;
		return;
	}
	record->lines = 2;
	more->kind = KYMO_KIND_MORE;
	more->key[more->used] = ky_state.key[key];
	more->value[more->used] = value;
	more->used++;
}

static void emit_draft(const struct draft *draft)
{
	ky_state.host->emit(ky_state.source, draft->line, draft->line[0].record.lines);
}

static void add_bytes(struct draft *draft, const struct ky_command *command,
		      uint64_t duration)
{
	double bandwidth;

	if (command->bytes == KY_BYTES_UNKNOWN)
		return;
	add_value(draft, KY_KEY_BYTES, command->bytes);
	if (duration == 0 || !ky_call_descs[command->call].has_rate)
		return;
	bandwidth = (double)command->bytes / (double)duration;
	add_value(draft, KY_KEY_BANDWIDTH, kymo_double_bits(bandwidth));
}

static void emit_timed(struct ky_queue *queue, const struct ky_command *command,
		       const struct stamps *stamps)
{
	const struct kymo_clock_pair pair = {stamps->queued, command->enter,
					     command->exit};
	struct draft draft;

	if (stamps->queued)
		ky_anchor_add(&queue->anchor, queue->device, &pair);
	start_draft(&draft, command, 0);
	draft.line[0].record.begin = stamps->begin;
	draft.line[0].record.end = stamps->end;
	add_bytes(&draft, command, stamps->end - stamps->begin);
	if (stamps->queued)
		add_value(&draft, KY_KEY_QUEUED, stamps->queued);
	if (stamps->submitted)
		add_value(&draft, KY_KEY_SUBMITTED, stamps->submitted);
	emit_draft(&draft);
}

static void emit_untimed(const struct ky_command *command, uint16_t flags, cl_int error)
{
	struct draft draft;

	start_draft(&draft, command, flags | KYMO_RECORD_UNTIMED);
	if (error != CL_SUCCESS)
		add_value(&draft, KY_KEY_ERROR, (uint64_t)(int64_t)error);
	add_bytes(&draft, command, 0);
	emit_draft(&draft);
}

/* ---- Resolving ---- */

/* Reads the stamps; tells whether begin and end can be believed. */
static int read_stamps(const cl_icd_dispatch *target, cl_event event, struct stamps *out)
{
	const cl_profiling_info names[] = {
		CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
		CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
	cl_ulong *const values[] = {&out->queued, &out->submitted, &out->begin,
				    &out->end};

	for (size_t i = 0; i < 4; i++) {
		if (target->clGetEventProfilingInfo(event, names[i], sizeof(*values[i]),
						    values[i], NULL) != CL_SUCCESS)
			return 0;
	}
	return out->begin != 0 && out->end >= out->begin &&
	       out->begin >= out->submitted && out->begin >= out->queued;
}

/* Records the command if it is over, and returns its status. */
static cl_int resolve(struct ky_queue *queue, const struct ky_command *command)
{
	const cl_icd_dispatch *target = &queue->layer->target;
	struct stamps stamps;
	cl_int status = CL_COMPLETE;

	target->clGetEventInfo(command->u.event, CL_EVENT_COMMAND_EXECUTION_STATUS,
			       sizeof(status), &status, NULL);
	if (status > CL_COMPLETE)
		return status;

	if (KYMO_UNLIKELY(command->epoch != atomic_load(&ky_state.epoch)))
		ky_state.host->lost(ky_state.source, KYMO_LOST_LATE, 1);
	else if (status < 0)
		emit_untimed(command, KYMO_RECORD_ERROR, status);
	else if (read_stamps(target, command->u.event, &stamps))
		emit_timed(queue, command, &stamps);
	else
		emit_untimed(command, 0, CL_SUCCESS);
	target->clReleaseEvent(command->u.event);
	if (ky_call_descs[command->call].type == KY_TYPE_KERNEL)
		ky_state_kernel_done();
	return status;
}

/*
 * Resolves what is complete in `pending` and moves it to `done`. An in-order queue is
 * looked at up to the first that is not; in another, the incomplete ones that were
 * looked at go behind the rest, so that all have their turn. Tells whether one was
 * complete, or at least with the device.
 */
static int resolve_list(struct ky_queue *queue, struct list *pending, struct list *done)
{
	int is_moving = 0;

	struct list waiting = {NULL, NULL};
	size_t scanned = 0, limit = queue->is_in_order ? 1 : SCAN_LIMIT;

	while (pending->first && scanned < limit) {
		struct ky_command *command = pending->first;
		cl_int status;

		pending->first = command->next;
		if (!pending->first)
			pending->last = NULL;
		status = resolve(queue, command);
		is_moving |= status < CL_QUEUED;
		if (status <= CL_COMPLETE) {
			list_append(done, command);
		} else {
			list_append(&waiting, command);
			scanned++;
		}
	}
	if (queue->is_in_order) {
		list_join(&waiting, pending);
		*pending = waiting;
	} else {
		list_join(pending, &waiting);
	}
	return is_moving;
}

/* Takes all commands out, if nobody else has. Their owner must call put_back. */
static int take_out(struct ky_queue *queue, struct list *out)
{
	int taken = 0;

	pthread_mutex_lock(&queue->lock);
	if (!queue->is_draining) {
		*out = (struct list){queue->first, queue->last};
		queue->first = queue->last = NULL;
		queue->is_draining = taken = 1;
	}
	pthread_mutex_unlock(&queue->lock);
	return taken;
}

static void put_back(struct ky_queue *queue, struct list *pending, struct list *done,
		     size_t done_count)
{
	struct ky_command *surplus = NULL;

	pthread_mutex_lock(&queue->lock);
	list_join(pending, &(struct list){queue->first, queue->last});
	queue->first = pending->first;
	queue->last = pending->last;
	if (done->last) {
		done->last->next = queue->spare;
		queue->spare = done->first;
	}
	queue->count -= done_count;
	queue->poll_at = queue->count + POLL_COMMANDS;
	if (queue->count == 0 && done_count > SPARE_LIMIT) {
		surplus = queue->spare;
		queue->spare = NULL;
	}
	queue->is_draining = 0;
	pthread_mutex_unlock(&queue->lock);
	give_chain(surplus);
}

static size_t list_count(const struct list *list)
{
	size_t count = 0;

	for (const struct ky_command *at = list->first; at; at = at->next)
		count++;
	return count;
}

/* As ky_command_drain; tells whether commands of the queue move. */
static int drain(struct ky_queue *queue)
{
	struct list pending = {NULL, NULL}, done = {NULL, NULL};
	int is_moving;

	if (!take_out(queue, &pending))
		return 1;
	is_moving = resolve_list(queue, &pending, &done);
	put_back(queue, &pending, &done, list_count(&done));
	return is_moving;
}

void ky_command_drain(struct ky_queue *queue)
{
	drain(queue);
}

int ky_command_put(struct ky_queue *queue, const struct ky_command *command, int *is_due)
{
	struct ky_command *spare;
	struct list list;

	pthread_mutex_lock(&queue->lock);
	if (KYMO_UNLIKELY(!queue->spare))
		queue->spare = take_chain();
	spare = queue->spare;
	if (spare) {
		queue->spare = spare->next;
		*spare = *command;
		list = (struct list){queue->first, queue->last};
		list_append(&list, spare);
		queue->first = list.first;
		queue->last = list.last;
		queue->count++;
	}
	*is_due = queue->count >= queue->poll_at;
	pthread_mutex_unlock(&queue->lock);
	return spare != NULL;
}

static void drain_one(struct ky_queue *queue, void *data)
{
	(void)data;
	ky_command_drain(queue);
}

void ky_command_drain_all(void)
{
	ky_queue_visit(drain_one, NULL);
}

static void drain_if_context(struct ky_queue *queue, void *context)
{
	if (queue->context == context)
		ky_command_drain(queue);
}

void ky_command_drain_context(cl_context context)
{
	ky_queue_visit(drain_if_context, context);
}

static void drain_if_given_up(struct ky_queue *queue, void *data)
{
	(void)data;
	if (atomic_load(&queue->references) == 0)
		ky_command_drain(queue);
}

void ky_command_drain_given_up(void)
{
	ky_queue_visit(drain_if_given_up, NULL);
}

/* What a round of draining found. */
struct progress {
	size_t count; /* commands left */
	int is_moving;
};

static void drain_and_look(struct ky_queue *queue, void *data)
{
	struct progress *progress = data;

	progress->is_moving |= drain(queue);
	pthread_mutex_lock(&queue->lock);
	progress->count += queue->count;
	pthread_mutex_unlock(&queue->lock);
}

/* Records what is left as unfinished, and gives the last anchor. */
static void abandon(struct ky_queue *queue, void *data)
{
	const unsigned epoch = atomic_load(&ky_state.epoch);
	struct list left = {NULL, NULL}, none = {NULL, NULL};

	(void)data;
	if (!take_out(queue, &left))
		return;
	for (struct ky_command *at = left.first; at; at = at->next) {
		if (at->epoch == epoch)
			emit_untimed(at, KYMO_RECORD_UNFINISHED, CL_SUCCESS);
		queue->layer->target.clReleaseEvent(at->u.event);
	}
	if (queue->device)
		ky_anchor_flush(&queue->anchor, queue->device);
	put_back(queue, &none, &left, list_count(&left));
}

void ky_command_finish(uint64_t deadline_ns)
{
	const struct timespec nap = {0, NAP_NS};
	unsigned still = 0;

	for (;;) {
		struct progress progress = {0, 0};
		struct timespec now;

		ky_queue_visit(drain_and_look, &progress);
		clock_gettime(CLOCK_MONOTONIC, &now);
		still = progress.is_moving ? 0 : still + 1;
		if (progress.count == 0 || still > STILL_NAPS ||
		    (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec >=
			    deadline_ns)
			break;
		nanosleep(&nap, NULL);
	}
	ky_queue_visit(abandon, NULL);
}

int ky_command_holds(struct ky_queue *queue, cl_event event)
{
	const struct ky_command *at;

	pthread_mutex_lock(&queue->lock);
	for (at = queue->first; at && at->u.event != event; at = at->next)
		;
	pthread_mutex_unlock(&queue->lock);
	return at != NULL;
}

void ky_command_forked(void)
{
	pthread_mutex_init(&pool_lock, NULL);
	pool = NULL;
	allocated = 0;
}
