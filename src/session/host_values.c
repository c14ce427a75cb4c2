/* SPDX-License-Identifier: BSD-3-Clause */
/* What records refer to by number: strings and attribute sets. */
#include "session/host.h"

#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "record/dictionary.h"

#define ON_STACK 2048u      /* bytes; nearly all sets are smaller */
#define SET_MAX  (1u << 20) /* bytes of one set */

void ky_host_count_not_kept(void)
{
	struct ky_capture *capture = ky_gate_capture();

	if (capture)
		__atomic_fetch_add(&capture->header->names_not_kept, 1, __ATOMIC_RELAXED);
}

/*
 * A count of 0 means one scalar in the dictionary, so an empty array cannot be said; nor
 * can a time, without a track whose clock it is of.
 */
int ky_host_is_left_out(const struct kymo_value *value)
{
	const int is_array = (value->type & KYMO_VALUE_ARRAY) != 0;

	return value->key == 0 || (is_array && value->count == 0) ||
	       (value->type & ~KYMO_VALUE_ARRAY) == KYMO_VALUE_TIME;
}

static size_t size_of(const struct kymo_value *value)
{
	size_t count = value->type & KYMO_VALUE_ARRAY ? value->count : 1;

	return sizeof(struct ky_attribute) + count * sizeof(uint64_t);
}

/* Writes one value as it stands in a set; returns the byte behind it. */
static uint8_t *put_value(uint8_t *to, const struct kymo_value *value)
{
	struct ky_attribute attribute = {.key = value->key};
	size_t size = size_of(value) - sizeof(attribute);

	if (value->type & KYMO_VALUE_ARRAY)
		attribute.count = value->count;
	memcpy(to, &attribute, sizeof(attribute));
	memcpy(to + sizeof(attribute),
	       value->type & KYMO_VALUE_ARRAY ? value->array : &value->u64, size);
	return to + sizeof(attribute) + size;
}

int32_t ky_host_intern_values(uint16_t kind, const struct kymo_value *values,
			      size_t count, uint32_t *id)
{
	uint64_t on_stack[ON_STACK / sizeof(uint64_t)];
	uint8_t *memory = (uint8_t *)on_stack, *to;
	size_t size = 0;
	int32_t status;

	*id = 0;
	for (size_t i = 0; i < count && size <= SET_MAX; i++)
		if (!ky_host_is_left_out(&values[i]))
			size += size_of(&values[i]);
	if (size == 0)
		return KYMO_OK;
	if (size > SET_MAX)
		return KYMO_ERROR_NO_MEMORY;
	if (size > sizeof(on_stack)) {
		memory = malloc(size);
		if (!memory)
			return KYMO_ERROR_NO_MEMORY;
	}
	to = memory;
	for (size_t i = 0; i < count; i++)
		if (!ky_host_is_left_out(&values[i]))
			to = put_value(to, &values[i]);
	status = ky_dictionary_intern(kind, memory, size, id);
	if (memory != (uint8_t *)on_stack)
		free(memory);
	return status;
}

uint32_t ky_host_string(struct kymo_source_host *host, struct kymo_str text)
{
	(void)host;
	return ky_dictionary_string(text);
}

uint32_t ky_host_attributes(struct kymo_source_host *host,
			    const struct kymo_value *values, size_t count)
{
	uint32_t id;

	(void)host;
	if (ky_host_intern_values(KY_ENTRY_ATTRIBUTES, values, count, &id) != KYMO_OK)
		ky_host_count_not_kept();
	return id;
}
