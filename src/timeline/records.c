/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/records.h"

#include <string.h>

#include "base/error.h"
#include "timeline/item.h"

KYMO_STATIC_ASSERT(KY_CHUNK_LINES < 1u << KY_CHUNK_LINE_BITS);

/* The track that it names, by the capture's number; 0: that of the thread. */
static uint32_t track_of(const struct ky_model_capture *capture,
			 const struct kymo_record *record)
{
	const struct kymo_record_counter *counter = (const void *)record;
	const struct ky_group_entry *group;

	if (record->track != 0 || record->kind != KYMO_KIND_COUNTER)
		return record->track;
	group = ky_catalog_find(capture->catalog, KY_ENTRY_GROUP, counter->group,
				sizeof(*group), NULL);
	return group ? group->track : 0;
}

uint32_t ky_record_row(const struct ky_record *record)
{
	const struct ky_model_capture *capture = record->capture;
	uint32_t track = track_of(capture, record->first);

	if (track == 0) {
		const uint16_t type = record->first->type;

		if (record->first->kind != KYMO_KIND_LINK && type < capture->type_count &&
		    capture->types[type].row > 0)
			return capture->types[type].row - 1;
		track = record->lease_track;
	}
	return capture->tracks[track < capture->track_count ? track : 0].track;
}

struct ky_clock_map *ky_record_clock(const struct ky_model_capture *capture,
				     const struct kymo_record *record)
{
	uint32_t track = track_of(capture, record), clock = 0;

	if ((record->flags & KYMO_RECORD_HOST_CLOCK) == 0 && track != 0) {
		if (track >= capture->track_count)
			return NULL;
		clock = capture->tracks[track].clock;
	}
	return clock < capture->clock_count ? &capture->clocks[clock] : NULL;
}

/*
 * Joins the pieces of one long value, into memory that stays until the arena is reset;
 * the number of lines that it took.
 */
static uint32_t join_bytes(struct ky_values *values, const struct kymo_record *lines,
			   uint32_t count, struct kymo_str *out)
{
	const struct kymo_record_bytes *first = (const void *)lines;
	size_t room = (size_t)count * sizeof(first->byte), size = 0;
	uint32_t used = 0;
	char *joined;

	*out = (struct kymo_str){NULL, 0};
	if (first->total < room)
		room = first->total;
	joined = ky_arena_take(values->arena, room + 1);
	if (!joined) {
		values->status = KYMO_ERROR_NO_MEMORY;
		return count;
	}
	for (; used < count; used++) {
		const struct kymo_record_bytes *piece = (const void *)&lines[used];
		size_t part = piece->used;

		if (piece->kind != KYMO_KIND_BYTES || piece->key != first->key ||
		    (used > 0 && size == room))
			break;
		if (part > sizeof(piece->byte))
			part = sizeof(piece->byte);
		if (part > room - size)
			part = room - size;
		memcpy(joined + size, piece->byte, part);
		size += part;
	}
	*out = (struct kymo_str){joined, size};
	return used;
}

/* ---- Names ---- */

/* The name that the record brings itself, in BYTES lines; else {NULL, 0}. */
static struct kymo_str own_name(struct ky_values *values, const struct kymo_record *first,
				uint32_t lines)
{
	struct kymo_str name = {NULL, 0};

	for (uint32_t at = 1; at < lines; at++) {
		const struct kymo_record_bytes *piece = (const void *)&first[at];

		if (piece->kind == KYMO_KIND_BYTES && piece->key == 0) {
			join_bytes(values, &first[at], lines - at, &name);
			break;
		}
	}
	return name.size > 0 ? name : (struct kymo_str){NULL, 0};
}

static struct kymo_str text_name(struct ky_values *values, uint32_t id)
{
	struct kymo_str name = ky_catalog_string(values->capture->catalog, id);

	if (name.data)
		return name;
	return ky_values_keep(values,
			      ky_arena_format(values->arena, "(unknown name %u)", id));
}

static struct kymo_str group_name(struct ky_values *values, uint32_t id,
				  const struct kymo_trace_type *type)
{
	const struct ky_group_entry *group = ky_catalog_find(
		values->capture->catalog, KY_ENTRY_GROUP, id, sizeof(*group), NULL);

	if (!group)
		return ky_values_keep(
			values, ky_arena_format(values->arena, "(unknown group %u)", id));
	return group->name ? text_name(values, group->name) : type->name;
}

struct kymo_str ky_record_name(struct ky_values *values, const struct kymo_record *first,
			       uint32_t lines, const struct kymo_trace_type *type)
{
	const struct kymo_record_counter *counter = (const void *)first;
	struct kymo_str name = own_name(values, first, lines);

	if (name.data)
		return name;
	if (first->kind == KYMO_KIND_COUNTER)
		return group_name(values, counter->group, type);
	if (first->name != 0)
		return first->flags & KYMO_RECORD_NAME_CODE
			       ? ky_values_code(values, first->name)
			       : text_name(values, first->name);
	return first->kind == KYMO_KIND_GAP ? KYMO_STR("nothing was recorded")
					    : type->name;
}

/* ---- Values ---- */

static void add_more(struct ky_values *values, const struct kymo_record_more *more)
{
	size_t used = more->used < 6 ? more->used : 6;

	for (size_t i = 0; i < used; i++)
		ky_values_add(values, more->key[i], more->value[i]);
}

