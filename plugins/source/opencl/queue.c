/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of queues: 256 buckets of entries that are added but never taken out.
 * Readers take no lock; writers take table_lock.
 */
#include "queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKET_COUNT 256

/* Device clocks drift by up to 0.1 us in a ms; making a queue may cost one. */
#define CALIBRATION_AGE_NS 2000000000u

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER; /* adding, reusing */
static struct ky_queue *_Atomic buckets[BUCKET_COUNT];
static uint32_t queue_count;

static struct ky_queue *_Atomic *find_bucket(cl_command_queue handle)
{
	const uintptr_t bits = (uintptr_t)handle;

	return &buckets[((bits >> 4) ^ (bits >> 12)) % BUCKET_COUNT];
}

struct ky_queue *ky_queue_find(cl_command_queue handle)
{
	struct ky_queue *queue;

	if (!handle)
		return NULL;
	queue = atomic_load_explicit(find_bucket(handle), memory_order_acquire);
	while (queue &&
	       atomic_load_explicit(&queue->handle, memory_order_acquire) != handle)
		queue = queue->next;
	return queue;
}

static int is_idle(struct ky_queue *queue)
{
	int idle;

	pthread_mutex_lock(&queue->lock);
	idle = !queue->first && !queue->is_draining;
	pthread_mutex_unlock(&queue->lock);
	return idle;
}

/*
 * An entry for the handle; table_lock is held. An old one with pending commands, which
 * some drivers' events do not keep a queue for, stays with them and loses the handle.
 */
static struct ky_queue *claim_entry(cl_command_queue handle)
{
	struct ky_queue *_Atomic *bucket = find_bucket(handle);
	struct ky_queue *queue = ky_queue_find(handle);

	if (queue && is_idle(queue))
		return queue;
	if (queue)
		atomic_store(&queue->handle, NULL);

	queue = calloc(1, sizeof(*queue));
	if (!queue)
		return NULL;
	pthread_mutex_init(&queue->lock, NULL);
	queue->next = *bucket;
	atomic_store_explicit(bucket, queue, memory_order_release);
	return queue;
}

struct ky_queue *ky_queue_register(const struct ky_layer *layer, cl_command_queue handle,
				   struct ky_disguise disguise)
{
	const cl_icd_dispatch *target = &layer->target;
	cl_command_queue_properties properties = 0;
	cl_device_id device = NULL;
	cl_context context = NULL;
	struct ky_queue *queue;

	target->clGetCommandQueueInfo(handle, CL_QUEUE_DEVICE, sizeof(device), &device,
				      NULL);
	target->clGetCommandQueueInfo(handle, CL_QUEUE_CONTEXT, sizeof(context), &context,
				      NULL);
	target->clGetCommandQueueInfo(handle, CL_QUEUE_PROPERTIES, sizeof(properties),
				      &properties, NULL);

	pthread_mutex_lock(&table_lock);
	queue = claim_entry(handle);
	if (queue) {
		queue->layer = layer;
		queue->device = ky_device_get(layer, device);
		queue->context = context;
		queue->sequence = ++queue_count;
		queue->is_in_order =
			!(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
		queue->disguise = disguise;
		atomic_store(&queue->is_hidden, disguise.is_hidden);
		atomic_store(&queue->references, 1);
		atomic_store(&queue->epoch, 0);
		memset(&queue->anchor, 0, sizeof(queue->anchor));
		queue->poll_at = 0;
		if (queue->device)
			atomic_store_explicit(&queue->handle, handle,
					      memory_order_release);
		else
			queue = NULL;
	}
	pthread_mutex_unlock(&table_lock);
	return queue;
}

struct ky_queue *ky_queue_adopt(const struct ky_layer *layer, cl_command_queue handle)
{
	struct ky_queue *queue =
		ky_queue_register(layer, handle, (struct ky_disguise){0, 0, 0});
	cl_uint references = 1;

	if (queue && layer->target.clGetCommandQueueInfo(handle, CL_QUEUE_REFERENCE_COUNT,
							 sizeof(references), &references,
							 NULL) == CL_SUCCESS)
		atomic_store(&queue->references, references);
	return queue;
}

void ky_queue_release(struct ky_queue *queue)
{
	if (atomic_fetch_sub(&queue->references, 1) == 1)
		ky_command_trim(queue);
}

void ky_queue_prepare(struct ky_queue *queue)
{
	const unsigned epoch = atomic_load(&ky_state.epoch);
	const struct kymo_value context =
		ky_value_number(KY_KEY_CONTEXT, (uintptr_t)queue->context);
	char name[64];
	uint32_t track = 0;

	ky_device_describe(queue->device);
	ky_device_calibrate(queue->device, queue->context, CALIBRATION_AGE_NS);
	snprintf(name, sizeof(name), "OpenCL queue %u%s", queue->sequence,
		 queue->is_in_order ? "" : " (out of order)");

	const struct kymo_track_desc desc = {
		.struct_size = sizeof(desc),
		.kind = KYMO_TRACK_QUEUE,
		.native = (uintptr_t)atomic_load(&queue->handle),
		.device = atomic_load(&queue->device->number),
		.clock = atomic_load(&queue->device->clock),
		.order = queue->sequence,
		.name = {name, strlen(name)},
	};

	/* Without a clock or a track there is nowhere to record to. */
	if (!desc.clock ||
	    ky_state.host->track(ky_state.source, &desc, &track) != KYMO_OK)
		track = 0;
	atomic_store(&queue->track, track);
	atomic_store(&queue->attributes,
		     ky_state.host->attributes(ky_state.source, &context, 1));
	atomic_store_explicit(&queue->epoch, epoch, memory_order_release);
}

void ky_queue_synchronise(struct ky_queue *queue)
{
	ky_command_drain(queue);
	if (atomic_load(&queue->epoch) == atomic_load(&ky_state.epoch))
		ky_device_calibrate(queue->device, queue->context, CALIBRATION_AGE_NS);
}

void ky_queue_visit(void (*visit)(struct ky_queue *queue, void *data), void *data)
{
	for (size_t i = 0; i < BUCKET_COUNT; i++) {
		struct ky_queue *queue = atomic_load(&buckets[i]);

		for (; queue; queue = queue->next)
			visit(queue, data);
	}
}

static void start_afresh(struct ky_queue *queue, void *data)
{
	(void)data;
	pthread_mutex_init(&queue->lock, NULL);
	queue->first = queue->last = queue->spare = NULL;
	queue->count = queue->poll_at = 0;
	queue->is_draining = 0;
	memset(&queue->anchor, 0, sizeof(queue->anchor));
}

void ky_queue_forked(void)
{
	pthread_mutex_init(&table_lock, NULL);
	ky_queue_visit(start_afresh, NULL);
}
