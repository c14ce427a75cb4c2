/* SPDX-License-Identifier: BSD-3-Clause */
/* What records refer to by number: strings and attribute sets. */
#include "session/host.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "capture/capture.h"
#include "record/dictionary.h"
#include "record/known_keys.h"

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

static int stands_before(const struct kymo_value *values, size_t i)
{
	for (size_t before = 0; before < i; before++)
		if (values[before].key == values[i].key)
			return 1;
	return 0;
}

static int is_of_type(const struct kymo_value *value)
{
	const uint32_t type = ky_dictionary_key_type(value->key);

	return type == value->type || type == 0 || value->type == 0 ||
	       ky_value_types_are_alike(type, value->type);
}

/*
 * False where they fit for sure, as nearly all do: each of its key's very type, if it has
 * one, and no two of a key. What is registered together has numbers side by side, so up
 * to 64 keys of one place have a bit each.
 */
static int is_in_doubt(const struct kymo_value *values, size_t count)
{
	uint64_t seen = 0, twice = 0;
	uint32_t differs = 0;

	for (size_t i = 0; i < count; i++) {
		const uint64_t bit = (uint64_t)1 << values[i].key % 64;
		const uint32_t type = values[i].type;

		twice |= seen & bit;
		seen |= bit;
		differs |= type ? type ^ ky_dictionary_key_type(values[i].key) : 0;
	}
	return twice != 0 || differs != 0;
}

/* One by one. Not inlined: what it keeps, and clears, costs where nothing is in doubt. */
__attribute__((noinline)) static const struct kymo_value *
look_for_misfit(const struct kymo_value *values, size_t count)
{
	/* Keys are numbered from 1: a bit that is set is most likely the same key's. */
	uint64_t seen[32] = {0};

	for (size_t i = 0; i < count; i++) {
		uint64_t *word = &seen[values[i].key / 64 % 32];
		const uint64_t bit = (uint64_t)1 << values[i].key % 64;

		if (values[i].key == 0)
			continue;
		if (!is_of_type(&values[i]) ||
		    ((*word & bit) && stands_before(values, i)))
			return &values[i];
		*word |= bit;
	}
	return NULL;
}

const struct kymo_value *ky_host_find_misfit(const struct kymo_value *values,
					     size_t count)
{
	return is_in_doubt(values, count) ? look_for_misfit(values, count) : NULL;
}

static void say_misfit(const struct kymo_source_host *host,
		       const struct kymo_value *value)
{
	const struct kymo_str name = ky_dictionary_key_name(value->key);
	const int length = name.size < 64 ? (int)name.size : 64;
	char was[KY_TYPE_TEXT_MAX], said[KY_TYPE_TEXT_MAX];

	if (is_of_type(value))
		ky_log(KYMO_SEVERITY_WARNING,
		       "source \"%s\": the key \"%.*s\" stands twice in one set of "
		       "attributes, which is left out",
		       host->desc->name, length, name.data ? name.data : "");
	else
		ky_log(KYMO_SEVERITY_WARNING,
		       "source \"%s\": the key \"%.*s\" is for values of %s, but was "
		       "given %s, which is left out",
		       host->desc->name, length, name.data ? name.data : "",
		       ky_value_type_text(ky_dictionary_key_type(value->key), was),
		       ky_value_type_text(value->type, said));
}

int32_t ky_host_refuse_value(const struct kymo_source_host *host,
			     const struct kymo_value *value)
{
	/* By key: what is wrong at one place of a source is so for every event of it. */
	static uint64_t told[(UINT16_MAX + 1) / 64];
	const uint64_t bit = (uint64_t)1 << value->key % 64;

	if (!(__atomic_fetch_or(&told[value->key / 64], bit, __ATOMIC_RELAXED) & bit))
		say_misfit(host, value);
	return ky_host_count_invalid(host, 1);
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
	const struct kymo_value *misfit = ky_host_find_misfit(values, count);
	uint32_t id;

	if (misfit) {
		ky_host_refuse_value(host, misfit);
		return 0;
	}
	if (ky_host_intern_values(KY_ENTRY_ATTRIBUTES, values, count, &id) != KYMO_OK)
		ky_host_count_not_kept();
	return id;
}
