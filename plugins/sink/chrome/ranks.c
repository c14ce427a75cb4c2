/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * distributedInfo, with what a program or a source has said under that key. Readers look
 * for "rank" by plain text and take the first hit, so it is that of the process, which
 * the timeline takes from there too; and nothing is written where there are several.
 */
#include "chrome.h"

const struct kymo_trace_process *ky_ranks_one(const struct kymo_trace_header *header)
{
	const struct kymo_trace_process *found = NULL;
	uint32_t i;

	for (i = 0; i < header->process_count; i++) {
		const struct kymo_trace_process *process = header->processes[i];

		if (process->rank < 0)
			continue;
		if (found && found->rank != process->rank)
			return NULL;
		if (!found)
			found = process;
	}
	return found;
}

static bool has_any(const struct kymo_trace_header *header)
{
	uint32_t i = 0;

	while (i < header->process_count && header->processes[i]->rank < 0)
		i++;
	return i < header->process_count;
}

bool ky_ranks_take(const struct kymo_trace_header *header,
		   const struct kymo_trace_value *value)
{
	return value->type == KYMO_VALUE_DICT &&
	       ky_text_equal(value->key, KYMO_STR("distributedInfo")) &&
	       (ky_ranks_one(header) || !has_any(header));
}

/* What is said of the ranks; one with no members if nothing is. */
static const struct kymo_trace_value *find_said(const struct kymo_trace_header *header)
{
	static const struct kymo_trace_value nothing;
	size_t i;

	for (i = 0; i < header->metadata_count; i++) {
		if (ky_ranks_take(header, &header->metadata[i]))
			return &header->metadata[i];
	}
	return &nothing;
}

static const struct kymo_trace_value *find_member(const struct kymo_trace_value *said,
						  struct kymo_str key)
{
	uint32_t i;

	for (i = 0; i < said->count; i++) {
		if (ky_text_equal(said->items[i].key, key))
			return &said->items[i];
	}
	return NULL;
}

/* `"backend": "nccl", "rank": 3, "world_size": 8`, as far as it is known. */
static void write_first(struct ky_chrome *chrome,
			const struct kymo_trace_process *process,
			const struct kymo_trace_value *backend)
{
	struct ky_json *json = &chrome->json;

	KY_JSON_LITERAL(json, "\"backend\": ");
	if (backend)
		json->at = ky_keys_put_value(&chrome->keys, json, json->at, backend);
	else
		KY_JSON_LITERAL(json, "\"\"");
	if (process) {
		KY_JSON_LITERAL(json, ", \"rank\": ");
		ky_json_i64(json, process->rank);
	}
	if (process && process->world_size >= 0) {
		KY_JSON_LITERAL(json, ", \"world_size\": ");
		ky_json_i64(json, process->world_size);
	}
}

/* Whether the process has said it: then it stands there already. */
static bool is_first(const struct kymo_trace_process *process,
		     const struct kymo_trace_value *member)
{
	const bool is_number =
		member->type == KYMO_VALUE_INT64 || member->type == KYMO_VALUE_UINT64;

	return process && is_number &&
	       (ky_text_equal(member->key, KYMO_STR("rank")) ||
		ky_text_equal(member->key, KYMO_STR("world_size")));
}

void ky_ranks_write(struct ky_chrome *chrome)
{
	const struct kymo_trace_process *process = ky_ranks_one(chrome->header);
	const struct kymo_trace_value *said = find_said(chrome->header);
	const struct kymo_trace_value *backend = find_member(said, KYMO_STR("backend"));
	struct ky_json *json = &chrome->json;
	struct ky_names names = {0};
	uint32_t i;

	if (!process && said->type != KYMO_VALUE_DICT)
		return;
	KY_JSON_LITERAL(json, ",\n  \"distributedInfo\": {");
	write_first(chrome, process, backend);
	chrome->keys.hides_rank = process == NULL;
	ky_names_take(&names, KYMO_STR("rank"));
	ky_names_take(&names, KYMO_STR("world_size"));
	for (i = 0; i < said->count; i++) {
		if (&said->items[i] == backend || is_first(process, &said->items[i]))
			continue;
		KY_JSON_LITERAL(json, ", ");
		json->at = ky_keys_put_key(&chrome->keys, &names, json, json->at,
					   said->items, i);
		json->at =
			ky_keys_put_value(&chrome->keys, json, json->at, &said->items[i]);
	}
	KY_JSON_LITERAL(json, "}");
}
