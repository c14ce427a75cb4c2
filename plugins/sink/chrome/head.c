/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The top of the document, in libkineto's order. Readers look for some of these keys by
 * plain text and take the first hit, so nothing else here may be called "rank".
 */
#include "chrome.h"

#include <stdlib.h>

#define DAY_NS INT64_C(86400000000000)

/*
 * Midnight at or before the earliest event, in UTC: so times are small enough for a
 * reader's doubles to keep the ns, and all ranks of a day share the base. Offsets beyond
 * what 64 bits can hold come from broken captures only; then the trace begins at 0.
 */
static void choose_base(struct ky_chrome *chrome)
{
	const struct kymo_trace_header *header = chrome->header;
	int64_t first, midnight, base;

	chrome->base_ns = header->first_ns;
	chrome->base_epoch_ns = 0;
	if (__builtin_add_overflow(header->first_ns, header->realtime_offset_ns, &first))
		return;
	midnight = first / DAY_NS * DAY_NS;
	if (midnight > first && __builtin_sub_overflow(midnight, DAY_NS, &midnight))
		return;
	if (__builtin_sub_overflow(midnight, header->realtime_offset_ns, &base))
		return;
	chrome->base_ns = base;
	chrome->base_epoch_ns = midnight;
}

/* ---- Text made JSON before it is needed ---- */

struct text {
	char *data;
	size_t size;
};

static int32_t append(void *context, const char *data, size_t size)
{
	struct text *text = context;
	char *grown = realloc(text->data, text->size + size);

	if (!grown)
		return KYMO_ERROR_NO_MEMORY;
	memcpy(grown + text->size, data, size);
	text->data = grown;
	text->size += size;
	return KYMO_OK;
}

/* What events begin with, in one piece of memory, to which the first of them points. */
static int32_t prepare_begins(struct ky_chrome *chrome)
{
	static const char padding[KY_BEGIN_PADDING];
	const struct kymo_trace_header *header = chrome->header;
	struct text all = {0};
	size_t *ends = calloc(header->type_count + 1, sizeof(*ends));
	int32_t status = KYMO_ERROR_NO_MEMORY;
	struct ky_json scratch = {0};
	size_t i, begin = 0;

	chrome->begins = calloc(header->type_count + 1, sizeof(*chrome->begins));
	if (!ends || !chrome->begins)
		goto out;
	status = ky_json_init(&scratch, append, &all);
	for (i = 0; i < header->type_count && status == KYMO_OK; i++) {
		const struct kymo_trace_type *type = header->types[i];

		KY_JSON_LITERAL(&scratch, KY_EVENT_BEGIN ",\n    \"cat\": ");
		ky_json_string(&scratch,
			       type->category.size ? type->category : type->name);
		status = ky_json_flush(&scratch);
		ends[i] = all.size;
	}
	if (status == KYMO_OK)
		status = append(&all, padding, sizeof(padding));
	for (i = 0; i < header->type_count && status == KYMO_OK; i++) {
		chrome->begins[i].data = all.data + begin;
		chrome->begins[i].size = ends[i] - begin;
		begin = ends[i];
	}
	if (status == KYMO_OK && header->type_count > 0)
		all.data = NULL;
out:
	chrome->json.invalid_utf8 += scratch.invalid_utf8;
	chrome->json.nul += scratch.nul;
	ky_json_fini(&scratch);
	free(all.data);
	free(ends);
	return status;
}

/* It stands behind the counts of replacements, to which it may add. */
static int32_t prepare_trace_name(struct ky_chrome *chrome)
{
	const char *name = chrome->file.name;
	struct text text = {0};
	struct ky_json scratch;
	int32_t status = ky_json_init(&scratch, append, &text);

	if (status != KYMO_OK)
		return status;
	ky_json_string(&scratch, (struct kymo_str){name, strlen(name)});
	status = ky_json_flush(&scratch);
	chrome->json.invalid_utf8 += scratch.invalid_utf8;
	chrome->json.nul += scratch.nul;
	ky_json_fini(&scratch);
	chrome->trace_name = text.data;
	chrome->trace_name_size = text.size;
	return status;
}

