/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/values.h"

#include <inttypes.h>
#include <string.h>

#include "timeline/nested.h"

struct kymo_str ky_values_keep(struct ky_values *values, struct kymo_str text)
{
	if (!text.data)
		values->status = KYMO_ERROR_NO_MEMORY;
	return text;
}

static void *take(struct ky_values *values, size_t size)
{
	void *memory = ky_arena_take(values->arena, size ? size : 1);

	if (!memory)
		values->status = KYMO_ERROR_NO_MEMORY;
	return memory;
}

static struct kymo_trace_value *add_item(struct ky_values *values)
{
	if (values->count == values->capacity) {
		size_t capacity = values->capacity * 2 + 32;
		struct kymo_trace_value *items =
			realloc(values->items, capacity * sizeof(*items));

		if (!items) {
			values->status = KYMO_ERROR_NO_MEMORY;
			return NULL;
		}
		values->items = items;
		values->capacity = capacity;
	}
	return &values->items[values->count++];
}

static const struct ky_capture_key *find_key(const struct ky_values *values, uint16_t key)
{
	return key < values->capture->key_count && values->capture->keys[key].name.data
		       ? &values->capture->keys[key]
		       : NULL;
}

/*
 * A new item with the name and unit of the key, which is `known`; one that is not (NULL)
 * is shown with its number.
 */
static struct kymo_trace_value *add_keyed(struct ky_values *values, uint16_t key,
					  const struct ky_capture_key *known,
					  uint32_t *type)
{
	struct kymo_trace_value *value = add_item(values);

	if (!value)
		return NULL;
	*value = (struct kymo_trace_value){.count = 0};
	if (known) {
		value->key = known->name;
		value->unit = known->unit;
		*type = known->type;
	} else {
		value->key = ky_values_keep(
			values, ky_arena_format(values->arena, "(unknown key %u)", key));
		*type = KYMO_VALUE_UINT64;
	}
	return value;
}

/* The text of a string's number: "(unknown string 17)" if it is not there. */
static struct kymo_str text_of(struct ky_values *values, uint32_t id)
{
	struct kymo_str text = ky_catalog_string(values->capture->catalog, id);

	if (!text.data && id != 0)
		text = ky_values_keep(
			values, ky_arena_format(values->arena,
						"(unknown string %" PRIu32 ")", id));
	return text;
}

/* What the capture itself knows. */
static struct kymo_str format_code(struct ky_values *values,
				   const struct ky_code_entry *code)
{
	struct kymo_str object =
		ky_catalog_string(values->capture->catalog, code->object);
	struct kymo_str symbol =
		ky_catalog_string(values->capture->catalog, code->symbol);
	const char *folder;

	if (object.size > INT32_MAX || symbol.size > INT32_MAX)
		object = symbol = (struct kymo_str){NULL, 0};
	folder = object.size > 0 ? memrchr(object.data, '/', object.size) : NULL;
	if (folder) {
		object.size -= (size_t)(folder + 1 - object.data);
		object.data = folder + 1;
	}
	if (symbol.size > 0)
		return ky_values_keep(
			values,
			ky_arena_format(values->arena, "%.*s (%.*s+0x%" PRIx64 ")",
					(int)symbol.size, symbol.data, (int)object.size,
					object.data ? object.data : "", code->offset));
	if (object.size > 0)
		return ky_values_keep(values,
				      ky_arena_format(values->arena, "%.*s+0x%" PRIx64,
						      (int)object.size, object.data,
						      code->offset));
	return ky_values_keep(
		values, ky_arena_format(values->arena, "0x%" PRIx64, code->address));
}

struct kymo_str ky_values_code(struct ky_values *values, uint64_t id)
{
	const struct ky_model_capture *capture = values->capture;
	const struct ky_code_entry *code = NULL;

	if (id == 0)
		return (struct kymo_str){NULL, 0};
	if (id < capture->code_count && capture->codes[id].data)
		return capture->codes[id];
	if (id <= UINT32_MAX)
		code = ky_catalog_find(capture->catalog, KY_ENTRY_CODE, (uint32_t)id,
				       KY_CODE_ENTRY_LEAST, NULL);
	if (!code)
		return ky_values_keep(
			values,
			ky_arena_format(values->arena, "(unknown code %" PRIu64 ")", id));
	return format_code(values, code);
}

