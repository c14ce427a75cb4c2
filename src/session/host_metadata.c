/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a source says of the process. It may come before a session, or between two of
 * them, so the last value of each key is kept and told to every session that begins.
 */
#include "session/host.h"

#include <string.h>
#include <sys/mman.h>

#include "base/lock.h"

static size_t kept_size(const struct kymo_value *value)
{
	size_t size = sizeof(struct ky_host_metadata);

	if (value->type & KYMO_VALUE_ARRAY)
		size += value->count * sizeof(uint64_t);
	return size;
}

/* Not malloc, as for the host itself, which keeps it; NULL: no memory. */
static struct ky_host_metadata *copy(const struct kymo_value *value)
{
	struct ky_host_metadata *out =
		mmap(NULL, kept_size(value), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (out == MAP_FAILED)
		return NULL;
	out->value = *value;
	if (value->type & KYMO_VALUE_ARRAY) {
		memcpy(out->elements, value->array, value->count * sizeof(uint64_t));
		out->value.array = out->elements;
	}
	return out;
}

static void drop(struct ky_host_metadata *kept)
{
	if (kept)
		munmap(kept, kept_size(&kept->value));
}

/* Where the key's value is kept, or may be; the end: there are too many. */
static uint32_t find_place(const struct kymo_source_host *host, uint16_t key)
{
	uint32_t i = 0;

	while (i < host->metadata_count && host->metadata[i]->value.key != key)
		i++;
	return i;
}

/*
 * In this order, since a child may be forked off at any step: it has the old value or the
 * new one, and neither is gone. host_lock held.
 */
static int32_t keep(struct kymo_source_host *host, const struct kymo_value *value)
{
	const uint32_t place = find_place(host, value->key);
	struct ky_host_metadata *before, *kept;

	if (place == KY_HOST_METADATA_MAX)
		return KYMO_ERROR_NO_MEMORY;
	kept = copy(value);
	if (!kept)
		return KYMO_ERROR_NO_MEMORY;
	before = __atomic_exchange_n(&host->metadata[place], kept, __ATOMIC_ACQ_REL);
	if (place == host->metadata_count)
		__atomic_store_n(&host->metadata_count, place + 1, __ATOMIC_RELEASE);
	drop(before);
	return KYMO_OK;
}

int32_t ky_host_metadata(struct kymo_source_host *host, const struct kymo_value *value)
{
	uint32_t *lock = &ky_session_page()->host_lock;
	int32_t status;
	uint32_t id;

	if (ky_host_is_left_out(value))
		return KYMO_ERROR_INVALID;
	if (ky_host_find_misfit(value, 1))
		return ky_host_refuse_value(host, value);
	ky_lock(lock);
	status = keep(host, value);
	if (status == KYMO_OK)
		status = ky_host_intern_values(KY_ENTRY_METADATA, value, 1, &id);
	ky_unlock(lock);
	/* Nothing is recorded now: the next session is told. */
	return status == KYMO_ERROR_STATE ? KYMO_OK : status;
}

void ky_host_publish_metadata(struct kymo_source_host *host)
{
	uint32_t *lock = &ky_session_page()->host_lock;
	uint32_t id;

	ky_lock(lock);
	/* Where there is no room for it the dictionary is full of names anyway. */
	for (uint32_t i = 0; i < host->metadata_count; i++)
		ky_host_intern_values(KY_ENTRY_METADATA, &host->metadata[i]->value, 1,
				      &id);
	ky_unlock(lock);
}
