/* SPDX-License-Identifier: BSD-3-Clause */
#include "keys.h"

#include <stdlib.h>

/* ---- What is remembered of keys ---- */

void ky_keys_forget(struct ky_keys *keys)
{
	memset(keys->recent, 0, sizeof(keys->recent));
}

void ky_keys_fini(struct ky_keys *keys)
{
	size_t i;

	for (i = 0; i < keys->count; i++) {
		free(keys->list[i].text);
		free(keys->list[i].unit);
	}
	free(keys->list);
	memset(keys, 0, sizeof(*keys));
}

static char *copy(struct kymo_str text)
{
	char *copied = malloc(text.size + 1);

	if (copied && text.size > 0)
		memcpy(copied, text.data, text.size);
	return copied;
}

static bool has_room(struct ky_keys *keys)
{
	size_t capacity = keys->capacity ? 2 * keys->capacity : 32;
	struct ky_key *list;

	if (keys->count == KY_KEYS_MAX) {
		keys->unlisted++;
		return false;
	}
	if (keys->count < keys->capacity)
		return true;
	list = realloc(keys->list, capacity * sizeof(*list));
	if (!list) {
		keys->status = KYMO_ERROR_NO_MEMORY;
		return false;
	}
	keys->list = list;
	keys->capacity = capacity;
	return true;
}

/* The entry of a key, made if need be; NULL when it can't be listed. */
static struct ky_key *find_key(struct ky_keys *keys, struct kymo_str text)
{
	const uint64_t hash = ky_text_hash(text, 0);
	struct ky_key *key;
	size_t i;

	for (i = 0; i < keys->count; i++) {
		key = &keys->list[i];
		if (key->hash == hash &&
		    ky_text_equal((struct kymo_str){key->text, key->text_size}, text))
			return key;
	}
	if (!has_room(keys))
		return NULL;
	key = &keys->list[keys->count];
	memset(key, 0, sizeof(*key));
	key->text = copy(text);
	if (!key->text) {
		keys->status = KYMO_ERROR_NO_MEMORY;
		return NULL;
	}
	key->text_size = text.size;
	key->hash = hash;
	keys->count++;
	return key;
}

static void note_big(struct ky_keys *keys, struct kymo_str text)
{
	struct ky_key *key = find_key(keys, text);

	if (key)
		key->is_big = true;
}

/* Times are written in the unit of `ts`, whatever the source counts in. */
static struct ky_key *note_unit(struct ky_keys *keys,
				const struct kymo_trace_value *value)
{
	struct ky_key *key;

	if (value->unit.size == 0 || (value->type & ~KYMO_VALUE_ARRAY) == KYMO_VALUE_TIME)
		return NULL;
	key = find_key(keys, value->key);
	if (!key || key->unit)
		return key;
	key->unit = copy(value->unit);
	if (!key->unit)
		keys->status = KYMO_ERROR_NO_MEMORY;
	key->unit_size = value->unit.size;
	return key;
}

void ky_keys_note_series(struct ky_keys *keys, const struct kymo_trace_value *value)
{
	struct ky_key *key = note_unit(keys, value);

	if (key)
		key->is_series = true;
}

/* ---- Values ---- */

char *ky_keys_put_u64(struct ky_keys *keys, char *at, struct kymo_str key, uint64_t value)
{
	if (value <= KY_EXACT_MAX)
		return ky_put_u64(at, value);
	note_big(keys, key);
	*at = '"';
	at = ky_put_u64(at + 1, value);
	*at = '"';
	return at + 1;
}

char *ky_keys_put_i64(struct ky_keys *keys, char *at, struct kymo_str key, int64_t value)
{
	if (value <= (int64_t)KY_EXACT_MAX && value >= -(int64_t)KY_EXACT_MAX)
		return ky_put_i64(at, value);
	note_big(keys, key);
	*at = '"';
	at = ky_put_i64(at + 1, value);
	*at = '"';
	return at + 1;
}