struct kymo_str ky_values_number(struct ky_values *values, uint32_t type, uint64_t raw)
{
	if (type == KYMO_VALUE_CODE)
		return ky_values_code(values, raw);
	if (raw > UINT32_MAX)
		return ky_values_keep(
			values, ky_arena_format(values->arena,
						"(unknown string %" PRIu64 ")", raw));
	return text_of(values, (uint32_t)raw);
}

static int convert_time(struct ky_values *values, uint64_t raw, int64_t *ns)
{
	return values->clock
		       ? ky_clock_map_convert(values->clock, raw, values->near_ns, ns)
		       : -1;
}

int ky_values_set(struct ky_values *values, struct kymo_trace_value *value, uint32_t type,
		  uint64_t raw)
{
	value->type = type;
	switch (type) {
	case KYMO_VALUE_STRING:
	case KYMO_VALUE_CODE:
		value->text = ky_values_number(values, type, raw);
		return 0;
	case KYMO_VALUE_TIME:
		return convert_time(values, raw, &value->i64);
	case KYMO_VALUE_BOOL:
		value->u64 = raw != 0;
		return 0;
	case KYMO_VALUE_INT64:
	case KYMO_VALUE_DOUBLE:
	case KYMO_VALUE_UINT64:
		value->u64 = raw; /* the same 64 bits whichever member reads them */
		return 0;
	default:
		value->type = KYMO_VALUE_UINT64;
		value->u64 = raw;
		return 0;
	}
}

/* What the trace has for what a source refers to; -1: it is not there. */
static uint64_t refer(const struct ky_values *values, enum ky_reference reference,
		      uint64_t raw)
{
	const struct ky_model_track *queue;

	if (reference == KY_REFERENCE_CORRELATION)
		return values->referred ? values->referred : UINT64_MAX;
	if (reference != KY_REFERENCE_QUEUE)
		return raw;
	queue = ky_model_find_queue(values->model, values->track, raw);
	return queue ? queue->trace.number : UINT64_MAX;
}

void ky_values_add(struct ky_values *values, uint16_t key, uint64_t raw)
{
	const struct ky_capture_key *known;
	struct kymo_trace_value *value;
	uint32_t type = 0;

	if (key == 0)
		return;
	known = find_key(values, key);
	if (known && known->reference != KY_REFERENCE_NONE && values->model)
		raw = refer(values, known->reference, raw);
	value = add_keyed(values, key, known, &type);
	if (value && ky_values_set(values, value, type & ~KYMO_VALUE_ARRAY, raw) != 0)
		values->count--;
}

int ky_values_set_array(struct ky_values *values, struct kymo_trace_value *value,
			uint32_t element, const uint64_t *raw)
{
	struct kymo_str *texts;
	int64_t *times;

	value->type = element | KYMO_VALUE_ARRAY;
	switch (element) {
	case KYMO_VALUE_STRING:
	case KYMO_VALUE_CODE:
		texts = take(values, value->count * sizeof(*texts));
		for (uint32_t i = 0; texts && i < value->count; i++)
			texts[i] = ky_values_number(values, element, raw[i]);
		value->text_array = texts;
		return texts ? 0 : -1;
	case KYMO_VALUE_TIME:
		times = take(values, value->count * sizeof(*times));
		for (uint32_t i = 0; times && i < value->count; i++) {
			if (convert_time(values, raw[i], &times[i]) != 0)
				return -1;
		}
		value->i64_array = times;
		return times ? 0 : -1;
	case KYMO_VALUE_INT64:
		value->i64_array = (const int64_t *)raw;
		return 0;
	case KYMO_VALUE_DOUBLE:
		value->f64_array = (const double *)(const void *)raw;
		return 0;
	case KYMO_VALUE_BOOL:
	case KYMO_VALUE_UINT64:
		value->u64_array = raw;
		return 0;
	default:
		value->type = KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY;
		value->u64_array = raw;
		return 0;
	}
}

/* `raw` is aligned and stays where it is until the arena is reset. */
static void add_elements(struct ky_values *values, uint16_t key, const uint64_t *raw,
			 size_t count)
{
	struct kymo_trace_value *value;
	uint32_t type = 0;

	if (key == 0 || count > UINT32_MAX)
		return;
	value = add_keyed(values, key, find_key(values, key), &type);
	if (!value)
		return;
	value->count = (uint32_t)count;
	/* Words that make no sense are shown as they are. */
	if (type == KYMO_VALUE_NESTED && ky_nested_resolve(values, raw, count, value))
		return;
	if (ky_values_set_array(values, value, type & ~KYMO_VALUE_ARRAY, raw) != 0)
		values->count--;
}

