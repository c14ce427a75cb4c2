/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers that a vendor's runtime fills and gives back in its own time. They stay mapped
 * and are used again; their number and their bytes are bounded for each source, so a
 * vendor that never gives back costs a bounded amount.
 */
#include "session/host.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/lock.h"

static void drop(struct kymo_source_host *host, struct ky_host_buffer *buffer)
{
	if (!buffer->data)
		return;
	munmap(buffer->data, buffer->size);
	host->buffer_bytes -= buffer->size;
	buffer->data = NULL;
	buffer->size = 0;
}

/* The smallest free buffer that is large enough, else a free place, else NULL. */
static struct ky_host_buffer *find_free(struct kymo_source_host *host, size_t size)
{
	struct ky_host_buffer *best = NULL;

	for (uint32_t i = 0; i < KY_HOST_BUFFERS_MAX; i++) {
		struct ky_host_buffer *buffer = &host->buffers[i];

		if (buffer->taken)
			continue;
		if (!best || (buffer->size >= size &&
			      (best->size < size || buffer->size < best->size)))
			best = buffer;
	}
	return best;
}

/* Gives back what free buffers hold until `size` more bytes are allowed. */
static int make_room(struct kymo_source_host *host, size_t size)
{
	if (size > KY_HOST_MEMORY_MAX)
		return 0;
	for (uint32_t i = 0; i < KY_HOST_BUFFERS_MAX; i++) {
		if (host->buffer_bytes <= KY_HOST_MEMORY_MAX - size)
			return 1;
		if (!host->buffers[i].taken)
			drop(host, &host->buffers[i]);
	}
	return host->buffer_bytes <= KY_HOST_MEMORY_MAX - size;
}

static int map(struct kymo_source_host *host, struct ky_host_buffer *buffer, size_t size)
{
	void *data;

	drop(host, buffer);
	if (!make_room(host, size))
		return 0;
	data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (data == MAP_FAILED)
		return 0;
	buffer->data = data;
	buffer->size = size;
	host->buffer_bytes += size;
	return 1;
}

void *ky_host_buffer_take(struct kymo_source_host *host, size_t size)
{
	uint32_t *lock = &ky_session_page()->host_lock;
	struct ky_host_buffer *buffer;
	int kept = errno;
	void *data = NULL;

	if (size == 0)
		return NULL;
	ky_lock(lock);
	buffer = find_free(host, size);
	if (buffer && (buffer->size >= size || map(host, buffer, size))) {
		buffer->epoch = host->epoch;
		buffer->taken = 1;
		data = buffer->data;
	}
	ky_unlock(lock);
	errno = kept;
	return data;
}

int32_t ky_host_buffer_give(struct kymo_source_host *host, void *buffer, uint32_t epoch)
{
	uint32_t *lock = &ky_session_page()->host_lock;
	int32_t status = KYMO_ERROR_INVALID;
	int is_late = 0;

	ky_lock(lock);
	for (uint32_t i = 0; i < KY_HOST_BUFFERS_MAX; i++) {
		struct ky_host_buffer *taken = &host->buffers[i];

		if (!taken->taken || taken->data != buffer)
			continue;
		is_late = epoch != host->epoch || taken->epoch != host->epoch;
		taken->taken = 0;
		status = KYMO_OK;
		break;
	}
	ky_unlock(lock);
	if (is_late)
		__atomic_fetch_add(&host->lost[KYMO_LOST_LATE], 1, __ATOMIC_RELAXED);
	return status;
}
