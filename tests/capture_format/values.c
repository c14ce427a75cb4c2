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

/* ---- Nested values ---- */

#define DEPTH_MAX 16u

struct words {
	const uint8_t *at;
	size_t left;
};

static int take_word(struct words *words, uint64_t *out)
{
	if (words->left == 0)
		return 0;
	memcpy(out, words->at, sizeof(*out));
	words->at += sizeof(*out);
	words->left--;
	return 1;
}

static int skip_words(struct words *words, uint64_t count)
{
	if (count > words->left)
		return 0;
	words->at += count * sizeof(uint64_t);
	words->left -= count;
	return 1;
}

/* Whether an item is here; the words go on to behind it. */
static int is_item(struct words *words, uint32_t depth)
{
	uint64_t head, key;
	uint32_t type;

	if (!take_word(words, &head) || (head & 0xfffffe00u))
		return 0;
	type = head & 0x1ff;
	if (type == KYMO_VALUE_LIST || type == KYMO_VALUE_DICT) {
		if (depth == DEPTH_MAX)
			return 0;
		for (uint64_t i = 0; i < head >> 32; i++)
			if ((type == KYMO_VALUE_DICT && !take_word(words, &key)) ||
			    !is_item(words, depth + 1))
				return 0;
		return 1;
	}
	if (depth == 0 || (type & 0xff) < KYMO_VALUE_INT64 ||
	    (type & 0xff) > KYMO_VALUE_CODE)
		return 0;
	if (type & KYMO_VALUE_ARRAY)
		return skip_words(words, head >> 32);
	return head >> 32 == 0 && skip_words(words, 1);
}

static void put_item(const struct dump *dump, struct words *words)
{
	uint64_t head = 0, word = 0;
	uint32_t type;
	int any = 0;

	take_word(words, &head);
	type = head & 0x1ff;
	if (type <= KYMO_VALUE_CODE) {
		take_word(words, &word);
		put_scalar(dump, type, word);
		return;
	}
	put(type == KYMO_VALUE_LIST   ? "{\"list\":["
	    : type == KYMO_VALUE_DICT ? "{\"dict\":["
				      : "[");
	for (uint64_t i = 0; i < head >> 32; i++) {
		put_comma(&any);
		if (type & KYMO_VALUE_ARRAY || type == KYMO_VALUE_DICT)
			take_word(words, &word);
		if (type & KYMO_VALUE_ARRAY) {
			put_scalar(dump, type & 0xff, word);
			continue;
		}
		if (type == KYMO_VALUE_DICT) {
			putchar('[');
			put_number(dump, KY_ENTRY_STRING, word);
			putchar(',');
		}
		put_item(dump, words);
		if (type == KYMO_VALUE_DICT)
			putchar(']');
	}
	put(type & KYMO_VALUE_ARRAY ? "]" : "]}");
}

/* The elements of an array key, after put_key. */
static void put_elements(const struct dump *dump, const struct ky_key_entry *entry,
			 const uint8_t *bytes, size_t size)
{
	const struct words all = {bytes, size / sizeof(uint64_t)};
	struct words words = all;

	if (!entry || entry->value_type != KYMO_VALUE_NESTED || !is_item(&words, 0) ||
	    words.left > 0) {
		put_array(dump, element_type(entry), bytes, size);
		return;
	}
	words = all;
	put_item(dump, &words);
	putchar(']');
}

void put_keyed_bytes(const struct dump *dump, uint16_t key, const uint8_t *bytes,
		     size_t size)
{
	const struct ky_key_entry *entry = put_key(dump, key);

	if (entry && entry->value_type & KYMO_VALUE_ARRAY) {
		put_elements(dump, entry, bytes, size);
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
			put_elements(dump, put_key(dump, attribute.key), bytes, values);
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