void ky_values_add_bytes(struct ky_values *values, uint16_t key, const void *bytes,
			 size_t size)
{
	const struct ky_capture_key *known = find_key(values, key);
	struct kymo_trace_value *value;
	uint32_t type;
	uint64_t *raw;

	if (key == 0)
		return;
	if (known && (known->type & KYMO_VALUE_ARRAY) == 0 &&
	    known->type != KYMO_VALUE_STRING && size == sizeof(uint64_t)) {
		uint64_t scalar;

		memcpy(&scalar, bytes, sizeof(scalar));
		ky_values_add(values, key, scalar);
		return;
	}
	if (!known || (known->type & KYMO_VALUE_ARRAY) == 0) {
		/* A long text, given as it is instead of by its number. */
		value = add_keyed(values, key, known, &type);
		if (value) {
			value->type = KYMO_VALUE_STRING;
			value->text = (struct kymo_str){bytes, size};
		}
		return;
	}
	raw = take(values, size + sizeof(uint64_t));
	if (!raw)
		return;
	memcpy(raw, bytes, size);
	add_elements(values, key, raw, size / sizeof(uint64_t));
}

void ky_values_add_attributes(struct ky_values *values, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	while (size >= sizeof(struct ky_attribute) + sizeof(uint64_t)) {
		struct ky_attribute attribute;
		size_t count, used;

		memcpy(&attribute, at, sizeof(attribute));
		count = attribute.count ? attribute.count : 1;
		if (count > (size - sizeof(attribute)) / sizeof(uint64_t))
			return;
		used = sizeof(attribute) + count * sizeof(uint64_t);
		if (attribute.count == 0) {
			uint64_t raw;

			memcpy(&raw, at + sizeof(attribute), sizeof(raw));
			ky_values_add(values, attribute.key, raw);
		} else {
			add_elements(values, attribute.key,
				     (const void *)(at + sizeof(attribute)), count);
		}
		at += used;
		size -= used;
	}
}

void ky_values_add_set(struct ky_values *values, uint32_t id)
{
	size_t size;
	const void *bytes = ky_catalog_find(values->capture->catalog, KY_ENTRY_ATTRIBUTES,
					    id, 0, &size);

	if (bytes)
		ky_values_add_attributes(values, bytes, size);
}

void ky_values_add_counters(struct ky_values *values, uint32_t group, const uint64_t *raw,
			    size_t count)
{
	const struct ky_group_entry *entry;
	const struct ky_counter_entry *counters = NULL;
	size_t size, known = 0;

	entry = ky_catalog_find(values->capture->catalog, KY_ENTRY_GROUP, group,
				sizeof(*entry), &size);
	if (entry) {
		counters = (const void *)(entry + 1);
		known = (size - sizeof(*entry)) / sizeof(*counters);
		known = entry->count < known ? entry->count : known;
	}
	for (size_t i = 0; i < count; i++) {
		struct kymo_trace_value *value = add_item(values);
		uint32_t type = KYMO_VALUE_UINT64;

		if (!value)
			return;
		*value = (struct kymo_trace_value){.count = 0};
		if (i < known) {
			value->key = text_of(values, counters[i].name);
			value->unit = ky_catalog_string(values->capture->catalog,
							counters[i].unit);
			type = counters[i].value_type;
		} else {
			value->key = ky_values_keep(
				values, ky_arena_format(values->arena,
							"(unknown counter %zu)", i));
		}
		if (type != KYMO_VALUE_INT64 && type != KYMO_VALUE_DOUBLE)
			type = KYMO_VALUE_UINT64;
		ky_values_set(values, value, type, raw[i]);
	}
}

int32_t ky_values_take(struct ky_values *values, const struct kymo_trace_value **out,
		       size_t *count)
{
	struct kymo_trace_value *copy = NULL;

	*out = NULL;
	*count = 0;
	if (values->count > 0 && values->status == KYMO_OK) {
		copy = take(values, values->count * sizeof(*copy));
		if (copy)
			memcpy(copy, values->items, values->count * sizeof(*copy));
	}
	if (values->status == KYMO_OK) {
		*out = copy;
		*count = values->count;
	}
	values->count = 0;
	return values->status;
}

void ky_values_clear(struct ky_values *values)
{
	free(values->items);
	values->items = NULL;
	values->count = values->capacity = 0;
}
