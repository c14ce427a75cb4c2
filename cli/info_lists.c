/* SPDX-License-Identifier: BSD-3-Clause */
/* What traces have in lists, field by field. */
#include "info.h"

static const struct ky_field process_fields[] = {
	KY_FIELD(ky_info_process, "pid", KY_FIELD_TEXT, pid),
	KY_FIELD(ky_info_process, "name", KY_FIELD_TEXT, name),
	KY_FIELD(ky_info_process, "exe", KY_FIELD_TEXT, exe),
	KY_FIELD(ky_info_process, "command line", KY_FIELD_TEXT, command_line),
	KY_FIELD(ky_info_process, "host", KY_FIELD_TEXT, host),
	KY_FIELD(ky_info_process, "rank", KY_FIELD_TEXT, rank),
};

static const struct ky_field source_fields[] = {
	KY_FIELD(ky_info_source, "name", KY_FIELD_TEXT, name),
	KY_FIELD(ky_info_source, "state", KY_FIELD_TEXT, state),
	KY_FIELD(ky_info_source, "reason", KY_FIELD_TEXT, reason),
	KY_FIELD(ky_info_source, "remedy", KY_FIELD_TEXT, remedy),
	KY_FIELD(ky_info_source, "process", KY_FIELD_NUMBER, process),
	KY_FIELD(ky_info_source, "events", KY_FIELD_NUMBER, events),
	KY_FIELD(ky_info_source, "written", KY_FIELD_NUMBER, written),
	KY_FIELD(ky_info_source, "lost", KY_FIELD_NUMBER, lost),
	KY_FIELD(ky_info_source, "late", KY_FIELD_NUMBER, late),
	KY_FIELD(ky_info_source, "overwritten", KY_FIELD_NUMBER, overwritten),
	KY_FIELD(ky_info_source, "out of window", KY_FIELD_NUMBER, out_of_window),
	KY_FIELD(ky_info_source, "filtered", KY_FIELD_NUMBER, filtered),
	KY_FIELD(ky_info_source, "invalid", KY_FIELD_NUMBER, invalid),
};

static const struct ky_field device_fields[] = {
	KY_FIELD(ky_info_device, "name", KY_FIELD_TEXT, name),
	KY_FIELD(ky_info_device, "kind", KY_FIELD_TEXT, kind),
	KY_FIELD(ky_info_device, "source", KY_FIELD_TEXT, source),
	KY_FIELD(ky_info_device, "process", KY_FIELD_NUMBER, process),
};

static const struct ky_field type_fields[] = {
	KY_FIELD(ky_info_type, "number", KY_FIELD_NUMBER, number),
	KY_FIELD(ky_info_type, "full name", KY_FIELD_TEXT, name),
	KY_FIELD(ky_info_type, "category", KY_FIELD_TEXT, category),
	KY_FIELD(ky_info_type, "side", KY_FIELD_TEXT, side),
	KY_FIELD(ky_info_type, "shapes", KY_FIELD_TEXT, shapes),
};

static const struct ky_field clock_fields[] = {
	KY_FIELD(ky_info_clock, "name", KY_FIELD_TEXT, name),
	KY_FIELD(ky_info_clock, "kind", KY_FIELD_TEXT, kind),
	KY_FIELD(ky_info_clock, "source", KY_FIELD_TEXT, source),
	KY_FIELD(ky_info_clock, "anchors", KY_FIELD_NUMBER, anchors),
	KY_FIELD(ky_info_clock, "uncertainty (ns)", KY_FIELD_NUMBER, uncertainty_ns),
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

const struct ky_info_list ky_info_lists[KY_INFO_LIST_COUNT] = {
	[KY_INFO_PROCESSES] =
		{
			.key = "processes",
			.name = "processes",
			.fields = process_fields,
			.field_count = COUNT_OF(process_fields),
			.item_size = sizeof(struct ky_info_process),
			.list_offset = offsetof(struct ky_info, processes),
			.count_offset = offsetof(struct ky_info, process_count),
		},
	[KY_INFO_SOURCES] =
		{
			.key = "sources",
			.name = "sources",
			.fields = source_fields,
			.field_count = COUNT_OF(source_fields),
			.item_size = sizeof(struct ky_info_source),
			.list_offset = offsetof(struct ky_info, sources),
			.count_offset = offsetof(struct ky_info, source_count),
			.process_offset = offsetof(struct ky_info_source, process),
		},
	[KY_INFO_DEVICES] =
		{
			.key = "deviceProperties",
			.name = "devices",
			.fields = device_fields,
			.field_count = COUNT_OF(device_fields),
			.item_size = sizeof(struct ky_info_device),
			.list_offset = offsetof(struct ky_info, devices),
			.count_offset = offsetof(struct ky_info, device_count),
			.process_offset = offsetof(struct ky_info_device, process),
		},
	[KY_INFO_CLOCKS] =
		{
			.key = "clocks",
			.name = "clocks",
			.fields = clock_fields,
			.field_count = COUNT_OF(clock_fields),
			.item_size = sizeof(struct ky_info_clock),
			.list_offset = offsetof(struct ky_info, clocks),
			.count_offset = offsetof(struct ky_info, clock_count),
		},
	[KY_INFO_TYPES] =
		{
			.key = "activity types",
			.name = "activity_types",
			.fields = type_fields,
			.field_count = COUNT_OF(type_fields),
			.item_size = sizeof(struct ky_info_type),
			.list_offset = offsetof(struct ky_info, types),
			.count_offset = offsetof(struct ky_info, type_count),
		},
};