/* ---- The document's top ---- */

static void write_text(struct ky_json *json, const char *before, struct kymo_str text)
{
	if (text.size == 0)
		return;
	ky_json_raw(json, before, strlen(before));
	ky_json_string(json, text);
}

static void write_value(struct ky_chrome *chrome, struct ky_names *names,
			const struct kymo_trace_value *values, size_t i)
{
	struct ky_json *json = &chrome->json;

	json->at = ky_keys_put_key(&chrome->keys, names, json, json->at, values, i);
	json->at = ky_keys_put_value(&chrome->keys, json, json->at, &values[i]);
}

static void write_device(struct ky_chrome *chrome, const struct kymo_trace_device *device)
{
	static const struct kymo_str taken[] = {
		{"id", 2},   {"name", 4},   {"kind", 4},    {"uuid", 4},
		{"rank", 4}, {"source", 6}, {"process", 7},
	};
	struct ky_json *json = &chrome->json;
	struct ky_names names = {0};
	uint32_t i;

	KY_JSON_LITERAL(json, "{\"id\": ");
	ky_json_u64(json, device->index);
	KY_JSON_LITERAL(json, ", \"name\": ");
	ky_json_string(json, device->name);
	write_text(json, ", \"kind\": ", device->kind);
	write_text(json, ", \"uuid\": ", device->uuid);
	write_text(json, ", \"source\": ", device->source);
	if (device->process) {
		KY_JSON_LITERAL(json, ", \"process\": ");
		ky_json_u64(json, device->process->index);
	}
	for (i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		ky_names_take(&names, taken[i]);
	for (i = 0; i < device->value_count; i++) {
		KY_JSON_LITERAL(json, ", ");
		write_value(chrome, &names, device->values, i);
	}
	KY_JSON_LITERAL(json, "}");
}

static void write_metadata(struct ky_chrome *chrome)
{
	static const struct kymo_str taken[] = {
		{"schemaVersion", 13},
		{"deviceProperties", 16},
		{"distributedInfo", 15},
		{"displayTimeUnit", 15},
		{"baseTimeNanoseconds", 19},
		{"traceEvents", 11},
		{"systemTraceEvents", 17},
		{"metadata", 8},
		{"kymo", 4},
		{"traceName", 9},
		{"rank", 4},
	};
	const struct kymo_trace_header *header = chrome->header;
	struct ky_json *json = &chrome->json;
	struct ky_names names = {0};
	size_t i;

	for (i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		ky_names_take(&names, taken[i]);
	for (i = 0; i < header->metadata_count; i++) {
		if (ky_ranks_take(header, &header->metadata[i]))
			continue;
		KY_JSON_LITERAL(json, ",\n  ");
		write_value(chrome, &names, header->metadata, i);
	}
}

int32_t ky_head_write(struct ky_chrome *chrome)
{
	struct ky_json *json = &chrome->json;
	int32_t status = prepare_begins(chrome);
	size_t i;

	if (status == KYMO_OK)
		status = prepare_trace_name(chrome);
	if (status != KYMO_OK)
		return status;
	choose_base(chrome);
	chrome->keys.base_ns = (uint64_t)chrome->base_ns;
	chrome->keys.hides_rank = true;
	KY_JSON_LITERAL(json, "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [");
	for (i = 0; i < chrome->header->device_count; i++) {
		if (i > 0)
			KY_JSON_LITERAL(json, ",");
		KY_JSON_LITERAL(json, "\n    ");
		write_device(chrome, chrome->header->devices[i]);
	}
	if (chrome->header->device_count > 0)
		KY_JSON_LITERAL(json, "\n  ");
	KY_JSON_LITERAL(json, "]");
	write_metadata(chrome);
	ky_ranks_write(chrome);
	chrome->keys.hides_rank = false;
	KY_JSON_LITERAL(json,
			",\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": ");
	ky_json_i64(json, chrome->base_epoch_ns);
	KY_JSON_LITERAL(json, ",\n  \"traceEvents\": [");
	return KYMO_OK;
}
