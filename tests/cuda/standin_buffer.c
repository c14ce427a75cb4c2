/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers of records: asked for in the thread that makes a record, handed back from a
 * thread of CUPTI's or from a flush. A buffer with a record of a command that has not
 * ended is complete only when that has, or in a forced flush, which leaves such times 0.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "standin.h"

#define EXPORT STUB_API

enum { POISON = 0xa5, ALIGNMENT = 8 };

struct buffer {
	struct buffer *next;
	uint8_t *data;
	size_t size, used, count, most;
	enum standin_queue queue;
};

static struct {
	struct buffer *current[STANDIN_QUEUES];
	struct buffer *full; /* oldest first */
	uint64_t dropped;    /* since it was last asked for */
	int has_worker, is_delivering;
	pthread_t worker;
} buffers;

/* ---- Records in a buffer ---- */

/* The record behind `record`, the first one for NULL; NULL behind the last. */
static CUpti_Activity *next_in(const struct buffer *buffer, CUpti_Activity *record)
{
	uint8_t *at = record ? (uint8_t *)record + standin_record_size(record->kind)
			     : buffer->data;

	return at < buffer->data + buffer->used ? (CUpti_Activity *)(void *)at : NULL;
}

static int is_complete(const struct buffer *buffer)
{
	uint64_t now = standin_now(), *begin, *end;

	for (CUpti_Activity *record = NULL; (record = next_in(buffer, record));)
		if (standin_device_times(record, &begin, &end) && *end > now)
			return 0;
	return 1;
}

/* As CUPTI says it of a command that has not ended: 0, its "unknown". */
static void forget_times(const struct buffer *buffer)
{
	uint64_t now = standin_now(), *begin, *end;

	for (CUpti_Activity *record = NULL; (record = next_in(buffer, record));)
		if (standin_device_times(record, &begin, &end) && *end > now)
			*begin = *end = 0;
}

static void reverse(struct buffer *buffer)
{
	uint8_t *copy = malloc(buffer->used + 1), *to = copy + buffer->used;

	for (CUpti_Activity *record = NULL; (record = next_in(buffer, record));) {
		to -= standin_record_size(record->kind);
		memcpy(to, record, standin_record_size(record->kind));
	}
	memcpy(buffer->data, copy, buffer->used);
	free(copy);
}

/* With the lock held. Returns how many bytes are valid. */
static size_t count_records(struct buffer *buffer)
{
	struct standin_counts *counts = &standin.counts;
	CUpti_Activity *last = NULL;
	int is_cut = ++counts->delivered == standin.faults.cut;

	for (CUpti_Activity *record = NULL; (record = next_in(buffer, record));
	     last = record)
		if ((uint32_t)record->kind < STANDIN_KINDS)
			counts->written[record->kind]++;
		else
			counts->unknown++;
	if (!is_cut || !last)
		return buffer->used;
	counts->cut_off++;
	if ((uint32_t)last->kind < STANDIN_KINDS)
		counts->written[last->kind]--;
	return buffer->used - ALIGNMENT;
}

/* ---- To the tool ---- */

/* Without the lock. */
static void deliver(struct buffer *buffer)
{
	CUpti_BuffersCallbackCompleteFunc complete;
	size_t valid;

	pthread_mutex_lock(&standin.lock);
	complete = standin.complete;
	if (standin.faults.disorder && buffer->queue == STANDIN_DEVICE)
		reverse(buffer);
	valid = count_records(buffer);
	pthread_mutex_unlock(&standin.lock);
	if (complete)
		complete(NULL, 0, buffer->data, buffer->size, valid);
	free(buffer);
}

