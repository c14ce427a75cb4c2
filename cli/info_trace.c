/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is in a Chrome trace, of whatever tool: events are counted as they pass, and what
 * Kymo wrote of itself into the object `kymo` is taken over. Keys may come in any order.
 */
#include "info_trace.h"

#include <stdlib.h>
#include <string.h>

#include "info_values.h"
#include "input.h"
#include "say.h"

/* ---- Objects of known fields ---- */

static void set_field(struct ky_trace *trace, const struct ky_field *field, void *object)
{
	void *place = (char *)object + field->offset;
	size_t size;
	const char *word = ky_json_reader_text(trace->reader, &size);

	if (field->kind == KY_FIELD_NUMBER) {
		*(uint64_t *)place = strtoull(word, NULL, 10);
		return;
	}
	free(*(char **)place);
	*(char **)place = ky_must_copy(word, size);
}

enum ky_json_token ky_trace_read_fields(struct ky_trace *trace,
					const struct ky_field *fields, size_t count,
					void *object)
{
	enum ky_json_token token;

	while ((token = ky_trace_next(trace)) == KY_JSON_KEY) {
		const struct ky_field *field = NULL;
		size_t i;

		for (i = 0; i < count && !field; i++) {
			if (ky_trace_is_key(trace, fields[i].key))
				field = &fields[i];
		}
		token = ky_trace_next(trace);
		if (field && (token == KY_JSON_STRING || token == KY_JSON_NUMBER))
			set_field(trace, field, object);
		if (ky_trace_pass_over(trace, token) == KY_JSON_ERROR)
			return KY_JSON_ERROR;
	}
	return token;
}

/* What is no list is passed over. */
static enum ky_json_token read_list(struct ky_trace *trace,
				    const struct ky_info_list *list)
{
	char *info = (char *)trace->info;
	void **items = (void **)(void *)(info + list->list_offset);
	size_t *count = (size_t *)(void *)(info + list->count_offset);
	enum ky_json_token token = ky_trace_next(trace);

	if (token != KY_JSON_ARRAY)
		return ky_trace_pass_over(trace, token);
	while ((token = ky_trace_next(trace)) > KY_JSON_END &&
	       token != KY_JSON_ARRAY_END) {
		const uint64_t none = KY_NO_INDEX;
		char *item;

		const bool is_left_out =
			token == KY_JSON_OBJECT && *count >= KY_INFO_KEPT_MAX;

		if (token != KY_JSON_OBJECT || is_left_out) {
			trace->info->left_out += is_left_out;
			if (ky_trace_pass_over(trace, token) == KY_JSON_ERROR)
				return KY_JSON_ERROR;
			continue;
		}
		*items = ky_info_append(*items, count, list->item_size);
		item = (char *)*items + (*count - 1) * list->item_size;
		if (list->process_offset)
			memcpy(item + list->process_offset, &none, sizeof(none));
		if (ky_trace_read_fields(trace, list->fields, list->field_count, item) ==
		    KY_JSON_ERROR)
			return KY_JSON_ERROR;
	}
	return token;
}

static enum ky_json_token read_ledger(struct ky_trace *trace)
{
	struct ky_info *info = trace->info;
	enum ky_json_token token = ky_trace_next(trace);

	if (token != KY_JSON_OBJECT)
		return ky_trace_pass_over(trace, token);
	while ((token = ky_trace_next(trace)) == KY_JSON_KEY) {
		size_t size;
		const char *key = ky_json_reader_text(trace->reader, &size);
		char *name = ky_must_copy(key, size);

		token = ky_trace_next(trace);
		if ((token != KY_JSON_NUMBER && token != KY_JSON_STRING) ||
		    info->ledger_count >= KY_INFO_KEPT_MAX) {
			free(name);
			if (ky_trace_pass_over(trace, token) == KY_JSON_ERROR)
				return KY_JSON_ERROR;
			continue;
		}
		info->ledger = ky_info_append(info->ledger, &info->ledger_count,
					      sizeof(*info->ledger));
		info->ledger[info->ledger_count - 1].name = name;
		info->ledger[info->ledger_count - 1].value =
			strtoull(ky_trace_text(trace), NULL, 10);
	}
	return token;
}

static enum ky_json_token read_own_text(struct ky_trace *trace, char **place)
{
	enum ky_json_token token = ky_trace_next(trace);

	if (token != KY_JSON_STRING)
		return ky_trace_pass_over(trace, token);
	free(*place);
	*place = ky_must_copy(ky_trace_text(trace), strlen(ky_trace_text(trace)));
	return token;
}

static enum ky_json_token read_kymo(struct ky_trace *trace)
{
	enum ky_json_token token = ky_trace_next(trace);

	if (token != KY_JSON_OBJECT)
		return ky_trace_pass_over(trace, token);
	trace->info->is_ours = true;
	while ((token = ky_trace_next(trace)) == KY_JSON_KEY) {
		const struct ky_info_list *list = NULL;
		size_t i;

		for (i = 0; i < KY_INFO_LIST_COUNT && !list; i++) {
			if (i != KY_INFO_DEVICES &&
			    ky_trace_is_key(trace, ky_info_lists[i].key))
				list = &ky_info_lists[i];
		}
		if (list)
			token = read_list(trace, list);
		else if (ky_trace_is_key(trace, "ledger"))
			token = read_ledger(trace);
		else if (ky_trace_is_key(trace, "version"))
			token = read_own_text(trace, &trace->info->version);
		else if (ky_trace_is_key(trace, "command line"))
			token = read_own_text(trace, &trace->info->command_line);
		else
			token = ky_json_reader_skip(trace->reader, KY_JSON_KEY);
		if (token == KY_JSON_ERROR)
			return token;
	}
	return token;
}

