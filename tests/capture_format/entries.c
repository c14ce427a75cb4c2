/* SPDX-License-Identifier: BSD-3-Clause */
/* The dictionary, entry by entry. */
#include "dump.h"

#include <string.h>

#define MEMBERS_MAX 9

/* A member of an entry: its size, and of what kind the number is. */
struct member {
	const char *name;
	uint16_t kind; /* KY_ENTRY_*; 0: a plain number; SET: an attribute set */
	uint16_t size; /* 0: 4 bytes */
};

#define SET    0xffffu
#define STRING KY_ENTRY_STRING
#define SOURCE KY_ENTRY_SOURCE

static const struct kind {
	const char *name;
	size_t size;
	size_t name_offset;
	struct member members[MEMBERS_MAX];
} kinds[KY_ENTRY_KINDS] = {
	[KY_ENTRY_STRING] = {"string", 0, 0, {{NULL, 0, 0}}},
	[KY_ENTRY_SOURCE] = {"source",
			     sizeof(struct ky_source_entry),
			     offsetof(struct ky_source_entry, name),
			     {{"name", STRING, 0},
			      {"plugin", STRING, 0},
			      {"version", STRING, 0},
			      {"description", STRING, 0}}},
	[KY_ENTRY_TYPE] = {"type",
			   sizeof(struct ky_type_entry),
			   offsetof(struct ky_type_entry, name),
			   {{"source", SOURCE, 0},
			    {"name", STRING, 0},
			    {"category", STRING, 0},
			    {"plugin", STRING, 0},
			    {"shapes", 0, 0},
			    {"side", 0, 0},
			    {"flags", 0, 0},
			    {"activity_type", 0, 0}}},
	[KY_ENTRY_KEY] = {"key",
			  sizeof(struct ky_key_entry),
			  offsetof(struct ky_key_entry, name),
			  {{"name", STRING, 0},
			   {"unit", STRING, 0},
			   {"value_type", 0, 0}}},
	[KY_ENTRY_DOMAIN] = {"domain",
			     sizeof(struct ky_domain_entry),
			     offsetof(struct ky_domain_entry, name),
			     {{"name", STRING, 0},
			      {"source", SOURCE, 0},
			      {"scope", 0, 0}}},
	[KY_ENTRY_LINK_KIND] = {"link_kind",
				sizeof(struct ky_link_kind_entry),
				offsetof(struct ky_link_kind_entry, name),
				{{"name", STRING, 0}}},
	[KY_ENTRY_CLOCK] = {"clock",
			    sizeof(struct ky_clock_entry),
			    offsetof(struct ky_clock_entry, name),
			    {{"name", STRING, 0},
			     {"source", SOURCE, 0},
			     {"kind", 0, 0},
			     {"bits", 0, 0},
			     {"flags", 0, 0},
			     {"device", KY_ENTRY_DEVICE, 0},
			     {"ticks_num", 0, 8},
			     {"ticks_den", 0, 8}}},
	[KY_ENTRY_DEVICE] = {"device",
			     sizeof(struct ky_device_entry),
			     offsetof(struct ky_device_entry, name),
			     {{"native", 0, 8},
			      {"source", SOURCE, 0},
			      {"index", 0, 0},
			      {"name", STRING, 0},
			      {"kind", STRING, 0},
			      {"uuid", STRING, 0},
			      {"parent", KY_ENTRY_DEVICE, 0},
			      {"order", 0, 0},
			      {"attributes", SET, 0}}},
	[KY_ENTRY_TRACK] = {"track",
			    sizeof(struct ky_track_entry),
			    offsetof(struct ky_track_entry, name),
			    {{"native", 0, 8},
			     {"kind", 0, 0},
			     {"source", SOURCE, 0},
			     {"name", STRING, 0},
			     {"clock", KY_ENTRY_CLOCK, 0},
			     {"device", KY_ENTRY_DEVICE, 0},
			     {"order", 0, 0},
			     {"attributes", SET, 0}}},
	[KY_ENTRY_GROUP] = {"group",
			    sizeof(struct ky_group_entry),
			    offsetof(struct ky_group_entry, name),
			    {{"track", KY_ENTRY_TRACK, 0},
			     {"name", STRING, 0},
			     {"count", 0, 0},
			     {"source", SOURCE, 0}}},
	[KY_ENTRY_ATTRIBUTES] = {"attributes", 0, 0, {{NULL, 0, 0}}},
	[KY_ENTRY_CODE] = {"code",
			   KY_CODE_ENTRY_LEAST,
			   offsetof(struct ky_code_entry, symbol),
			   {{"address", 0, 8},
			    {"object", STRING, 0},
			    {"symbol", STRING, 0},
			    {"offset", 0, 8}}},
	[KY_ENTRY_METADATA] = {"metadata", 0, 0, {{NULL, 0, 0}}},
	[KY_ENTRY_STATE] = {"state",
			    sizeof(struct ky_state_entry),
			    0,
			    {{"source", SOURCE, 0},
			     {"state", 0, 0},
			     {"reason", STRING, 0},
			     {"remedy", STRING, 0},
			     {"sequence", 0, 8}}},
};