/* In the unit of `ts`, from the same zero; what was before it is negative. */
static char *put_time(const struct ky_keys *keys, char *at, int64_t ns)
{
	const uint64_t since = (uint64_t)ns - keys->base_ns;

	if ((int64_t)since >= 0)
		return ky_put_us(at, since);
	*at = '-';
	return ky_put_us(at + 1, 0 - since);
}

static char *put_bool(char *at, bool value)
{
	return value ? KY_PUT(at, "true") : KY_PUT(at, "false");
}

static char *put_element(struct ky_keys *keys, struct ky_json *json, char *at,
			 const struct kymo_trace_value *value, uint32_t i)
{
	switch (value->type & ~KYMO_VALUE_ARRAY) {
	case KYMO_VALUE_INT64:
		return ky_keys_put_i64(keys, at, value->key, value->i64_array[i]);
	case KYMO_VALUE_UINT64:
		return ky_keys_put_u64(keys, at, value->key, value->u64_array[i]);
	case KYMO_VALUE_DOUBLE:
		return ky_json_put_double(json, at, value->f64_array[i]);
	case KYMO_VALUE_BOOL:
		return put_bool(at, value->u64_array[i] != 0);
	case KYMO_VALUE_STRING:
	case KYMO_VALUE_CODE:
		return ky_json_put_string(json, at, value->text_array[i]);
	case KYMO_VALUE_TIME:
		return put_time(keys, at, value->i64_array[i]);
	default:
		return KY_PUT(at, "null");
	}
}

static char *put_array(struct ky_keys *keys, struct ky_json *json, char *at,
		       const struct kymo_trace_value *value)
{
	const bool is_integer = value->type == (KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY) ||
				value->type == (KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY);
	uint32_t i;

	*at++ = '[';
	for (i = 0; i < value->count; i++) {
		at = ky_json_room(json, at);
		if (i > 0)
			at = KY_PUT(at, ", ");
		if (is_integer && value->u64_array[i] <= KY_EXACT_MAX)
			at = ky_put_u64(at, value->u64_array[i]);
		else
			at = put_element(keys, json, at, value, i);
	}
	at = ky_json_room(json, at);
	*at = ']';
	return at + 1;
}

/* As libkineto writes them: [[2, 3], [4]], and objects. */
static char *put_items(struct ky_keys *keys, struct ky_json *json, char *at,
		       const struct kymo_trace_value *value)
{
	const bool is_dict = value->type == KYMO_VALUE_DICT;
	struct ky_names names = {0};
	uint32_t i;

	if (keys->hides_rank)
		ky_names_take(&names, KYMO_STR("rank"));
	*at++ = is_dict ? '{' : '[';
	for (i = 0; i < value->count; i++) {
		struct kymo_trace_value item = value->items[i];

		at = ky_json_room(json, at);
		if (i > 0)
			at = KY_PUT(at, ", ");
		if (is_dict)
			at = ky_keys_put_key(keys, &names, json, at, value->items, i);
		else
			item.key = value->key; /* whose integers may be too big */
		at = ky_keys_put_value(keys, json, at, &item);
	}
	at = ky_json_room(json, at);
	*at++ = is_dict ? '}' : ']';
	return at;
}

char *ky_keys_put_any_value(struct ky_keys *keys, struct ky_json *json, char *at,
			    const struct kymo_trace_value *value)
{
	switch (value->type) {
	case KYMO_VALUE_INT64:
		return ky_keys_put_i64(keys, at, value->key, value->i64);
	case KYMO_VALUE_UINT64:
		return ky_keys_put_u64(keys, at, value->key, value->u64);
	case KYMO_VALUE_DOUBLE:
		return ky_json_put_double(json, at, value->f64);
	case KYMO_VALUE_BOOL:
		return put_bool(at, value->u64 != 0);
	case KYMO_VALUE_STRING:
	case KYMO_VALUE_CODE:
		return ky_json_put_string(json, at, value->text);
	case KYMO_VALUE_TIME:
		return put_time(keys, at, value->i64);
	case KYMO_VALUE_LIST:
	case KYMO_VALUE_DICT:
		return put_items(keys, json, at, value);
	default:
		if (value->type & KYMO_VALUE_ARRAY)
			return put_array(keys, json, at, value);
		return KY_PUT(at, "null");
	}
}

