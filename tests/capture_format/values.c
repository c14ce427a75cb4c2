/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys and counters with their values. */
#include "dump.h"

#include <string.h>

void put_scalar(const struct dump *dump, uint32_t type, uint64_t bits)
{
	if (type == KYMO_VALUE_STRING || type == KYMO_VALUE_CODE) {
		put_number(dump,
			   type == KYMO_VALUE_STRING ? KY_ENTRY_STRING : KY_ENTRY_CODE,
			   bits);
		return;
	}
	putchar('[');
	put_u64(bits);
	putchar(',');
	if (type == KYMO_VALUE_INT64)
		put_i64((int64_t)bits);
	else if (type == KYMO_VALUE_DOUBLE)
		put_double(bits);
	else if (type == KYMO_VALUE_BOOL)
		put(bits ? "true" : "false");
	else
		put_u64(bits);
	putchar(']');
}

/* Puts `[key,name,type,`; the type, 0 if the key is unknown. */
static const struct ky_key_entry *put_key(const struct dump *dump, uint16_t key)
{
	const struct ky_key_entry *entry =
		ky_catalog_find(dump->catalog, KY_ENTRY_KEY, key, sizeof(*entry), NULL);

	putchar('[');
	put_u64(key);
	putchar(',');
	put_name(dump, KY_ENTRY_KEY, key);
	putchar(',');
	put_u64(entry ? entry->value_type : KYMO_VALUE_UINT64);
	putchar(',');
	return entry;
}

static uint32_t element_type(const struct ky_key_entry *entry)
{
	return entry ? entry->value_type & ~KYMO_VALUE_ARRAY : KYMO_VALUE_UINT64;
}

void put_keyed(const struct dump *dump, uint16_t key, uint64_t bits)
{
	put_scalar(dump, element_type(put_key(dump, key)), bits);
	putchar(']');
}

/* The elements, after put_key. */
static void put_array(const struct dump *dump, uint32_t type, const uint8_t *bytes,
		      size_t size)
{
	int any = 0;

	putchar('[');
	for (size_t at = 0; size - at >= sizeof(uint64_t); at += sizeof(uint64_t)) {
		uint64_t bits;

		memcpy(&bits, bytes + at, sizeof(bits));
		put_comma(&any);
		put_scalar(dump, type, bits);
	}
	put("]]");
}

void put_keyed_bytes(const struct dump *dump, uint16_t key, const uint8_t *bytes,
		     size_t size)
{
	const struct ky_key_entry *entry = put_key(dump, key);

	if (entry && entry->value_type & KYMO_VALUE_ARRAY) {
		put_array(dump, element_type(entry), bytes, size);
		return;
	}
	if (entry && entry->value_type != KYMO_VALUE_STRING && size == sizeof(uint64_t)) {
		uint64_t bits;

		memcpy(&bits, bytes, sizeof(bits));
		put_scalar(dump, entry->value_type, bits);
	} else {
		put_text(bytes, size);
	}
	putchar(']');
}

void put_attributes(const struct dump *dump, const uint8_t *bytes, size_t size)
{
	int any = 0;

	putchar('[');
	while (size >= sizeof(struct ky_attribute) + sizeof(uint64_t)) {
		struct ky_attribute attribute;
		size_t room = size - sizeof(attribute), values;
		uint64_t bits;

		memcpy(&attribute, bytes, sizeof(attribute));
		bytes += sizeof(attribute);
		values = (attribute.count ? attribute.count : 1) * sizeof(uint64_t);
		if (values > room)
			break;
		memcpy(&bits, bytes, sizeof(bits));
		if (attribute.key)
			put_comma(&any);
		if (attribute.key && attribute.count)
			put_array(dump, element_type(put_key(dump, attribute.key)), bytes,
				  values);
		else if (attribute.key)
			put_keyed(dump, attribute.key, bits);
		bytes += values;
		size = room - values;
	}
	putchar(']');
}

void put_set(const struct dump *dump, uint32_t number)
{
	size_t size;
	const void *bytes =
		ky_catalog_find(dump->catalog, KY_ENTRY_ATTRIBUTES, number, 0, &size);

	putchar('[');
	put_u64(number);
	putchar(',');
	if (bytes)
		put_attributes(dump, bytes, size);
	else
		put("null");
	putchar(']');
}

size_t find_counters(const struct dump *dump, uint32_t group,
		     const struct ky_counter_entry **out)
{
	size_t size, room;
	const struct ky_group_entry *entry = ky_catalog_find(
		dump->catalog, KY_ENTRY_GROUP, group, sizeof(*entry), &size);

	*out = NULL;
	if (!entry)
		return 0;
	*out = (const void *)(entry + 1);
	room = (size - sizeof(*entry)) / sizeof(**out);
	return entry->count < room ? entry->count : room;
}

void put_counter(const struct dump *dump, uint32_t group, size_t index, uint64_t bits)
{
	const struct ky_counter_entry *counters;
	uint32_t type = KYMO_VALUE_UINT64;

	putchar('[');
	put_u64(index);
	putchar(',');
	if (index < find_counters(dump, group, &counters)) {
		type = counters[index].value_type;
		put_name(dump, KY_ENTRY_STRING, counters[index].name);
	} else {
		put("null");
	}
	putchar(',');
	put_u64(type);
	putchar(',');
	put_scalar(dump, type, bits);
	putchar(']');
}
