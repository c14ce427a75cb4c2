/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers that a vendor's runtime fills and gives back in its own time. They are cut out
 * of one piece of address space, which is bounded for each source and stays mapped for
 * ever: a vendor that writes into a buffer after it was given back hits memory that is
 * there, and one that never gives back costs a bounded amount.
 */
#include "session/host.h"

#include <errno.h>

#include "base/lock.h"
#include "base/reserve.h"

#define ALIGNMENT 4096u /* pages of their own */

/* Address space only, until it is written to. host_lock held. */
static int has_memory(struct kymo_source_host *host)
{
	if (!host->buffer_memory)
		host->buffer_memory = ky_reserve(KY_HOST_MEMORY_MAX, -1);
	return host->buffer_memory != NULL;
}

/*
 * The first gap of `size` bytes between the buffers, which are in order of their place:
 * the number of buffers before it, or -1 if there is none; `*data` is where it begins.
 */
static int find_gap(const struct kymo_source_host *host, size_t size, uint8_t **data)
{
	uint8_t *at = host->buffer_memory;

	for (uint32_t i = 0; i < host->buffer_count; i++) {
		const struct ky_host_buffer *buffer = &host->buffers[i];

		*data = at;
		if ((size_t)(buffer->data - at) >= size)
			return (int)i;
		at = buffer->data + buffer->size;
	}
	*data = at;
	return KY_HOST_MEMORY_MAX - (size_t)(at - host->buffer_memory) >= size
		       ? (int)host->buffer_count
		       : -1;
}

static void insert(struct kymo_source_host *host, uint32_t place,
		   struct ky_host_buffer buffer)
{
	for (uint32_t i = host->buffer_count++; i > place; i--)
		host->buffers[i] = host->buffers[i - 1];
	host->buffers[place] = buffer;
}

/* Its place, or -1. host_lock held. */
static int find_taken(const struct kymo_source_host *host, const void *buffer)
{
	for (uint32_t i = 0; i < host->buffer_count; i++)
		if (host->buffers[i].data == buffer)
			return (int)i;
	return -1;
}

void *ky_host_buffer_take(struct kymo_source_host *host, size_t size)
{
	uint32_t *lock = &ky_session_page()->host_lock;
	struct ky_host_buffer buffer = {.data = NULL};
	int kept = errno, place = -1;

	if (size == 0 || size > KY_HOST_MEMORY_MAX)
		return NULL;
	ky_lock(lock);
	buffer.size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	buffer.epoch = host->epoch;
	if (host->buffer_count < KY_HOST_BUFFERS_MAX && has_memory(host))
		place = find_gap(host, buffer.size, &buffer.data);
	if (place >= 0)
		insert(host, (uint32_t)place, buffer);
	ky_unlock(lock);
	errno = kept;
	return place >= 0 ? buffer.data : NULL;
}

int32_t ky_host_buffer_epoch(struct kymo_source_host *host, const void *buffer,
			     uint32_t *epoch)
{
	uint32_t *lock = &ky_session_page()->host_lock;
	int place;

	*epoch = 0;
	ky_lock(lock);
	place = find_taken(host, buffer);
	if (place >= 0)
		*epoch = host->buffers[place].epoch;
	ky_unlock(lock);
	return place >= 0 ? KYMO_OK : KYMO_ERROR_INVALID;
}

int32_t ky_host_buffer_give(struct kymo_source_host *host, void *buffer)
{
	uint32_t *lock = &ky_session_page()->host_lock;
	int place;

	ky_lock(lock);
	place = find_taken(host, buffer);
	if (place >= 0) {
		host->buffer_count--;
		for (uint32_t i = (uint32_t)place; i < host->buffer_count; i++)
			host->buffers[i] = host->buffers[i + 1];
	}
	ky_unlock(lock);
	return place >= 0 ? KYMO_OK : KYMO_ERROR_INVALID;
}
