/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of a capture, chunk by chunk, none of which is trusted. */
#include "dump.h"

#include <string.h>

const char *const dump_kind_names[KIND_COUNT] = {
	"", "span", "instant", "counter", "link", "lease", "gap", "open", "other",
};

static void put_flags(uint16_t flags)
{
	static const char *const names[] = {"origin",      "target",     "unfinished",
					    "untimed",     "host_clock", "error",
					    "end_by_rule", "name_code"};
	int any = 0;

	put(",\"flags\":[");
	put_u64(flags);
	put(",[");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (flags >> i & 1) {
			put_comma(&any);
			printf("\"%s\"", names[i]);
		}
	}
	put("]]");
}

/* What all records begin with. */
static void put_place(const struct dump *dump, const struct kymo_record *record,
		      uint64_t sequence, uint32_t line)
{
	unsigned int kind = record->kind;

	put("{\"line\":\"");
	put(dump_kind_names[kind < KIND_COUNT ? kind : KIND_COUNT - 1]);
	put("\",\"at\":[");
	put_u64(sequence);
	putchar(',');
	put_u64(line);
	putchar(']');
	if (kind != KYMO_KIND_LEASE) {
		put(",\"lease\":");
		put_u64(dump->lease);
	}
	put(",\"lines\":");
	put_u64(record->lines);
}

static void put_track(const struct dump *dump, const struct kymo_record *record,
		      uint32_t group_track)
{
	uint32_t meant = record->track ? record->track : group_track;

	if (!meant)
		meant = dump->lease_track;
	put(",\"track\":[");
	put_u64(record->track);
	putchar(',');
	put_u64(meant);
	putchar(',');
	put_name(dump, KY_ENTRY_TRACK, meant);
	putchar(']');
}

static void put_reference(const struct dump *dump, const char *name, uint16_t kind,
			  uint64_t number)
{
	putchar(',');
	putchar('"');
	put(name);
	put("\":");
	put_number(dump, kind, number);
}

static void put_ticks(const char *name, uint64_t ticks)
{
	putchar(',');
	putchar('"');
	put(name);
	put("\":");
	put_u64(ticks);
}

/* ---- Values ---- */

struct joined {
	uint16_t key;
	uint32_t lines; /* that it took */
	size_t size;
	uint8_t bytes[KYMO_RECORD_LINES_MAX * 56];
};

/* Joins the pieces of the value that begins at the first of `count` lines. */
static void join(const struct kymo_record *lines, uint32_t count, struct joined *out)
{
	const struct kymo_record_bytes *first = (const void *)lines;

	out->key = first->key;
	out->size = 0;
	for (out->lines = 0; out->lines < count; out->lines++) {
		const struct kymo_record_bytes *piece = (const void *)&lines[out->lines];
		size_t part = piece->used < 56 ? piece->used : 56;

		if (piece->kind != KYMO_KIND_BYTES || piece->key != first->key ||
		    (out->lines > 0 && out->size == first->total))
			break;
		if (part > first->total - out->size)
			part = first->total - out->size;
		memcpy(out->bytes + out->size, piece->byte, part);
		out->size += part;
	}
}

/* The name that came as bytes: the first value of key 0, unless it is empty. */
static int find_own_name(const struct kymo_record *record, struct joined *name)
{
	for (uint32_t at = 1; at < record->lines; at++) {
		const struct kymo_record_bytes *piece = (const void *)&record[at];

		if (piece->kind == KYMO_KIND_BYTES && piece->key == 0) {
			join(&record[at], record->lines - at, name);
			return name->size > 0;
		}
	}
	return 0;
}

static void put_more(const struct dump *dump, const struct kymo_record_more *more,
		     int *any)
{
	for (size_t i = 0; i < more->used && i < 6; i++) {
		if (more->key[i]) {
			put_comma(any);
			put_keyed(dump, more->key[i], more->value[i]);
		}
	}
}

/* `own`: the record has two keys with values in its first line. */
static void put_values(const struct dump *dump, const struct kymo_record *record, int own)
{
	struct joined value;
	int any = 0;

	put(",\"values\":[");
	for (size_t i = 0; own && i < 2; i++) {
		if (record->key[i]) {
			put_comma(&any);
			put_keyed(dump, record->key[i], record->value[i]);
		}
	}
	for (uint32_t at = 1; at < record->lines;) {
		if (record[at].kind == KYMO_KIND_BYTES) {
			join(&record[at], record->lines - at, &value);
			at += value.lines;
			if (value.key) {
				put_comma(&any);
				put_keyed_bytes(dump, value.key, value.bytes, value.size);
			}
			continue;
		}
		if (record[at].kind == KYMO_KIND_MORE)
			put_more(dump, (const void *)&record[at], &any);
		at++;
	}
	putchar(']');
}

/* ---- Records ---- */

static void put_activity(const struct dump *dump, const struct kymo_record *record)
{
	uint16_t kind =
		record->flags & KYMO_RECORD_NAME_CODE ? KY_ENTRY_CODE : KY_ENTRY_STRING;
	struct joined name;

	put_flags(record->flags);
	put_track(dump, record, 0);
	put_reference(dump, "type", KY_ENTRY_TYPE, record->type);
	put_reference(dump, "domain", KY_ENTRY_DOMAIN, record->domain);
	if (find_own_name(record, &name)) {
		put(",\"name\":[");
		put_u64(record->name);
		putchar(',');
		put_text(name.bytes, name.size);
		putchar(']');
	} else {
		put_reference(dump, "name", kind, record->name);
	}
	put_ticks("begin", record->begin);
	put_ticks("end", record->end);
	put_ticks("correlation", record->correlation);
	put_values(dump, record, 1);
	put(",\"attributes\":");
	put_set(dump, record->attributes);
}

