/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a source says of the process. It may come before a session, or between two of
 * them, so the last value of each key is kept and told to every session that begins.
 */
#include "session/host.h"

#include <stdlib.h>
#include <string.h>

#include "base/lock.h"

/* A copy of the elements, or NULL; a scalar has none and needs none. */
static int copy_array(const struct kymo_value *value, uint64_t **out)
{
	*out = NULL;
	if (!(value->type & KYMO_VALUE_ARRAY))
		return 1;
	*out = malloc(value->count * sizeof(**out));
	if (*out)
		memcpy(*out, value->array, value->count * sizeof(**out));
	return *out != NULL;
}

/* Where the key's value is kept, or may be; NULL: there are too many. host_lock held. */
static struct ky_host_metadata *find_place(struct kymo_source_host *host, uint16_t key)
{
	uint32_t i = 0;

	while (i < host->metadata_count && host->metadata[i].value.key != key)
		i++;
	if (i == KY_HOST_METADATA_MAX)
		return NULL;
	if (i == host->metadata_count)
		host->metadata_count++;
	return &host->metadata[i];
}

/* host_lock held. */
static int32_t keep(struct kymo_source_host *host, const struct kymo_value *value)
{
	struct ky_host_metadata *place;
	uint64_t *array;

	if (!copy_array(value, &array))
		return KYMO_ERROR_NO_MEMORY;
	place = find_place(host, value->key);
	if (!place) {
		free(array);
		return KYMO_ERROR_NO_MEMORY;
	}
	free(place->array);
	place->array = array;
	place->value = *value;
	if (array)
		place->value.array = array;
	return KYMO_OK;
}

int32_t ky_host_metadata(struct kymo_source_host *host, const struct kymo_value *value)
{
	uint32_t *lock = &ky_session_page()->host_lock;
	int32_t status;
	uint32_t id;

	if (ky_host_is_left_out(value))
		return KYMO_ERROR_INVALID;
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
		ky_host_intern_values(KY_ENTRY_METADATA, &host->metadata[i].value, 1,
				      &id);
	ky_unlock(lock);
}
