/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of a file, as one JSON object. */
#include "info.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "say.h"

/* A comma where something stands already. */
static void begin_member(bool *has_members, const char *key)
{
	if (*has_members)
		fputs(", ", stdout);
	*has_members = true;
	ky_say_json(stdout, key);
	fputs(": ", stdout);
}

static void add_text(bool *has_members, const char *key, const char *text)
{
	if (!text)
		return;
	ky_say_member(stdout, *has_members ? ", " : "", key, text);
	*has_members = true;
}

static void add_number(bool *has_members, const char *key, uint64_t number)
{
	begin_member(has_members, key);
	printf("%" PRIu64, number);
}

static void add_signed(bool *has_members, const char *key, int64_t number)
{
	begin_member(has_members, key);
	printf("%" PRId64, number);
}

/* Lists of objects: `{` of the i-th one. */
static bool begin_item(size_t i)
{
	fputs(i > 0 ? ", {" : "{", stdout);
	return false;
}

static void print_field(bool *has_members, const struct ky_info_list *list,
			const struct ky_field *field, const char *item)
{
	const char *place = item + field->offset;
	uint64_t number;

	if (field->kind == KY_FIELD_TEXT) {
		add_text(has_members, field->name, *(char *const *)(const void *)place);
		return;
	}
	memcpy(&number, place, sizeof(number));
	if (field->offset != list->process_offset || number != KY_NO_INDEX)
		add_number(has_members, field->name, number);
}

static void print_list(const struct ky_info *info, const struct ky_info_list *list)
{
	const char *base = (const char *)info, *items;
	size_t count, i, j;

	memcpy(&items, base + list->list_offset, sizeof(items));
	memcpy(&count, base + list->count_offset, sizeof(count));
	printf(",\n \"%s\": [", list->name);
	for (i = 0; i < count; i++) {
		bool members = begin_item(i);

		for (j = 0; j < list->field_count; j++)
			print_field(&members, list, &list->fields[j],
				    items + i * list->item_size);
		fputc('}', stdout);
	}
	fputc(']', stdout);
}

static void add_category(bool *has_members, const struct ky_info_category *category)
{
	add_number(has_members, "spans", category->spans);
	add_number(has_members, "instants", category->instants);
	add_number(has_members, "counters", category->counters);
	add_signed(has_members, "busy_ns", category->busy_ns);
}

/* What there was no room for in the lists, as one. */
static void print_others(const struct ky_info *info)
{
	bool members = false;

	if (info->other_rows.events > 0)
		printf(",\n \"other_rows\": {\"events\": %" PRIu64 "}",
		       info->other_rows.events);
	if (ky_info_count(&info->other_categories) == 0)
		return;
	fputs(",\n \"other_types\": {", stdout);
	add_category(&members, &info->other_categories);
	fputc('}', stdout);
}

static void print_rows(const struct ky_info *info)
{
	size_t i;

	fputs(",\n \"rows\": [", stdout);
	for (i = 0; i < info->track_keys.count; i++) {
		bool members = begin_item(i);

		add_text(&members, "name", info->tracks[i].name);
		add_number(&members, "events", info->tracks[i].events);
		fputc('}', stdout);
	}
	fputs("],\n \"types\": [", stdout);
	for (i = 0; i < info->category_names.count; i++) {
		bool members = begin_item(i);

		add_text(&members, "name", info->category_names.names[i].text);
		add_category(&members, &info->categories[i]);
		fputc('}', stdout);
	}
	fputc(']', stdout);
	print_others(info);
}

static void print_values(const struct ky_info *info)
{
	bool members = false;
	size_t i;

	fputs(",\n \"metadata\": {", stdout);
	for (i = 0; i < info->value_count; i++) {
		begin_member(&members, info->values[i].key);
		fputs(info->values[i].json, stdout);
	}
	fputc('}', stdout);
}

static void print_ledger(const struct ky_info *info)
{
	bool members = false;
	size_t i;

	fputs(",\n \"ledger\": {", stdout);
	for (i = 0; i < info->ledger_count; i++)
		add_number(&members, info->ledger[i].name, info->ledger[i].value);
	fputc('}', stdout);
}

void ky_info_print_json(const struct ky_info *info)
{
	bool members = false;

	fputc('{', stdout);
	add_text(&members, "file", info->path);
	add_text(&members, "format", info->format);
	begin_member(&members, "gzip");
	fputs(info->is_gzip ? "true" : "false", stdout);
	add_number(&members, "file_bytes", info->file_bytes);
	add_number(&members, "bytes", info->bytes);
	add_text(&members, "kymo_version", info->version);
	add_text(&members, "command_line", info->command_line);
	add_number(&members, "spans", info->spans);
	add_number(&members, "instants", info->instants);
	add_number(&members, "counters", info->counters);
	add_number(&members, "arrows", info->arrows);
	add_number(&members, "others", info->others);
	if (info->ledger_count > 0) {
		begin_member(&members, "incomplete");
		fputs(ky_info_is_incomplete(info) ? "true" : "false", stdout);
	}
	if (info->has_time) {
		add_signed(&members, "first_ns", info->first_ns);
		add_signed(&members, "last_ns", info->last_ns);
	}
	if (info->left_out > 0)
		add_number(&members, "left_out", info->left_out);
	if (info->has_base)
		add_signed(&members, "base_ns", info->base_ns);
	print_list(info, &ky_info_lists[KY_INFO_PROCESSES]);
	print_values(info);
	print_list(info, &ky_info_lists[KY_INFO_SOURCES]);
	print_list(info, &ky_info_lists[KY_INFO_DEVICES]);
	print_rows(info);
	print_list(info, &ky_info_lists[KY_INFO_TYPES]);
	print_list(info, &ky_info_lists[KY_INFO_CLOCKS]);
	print_ledger(info);
	fputs("}\n", stdout);
}