static void add_further(struct ky_values *values, const struct kymo_record *lines,
			uint32_t count)
{
	for (uint32_t at = 0; at < count;) {
		const struct kymo_record_bytes *piece = (const void *)&lines[at];

		/* Bytes of key 0 are the name. */
		if (piece->kind == KYMO_KIND_BYTES && piece->key != 0) {
			struct kymo_str bytes;

			at += join_bytes(values, &lines[at], count - at, &bytes);
			if (bytes.data)
				ky_values_add_bytes(values, piece->key, bytes.data,
						    bytes.size);
			continue;
		}
		if (lines[at].kind == KYMO_KIND_MORE)
			add_more(values, (const void *)&lines[at]);
		at++;
	}
}

static void add_counters(struct ky_values *values, const struct kymo_record *first,
			 uint32_t lines)
{
	const struct kymo_record_counter *counter = (const void *)first;
	size_t room = 4 + (size_t)(lines - 1) * 7, count = 0;
	uint64_t raw[4 + (KYMO_RECORD_LINES_MAX - 1) * 7];

	if (counter->count < room)
		room = counter->count;
	for (; count < room && count < 4; count++)
		raw[count] = counter->value[count];
	for (uint32_t at = 1; at < lines; at++) {
		const struct kymo_record_values *more = (const void *)&first[at];

		if (more->kind != KYMO_KIND_VALUES)
			continue;
		for (size_t i = 0; i < more->used && i < 7 && count < room; i++)
			raw[count++] = more->value[i];
	}
	ky_values_add_counters(values, counter->group, raw, count);
}

void ky_record_values(struct ky_values *values, const struct kymo_record *first,
		      uint32_t lines)
{
	if (first->kind == KYMO_KIND_COUNTER) {
		add_counters(values, first, lines);
		add_further(values, first + 1, lines - 1);
		return;
	}
	ky_values_add(values, first->key[0], first->value[0]);
	ky_values_add(values, first->key[1], first->value[1]);
	if (lines > 1)
		add_further(values, first + 1, lines - 1);
	if (first->attributes != 0)
		ky_values_add_set(values, first->attributes);
}

static int is_reference(const struct ky_model_capture *capture, uint16_t key)
{
	return key < capture->key_count &&
	       capture->keys[key].reference == KY_REFERENCE_CORRELATION;
}

uint64_t ky_record_reference(const struct ky_record *record)
{
	const struct ky_model_capture *capture = record->capture;
	const struct kymo_record *first = record->first;

	if (!capture->has_references || first->kind == KYMO_KIND_COUNTER)
		return 0;
	for (size_t i = 0; i < 2; i++)
		if (is_reference(capture, first->key[i]))
			return first->value[i];
	for (uint32_t at = 1; at < record->lines; at++) {
		const struct kymo_record_more *more = (const void *)&first[at];

		if (more->kind != KYMO_KIND_MORE)
			continue;
		for (size_t i = 0; i < more->used && i < 6; i++)
			if (is_reference(capture, more->key[i]))
				return more->value[i];
	}
	return 0;
}

/* ---- Walking ---- */

/* Walks a chunk, or a part of one; `record` carries the lease on from part to part. */
static int32_t walk_chunk(struct ky_record *record, uint64_t chunk,
			  const struct kymo_record *lines, ky_record_fn visit,
			  void *context, struct kymo_error *error)
{
	const struct ky_model_capture *capture = record->capture;
	uint32_t count =
		capture->capture->chunks[chunk - capture->first_chunk].line_count;

	for (uint32_t at = 0; at < count; at += record->lines ? record->lines : 1) {
		const struct kymo_record_lease *lease = (const void *)&lines[at];
		int32_t status;

		record->lines = ky_record_lines(&lines[at], count - at);
		if (record->lines == 0)
			continue;
		if (lease->kind == KYMO_KIND_LEASE) {
			record->lease_track = lease->track;
			record->lease_begin = lease->begin;
			record->new_lease = 1;
			continue;
		}
		record->first = &lines[at];
		record->line = chunk << KY_CHUNK_LINE_BITS | at;
		status = visit(context, record, error);
		if (status != KYMO_OK)
			return status;
		record->new_lease = 0;
	}
	return KYMO_OK;
}

static int goes_on(const struct ky_reader_chunk *part,
		   const struct ky_reader_chunk *before)
{
	return part->sequence == before->sequence &&
	       part->first == before->first + before->line_count;
}

static int32_t walk_capture(struct ky_model_capture *capture, struct kymo_record *lines,
			    ky_record_fn visit, void *context, struct kymo_error *error)
{
	struct ky_record record = {.capture = capture};

	for (size_t i = 0; i < capture->capture->chunk_count; i++) {
		const struct ky_reader_chunk *chunk = &capture->capture->chunks[i];
		int32_t status = ky_reader_lines(capture->reader, chunk, lines, error);

		if (i == 0 || !goes_on(chunk, chunk - 1))
			record = (struct ky_record){.capture = capture, .new_lease = 1};
		if (status == KYMO_OK)
			status = walk_chunk(&record, capture->first_chunk + i, lines,
					    visit, context, error);
		if (status != KYMO_OK)
			return status;
	}
	return KYMO_OK;
}

int32_t ky_records_walk(struct ky_model *model, ky_record_fn visit, void *context,
			struct kymo_error *error)
{
	struct kymo_record *lines = malloc(KY_CHUNK_LINES * sizeof(*lines));
	int32_t status = KYMO_OK;

	if (!lines)
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
				    "no memory to read records");
	for (size_t i = 0; i < model->capture_count && status == KYMO_OK; i++)
		status = walk_capture(&model->captures[i], lines, visit, context, error);
	free(lines);
	return status;
}