static void *deliver_late(void *context)
{
	struct timespec wait = {standin.faults.late_ms / 1000,
				standin.faults.late_ms % 1000 * 1000000L};

	nanosleep(&wait, NULL);
	deliver(context);
	__atomic_add_fetch(&standin.counts.late, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* With the lock held: to the end of the list of full ones. */
static void retire(enum standin_queue queue)
{
	struct buffer **tail = &buffers.full;

	if (!buffers.current[queue])
		return;
	while (*tail)
		tail = &(*tail)->next;
	*tail = buffers.current[queue];
	buffers.current[queue] = NULL;
}

/* With the lock held. */
static struct buffer *take_complete(int forced)
{
	for (struct buffer **at = &buffers.full, *buffer; (buffer = *at);
	     at = &buffer->next) {
		if (!forced && !is_complete(buffer))
			continue;
		*at = buffer->next;
		buffer->next = NULL;
		if (forced)
			forget_times(buffer);
		return buffer;
	}
	return NULL;
}

static void wait_a_moment(uint32_t most_ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)most_ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_cond_timedwait(&standin.changed, &standin.lock, &until);
}

/* CUPTI's own thread: hands over what is full, and after each period also what is not. */
static void *work(void *context)
{
	uint64_t last_flush = standin_now();

	(void)context;
	pthread_mutex_lock(&standin.lock);
	for (;;) {
		uint64_t period = standin.flush_period_ms * UINT64_C(1000000);
		struct buffer *buffer = NULL;

		if (period && standin_now() - last_flush > period) {
			last_flush = standin_now();
			for (int i = 0; i < STANDIN_QUEUES; i++)
				if (buffers.current[i] && is_complete(buffers.current[i]))
					retire(i);
		}
		if (!standin.faults.hold && !buffers.is_delivering)
			buffer = take_complete(0);
		if (!buffer) {
			wait_a_moment(2);
			continue;
		}
		buffers.is_delivering = 1;
		pthread_mutex_unlock(&standin.lock);
		deliver(buffer);
		pthread_mutex_lock(&standin.lock);
		buffers.is_delivering = 0;
		pthread_cond_broadcast(&standin.changed);
	}
	return NULL;
}

static void start_worker(void)
{
	if (!buffers.has_worker)
		buffers.has_worker =
			pthread_create(&buffers.worker, NULL, work, NULL) == 0;
}

/* ---- From the tool ---- */

static struct buffer *request(enum standin_queue queue, size_t needed)
{
	struct buffer *buffer = calloc(1, sizeof(*buffer));

	if (!buffer || !standin.request) {
		free(buffer);
		return NULL;
	}
	buffer->queue = queue;
	standin.counts.requested++;
	standin.request(&buffer->data, &buffer->size, &buffer->most);
	if (!buffer->data || buffer->size < needed) {
		standin.counts.refused++;
		free(buffer);
		return NULL;
	}
	standin.counts.misaligned += (uintptr_t)buffer->data % ALIGNMENT != 0;
	memset(buffer->data, POISON, buffer->size);
	return buffer;
}

static int has_room(const struct buffer *buffer, size_t size)
{
	return buffer->used + size <= buffer->size &&
	       (!buffer->most || buffer->count < buffer->most);
}

void *standin_reserve(enum standin_queue queue, size_t size)
{
	struct buffer *buffer = buffers.current[queue];
	void *record;

	if (buffer && !has_room(buffer, size)) {
		retire(queue);
		start_worker();
		pthread_cond_broadcast(&standin.changed);
		buffer = NULL;
	}
	if (!buffer)
		buffer = buffers.current[queue] = request(queue, size);
	if (!buffer) {
		standin.counts.dropped++;
		buffers.dropped++;
		return NULL;
	}
	record = buffer->data + buffer->used;
	buffer->used += size;
	buffer->count++;
	return memset(record, 0, size);
}

EXPORT CUptiResult
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
			       CUpti_BuffersCallbackCompleteFunc completed)
{
	STANDIN_ENTER_ANYWHERE(0);
	if (!requested || !completed)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	if (pthread_mutex_lock(&standin.lock))
		return standin_result(CUPTI_ERROR_INVALID_OPERATION);
	standin.request = requested;
	standin.complete = completed;
	pthread_mutex_unlock(&standin.lock);
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	int forced = (flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0;
	int is_worker =
		buffers.has_worker && pthread_equal(pthread_self(), buffers.worker);
	struct buffer *buffer;
	pthread_t thread;

	STANDIN_ENTER(flag);
	if (!standin.request)
		return standin_result(CUPTI_ERROR_INVALID_OPERATION);
	if (pthread_mutex_lock(&standin.lock))
		return standin_result(CUPTI_ERROR_INVALID_OPERATION);
	while (buffers.is_delivering && !is_worker)
		pthread_cond_wait(&standin.changed, &standin.lock);
	for (int i = 0; i < STANDIN_QUEUES; i++)
		if (buffers.current[i] && (forced || is_complete(buffers.current[i])))
			retire(i);
	while ((buffer = take_complete(forced))) {
		int is_late =
			standin.faults.late_ms && !buffers.full && !standin.counts.late;

		pthread_mutex_unlock(&standin.lock);
		if (!is_late || pthread_create(&thread, NULL, deliver_late, buffer) != 0)
			deliver(buffer);
		else
			pthread_detach(thread);
		pthread_mutex_lock(&standin.lock);
	}
	pthread_mutex_unlock(&standin.lock);
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityFlushPeriod(uint32_t time)
{
	STANDIN_ENTER(time);
	if (pthread_mutex_lock(&standin.lock))
		return standin_result(CUPTI_ERROR_INVALID_OPERATION);
	standin.flush_period_ms = time;
	if (time)
		start_worker();
	pthread_cond_broadcast(&standin.changed);
	pthread_mutex_unlock(&standin.lock);
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream,
						     size_t *dropped)
{
	STANDIN_ENTER(stream);
	if (!dropped)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	if (pthread_mutex_lock(&standin.lock))
		return standin_result(CUPTI_ERROR_INVALID_OPERATION);
	/* All are of the global queue, and of no stream. */
	*dropped = context ? 0 : (size_t)buffers.dropped;
	if (!context)
		buffers.dropped = 0;
	pthread_mutex_unlock(&standin.lock);
	return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t size,
					      CUpti_Activity **record)
{
	uint8_t *at = buffer;
	size_t left, own;

	STANDIN_ENTER_ANYWHERE(0);
	if (!record)
		return standin_result(CUPTI_ERROR_INVALID_PARAMETER);
	if (*record)
		at = (uint8_t *)*record + standin_record_size((*record)->kind);
	if (!buffer || at >= buffer + size)
		return standin_result(CUPTI_ERROR_MAX_LIMIT_REACHED);
	left = (size_t)(buffer + size - at);
	own = standin_record_size(((CUpti_Activity *)(void *)at)->kind);
	if (!own || own > left)
		return standin_result(CUPTI_ERROR_INVALID_KIND);
	*record = (CUpti_Activity *)(void *)at;
	return CUPTI_SUCCESS;
}