static void put_optional_name(const struct kymo_record *record)
{
	struct joined name;

	put(",\"name\":");
	if (find_own_name(record, &name))
		put_text(name.bytes, name.size);
	else
		put("null");
}

static void put_counters(const struct dump *dump,
			 const struct kymo_record_counter *counter)
{
	const struct kymo_record_values *line = (const void *)counter;
	size_t index = 0;
	int any = 0;

	put(",\"counters\":[");
	for (; index < 4 && index < counter->count; index++) {
		put_comma(&any);
		put_counter(dump, counter->group, index, counter->value[index]);
	}
	for (uint32_t at = 1; at < counter->lines; at++) {
		if (line[at].kind != KYMO_KIND_VALUES)
			continue;
		for (size_t i = 0; i < line[at].used && i < 7 && index < counter->count;
		     i++) {
			put_comma(&any);
			put_counter(dump, counter->group, index++, line[at].value[i]);
		}
	}
	putchar(']');
}

static void put_counter_record(const struct dump *dump, const struct kymo_record *record)
{
	const struct kymo_record_counter *counter = (const void *)record;
	const struct ky_group_entry *group = ky_catalog_find(
		dump->catalog, KY_ENTRY_GROUP, counter->group, sizeof(*group), NULL);

	put_flags(counter->flags);
	put_track(dump, record, group ? group->track : 0);
	put_reference(dump, "type", KY_ENTRY_TYPE, counter->type);
	put_reference(dump, "group", KY_ENTRY_GROUP, counter->group);
	put_optional_name(record);
	put_ticks("begin", counter->begin);
	put_ticks("end", counter->end);
	put_ticks("count", counter->count);
	put_counters(dump, counter);
	put_values(dump, record, 0);
}

static void put_link(const struct dump *dump, const struct kymo_record *record)
{
	const struct kymo_record_link *link = (const void *)record;

	put_flags(link->flags);
	put_track(dump, record, 0);
	put_reference(dump, "source", KY_ENTRY_SOURCE, link->source);
	put_reference(dump, "link_kind", KY_ENTRY_LINK_KIND, link->link_kind);
	put_optional_name(record);
	put_ticks("time", link->time);
	put(",\"from\":[");
	put_number(dump, KY_ENTRY_DOMAIN, link->from_domain);
	putchar(',');
	put_u64(link->from);
	put("],\"to\":[");
	put_number(dump, KY_ENTRY_DOMAIN, link->to_domain);
	putchar(',');
	put_u64(link->to);
	putchar(']');
	put_values(dump, record, 1);
	put(",\"attributes\":");
	put_set(dump, link->attributes);
}

static void take_lease(struct dump *dump, const struct kymo_record *record)
{
	const struct kymo_record_lease *lease = (const void *)record;

	dump->lease = lease->sequence;
	dump->lease_track = lease->track;
	put_ticks("flags", lease->flags);
	put_reference(dump, "track", KY_ENTRY_TRACK, lease->track);
	put_ticks("writer", lease->writer);
	put_ticks("tid", lease->tid);
	put_ticks("begin", lease->begin);
	put_ticks("sequence", lease->sequence);
}

static void dump_record(struct dump *dump, const struct kymo_record *record,
			uint64_t sequence, uint32_t line)
{
	put_place(dump, record, sequence, line);
	switch (record->kind) {
	case KYMO_KIND_COUNTER:
		put_counter_record(dump, record);
		break;
	case KYMO_KIND_LINK:
		put_link(dump, record);
		break;
	case KYMO_KIND_LEASE:
		take_lease(dump, record);
		break;
	case KYMO_KIND_SPAN:
	case KYMO_KIND_INSTANT:
	case KYMO_KIND_GAP:
	case KYMO_KIND_OPEN:
		put_activity(dump, record);
		break;
	default:
		put_ticks("kind", record->kind);
		break;
	}
	put("}\n");
}

static int is_record(const struct kymo_record *line, uint32_t available)
{
	return line->kind != 0 && line->kind < KYMO_KIND_MORE && line->lines != 0 &&
	       line->lines <= available;
}

static void dump_chunk(struct dump *dump, const struct kymo_record *lines,
		       const struct ky_reader_chunk *chunk)
{
	const struct ky_reader_chunk *before = chunk - 1;

	/* A lease goes on over the parts of its chunk, where nothing is missing. */
	if (chunk == dump->capture->chunks || before->sequence != chunk->sequence ||
	    before->first + before->line_count != chunk->first) {
		dump->lease = 0;
		dump->lease_track = 0;
	}
	for (uint32_t at = 0; at < chunk->line_count;) {
		const struct kymo_record *line = &lines[at];

		if (!is_record(line, chunk->line_count - at)) {
			dump->stray_lines += line->kind != KYMO_KIND_PAD;
			at++;
			continue;
		}
		dump->counts[line->kind < KIND_COUNT ? line->kind : KIND_COUNT - 1]++;
		dump_record(dump, line, chunk->sequence, chunk->first + at);
		at += line->lines;
	}
}

int dump_records(struct dump *dump)
{
	static struct kymo_record lines[KY_CHUNK_LINES];
	struct kymo_error error;

	for (size_t i = 0; i < dump->capture->chunk_count; i++) {
		const struct ky_reader_chunk *chunk = &dump->capture->chunks[i];

		if (ky_reader_lines(dump->reader, chunk, lines, &error) != KYMO_OK) {
			fprintf(stderr, "dump: %s\n", error.message);
			return -1;
		}
		dump_chunk(dump, lines, chunk);
	}
	return 0;
}