/* ---- The document ---- */

enum ky_json_token ky_trace_read_top_value(struct ky_trace *trace)
{
	struct ky_info *info = trace->info;
	enum ky_json_token token;

	if (ky_trace_is_key(trace, ky_info_lists[KY_INFO_DEVICES].key))
		return read_list(trace, &ky_info_lists[KY_INFO_DEVICES]);
	if (ky_trace_is_key(trace, "kymo"))
		return read_kymo(trace);
	if (ky_trace_is_key(trace, "baseTimeNanoseconds")) {
		token = ky_trace_next(trace);
		info->has_base = token == KY_JSON_NUMBER;
		if (info->has_base)
			info->base_ns = strtoll(ky_trace_text(trace), NULL, 10);
		return ky_trace_pass_over(trace, token);
	}
	if (ky_info_is_value(trace))
		return ky_info_read_value(trace);
	if (!ky_trace_is_key(trace, "traceEvents"))
		return ky_json_reader_skip(trace->reader, KY_JSON_KEY);
	token = ky_trace_next(trace);
	if (token != KY_JSON_ARRAY)
		return ky_trace_pass_over(trace, token);
	info->format = "Chrome trace";
	return ky_trace_read_events(trace);
}

static enum ky_json_token read_document(struct ky_trace *trace)
{
	enum ky_json_token token = ky_trace_next(trace);

	if (token == KY_JSON_ARRAY) {
		trace->info->format = "Chrome trace (array form)";
		token = ky_trace_read_events(trace);
	} else if (token == KY_JSON_OBJECT) {
		while ((token = ky_trace_next(trace)) == KY_JSON_KEY) {
			if (ky_trace_read_top_value(trace) == KY_JSON_ERROR)
				return KY_JSON_ERROR;
		}
	}
	return token > KY_JSON_END ? ky_trace_next(trace) : token;
}

/* The pid is the first of the two words of a row's key. */
static void take_owners(struct ky_trace *trace)
{
	struct ky_info *info = trace->info;

	for (size_t i = 0; i < info->track_keys.count; i++) {
		const char *pid = info->track_keys.names[i].text;
		const size_t number = ky_table_number(&trace->pids, pid, strlen(pid), 0);
		const char *name =
			number == KY_TABLE_FULL ? NULL : trace->names[number].name;
		char text[2 * KY_INFO_NAME_SIZE];

		snprintf(text, sizeof(text), "%s%s%s", name ? name : "", name ? " " : "",
			 pid);
		info->tracks[i].owner = ky_must_copy(text, strlen(text));
	}
}

/* Where the trace says nothing of its processes but their names, these are shown. */
static void take_names(struct ky_trace *trace)
{
	struct ky_info *info = trace->info;
	size_t i;

	take_owners(trace);
	if (info->process_count > 0) {
		for (i = 0; i < trace->name_count; i++)
			free(trace->names[i].name);
		free(trace->names);
		return;
	}
	for (i = 0; i < trace->name_count; i++) {
		const struct ky_table_name *pid = &trace->pids.names[i];

		trace->names[i].pid = ky_must_copy(pid->text, pid->size);
	}
	info->processes = trace->names;
	info->process_count = trace->name_count;
}

static int say_failure(const struct ky_trace *trace)
{
	const struct ky_json_reader *reader = trace->reader;

	return ky_say_error(KY_EXIT_FAILED,
			    "cannot read \"%s\": line %llu, byte %llu: %s; it is not a "
			    "complete JSON trace",
			    trace->info->path,
			    (unsigned long long)ky_json_reader_line(reader),
			    (unsigned long long)ky_json_reader_byte(reader),
			    ky_json_reader_error(reader));
}

int ky_info_read_trace(struct ky_info *info)
{
	struct ky_trace trace = {.info = info};
	struct ky_input input;
	int number = ky_input_open(&input, info->path), status = 0;

	if (number != 0)
		return ky_say_error(KY_EXIT_FAILED, "cannot read \"%s\": %s", info->path,
				    ky_input_reason(number));
	info->is_gzip = input.is_gzip;
	trace.reader = ky_json_reader_create(ky_input_read, &input);
	if (!trace.reader)
		status = ky_say_error(KY_EXIT_FAILED, "out of memory");
	else if (read_document(&trace) == KY_JSON_ERROR)
		status = say_failure(&trace);
	else if (!info->format)
		status = ky_say_error(KY_EXIT_FAILED,
				      "cannot read \"%s\": JSON, but no trace: it has no "
				      "list \"traceEvents\"",
				      info->path);
	if (status == 0) {
		take_names(&trace);
		ky_info_part_projected(info);
	}
	info->file_bytes = input.file_bytes;
	info->bytes = input.bytes;
	ky_json_reader_destroy(trace.reader);
	ky_input_close(&input);
	ky_table_fini(&trace.pids);
	return status;
}