/* ---- Keys as they are written ---- */

static bool is_taken(const struct ky_names *names, const struct kymo_trace_value *values,
		     size_t i)
{
	const struct kymo_str key = values[i].key;
	size_t j;

	for (j = 0; j < names->reserved_count; j++) {
		if (ky_text_equal(key, names->reserved[j]))
			return true;
	}
	for (j = 0; j < names->count; j++) {
		if (ky_text_equal(key, names->taken[j]))
			return true;
	}
	for (j = 0; j < i; j++) {
		if (ky_text_equal(key, values[j].key))
			return true;
	}
	return false;
}

/* True for "x (3)", which might be the number that another key gets. */
static bool is_numbered(struct kymo_str key)
{
	size_t i = key.size;

	if (i == 0 || key.data[--i] != ')')
		return false;
	while (i > 0 && key.data[i - 1] >= '0' && key.data[i - 1] <= '9')
		i--;
	return i >= 2 && key.data[i - 1] == '(' && key.data[i - 2] == ' ' &&
	       key.size - i > 1;
}

static bool is_plain(struct kymo_str key)
{
	size_t i;

	for (i = 0; i < key.size; i++) {
		const unsigned char byte = (unsigned char)key.data[i];

		if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\')
			return false;
	}
	return true;
}

/* What holds for this key as often as it comes within the batch. */
static void remember(struct ky_keys *keys, struct ky_recent_key *recent,
		     const struct kymo_trace_value *value)
{
	const struct kymo_str key = value->key;

	note_unit(keys, value);
	recent->data = key.data;
	recent->size = key.size;
	recent->unit = value->unit.data;
	recent->bit = ky_names_bit(key);
	recent->ready = 0;
	if (key.size == 0 || key.size + 4 > sizeof(recent->text) || !is_plain(key) ||
	    is_numbered(key))
		return;
	recent->text[0] = '"';
	memcpy(recent->text + 1, key.data, key.size);
	memcpy(recent->text + 1 + key.size, "\": ", 3);
	recent->ready = (uint32_t)key.size + 4;
}

/* Of any bytes; with its place in the list if it is to be numbered. */
static char *put_escaped_key(struct ky_json *json, char *at, struct kymo_str key,
			     size_t i, bool is_double)
{
	const uint64_t replaced = json->invalid_utf8 + json->nul;

	at = KY_PUT(at, "\"");
	at = ky_json_room(json, ky_json_put_text(json, at, key));
	/* Replaced bytes may have made keys equal that were not. */
	is_double |= json->invalid_utf8 + json->nul != replaced;
	if (is_double)
		at = KY_PUT(ky_put_u64(KY_PUT(at, " ("), i + 1), ")");
	return KY_PUT(at, "\": ");
}

char *ky_keys_put_any_key(struct ky_keys *keys, struct ky_names *names,
			  struct ky_json *json, char *at,
			  const struct kymo_trace_value *values, size_t i)
{
	const struct kymo_trace_value *value = &values[i];
	struct ky_recent_key *recent = ky_keys_recent(keys, value);
	bool taken;

	if (recent->data != value->key.data || recent->size != value->key.size ||
	    recent->unit != value->unit.data || recent->bit == 0)
		remember(keys, recent, value);
	taken = (names->filter & recent->bit) && is_taken(names, values, i);
	names->filter |= recent->bit;
	if (taken || recent->ready == 0)
		return put_escaped_key(json, at, value->key, i,
				       taken || is_numbered(value->key));
	memcpy(at, recent->text, sizeof(recent->text));
	return at + recent->ready;
}