void put_name(const struct dump *dump, uint16_t kind, uint64_t number)
{
	const uint8_t *payload = NULL;
	size_t size = 0;

	if (number <= UINT32_MAX)
		payload = ky_catalog_find(dump->catalog, kind, (uint32_t)number,
					  kinds[kind].size, &size);
	if (payload && kind != KY_ENTRY_STRING) {
		uint32_t name;

		memcpy(&name, payload + kinds[kind].name_offset, sizeof(name));
		payload = ky_catalog_find(dump->catalog, KY_ENTRY_STRING, name, 0, &size);
	}
	if (payload)
		put_text(payload, size);
	else
		put("null");
}

void put_number(const struct dump *dump, uint16_t kind, uint64_t number)
{
	putchar('[');
	put_u64(number);
	putchar(',');
	put_name(dump, kind, number);
	putchar(']');
}

static void put_members(const struct dump *dump, const struct kind *kind,
			const uint8_t *payload)
{
	const struct member *member = kind->members;

	for (; member < kind->members + MEMBERS_MAX && member->name; member++) {
		size_t size = member->size ? member->size : sizeof(uint32_t);
		uint64_t number = 0;

		memcpy(&number, payload, size); /* little endian */
		payload += size;
		printf(",\"%s\":", member->name);
		if (member->kind == SET)
			put_set(dump, (uint32_t)number);
		else if (member->kind)
			put_number(dump, member->kind, number);
		else
			put_u64(number);
	}
}

static void put_counters(const struct dump *dump, uint32_t group)
{
	const struct ky_counter_entry *counters;
	size_t count = find_counters(dump, group, &counters);
	int any = 0;

	put(",\"counters\":[");
	for (size_t i = 0; i < count; i++) {
		put_comma(&any);
		putchar('[');
		put_number(dump, KY_ENTRY_STRING, counters[i].name);
		putchar(',');
		put_number(dump, KY_ENTRY_STRING, counters[i].unit);
		putchar(',');
		put_u64(counters[i].value_type);
		putchar(']');
	}
	putchar(']');
}

/* Captures of before have none. */
static void put_build_id(const struct dump *dump, const uint8_t *payload, size_t size)
{
	struct ky_code_entry code = {.build_id = 0};

	memcpy(&code, payload, size < sizeof(code) ? KY_CODE_ENTRY_LEAST : sizeof(code));
	put(",\"build_id\":");
	put_number(dump, KY_ENTRY_STRING, code.build_id);
}

static void dump_entry(const struct dump *dump, uint16_t kind, uint32_t id)
{
	size_t size;
	const uint8_t *payload = ky_catalog_find(dump->catalog, kind, id, 0, &size);

	printf("{\"line\":\"entry\",\"kind\":\"%s\",\"id\":%u", kinds[kind].name, id);
	if (size < kinds[kind].size) {
		put_member("size", size);
	} else if (kind == KY_ENTRY_STRING) {
		put(",\"text\":");
		put_text(payload, size);
	} else if (kinds[kind].size == 0) {
		put(",\"values\":");
		put_attributes(dump, payload, size);
	} else {
		put_members(dump, &kinds[kind], payload);
		if (kind == KY_ENTRY_GROUP)
			put_counters(dump, id);
		if (kind == KY_ENTRY_CODE)
			put_build_id(dump, payload, size);
	}
	put("}\n");
}

void dump_entries(const struct dump *dump)
{
	for (uint16_t kind = 1; kind < KY_ENTRY_KINDS; kind++) {
		uint32_t count = ky_catalog_count(dump->catalog, kind);

		for (uint32_t id = 1; id <= count; id++)
			dump_entry(dump, kind, id);
	}
}
