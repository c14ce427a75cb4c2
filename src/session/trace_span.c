/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a framework tells of the iterations that it traces, as libkineto has it: a span
 * "NAME (7)" and, at its begin, a moment for the whole trace, both on a row NAME of their
 * own, since they are no part of what the thread does. The span's name never comes again,
 * so it stands in the record and not in the dictionary.
 */
#include <kymo/mark.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "capture/lease.h"
#include "record/dictionary.h"
#include "session/mark.h"
#include "session/mark_types.h"

#define NAME_MAX_SIZE 1024u
#define SORT_LAST     536870912u /* libkineto's place for these rows */
#define PIECE_SIZE    sizeof(((struct kymo_record_bytes *)NULL)->byte)

/* The type of both; 0: no room for it in the dictionary. */
static uint16_t find_type(void)
{
	const struct ky_type_entry type = {
		.source = ky_mark_source(),
		.name = ky_dictionary_text("trace_span"),
		.category = ky_dictionary_text("Trace"),
		.shapes = KYMO_SHAPE_SPAN | KYMO_SHAPE_INSTANT,
		.side = KYMO_SIDE_HOST,
	};
	uint32_t id = 0;

	ky_dictionary_intern(KY_ENTRY_TYPE, &type, sizeof(type), &id);
	return (uint16_t)id;
}

/* The row of that name, by its hash; 0, the thread's own: no room for it. */
static uint32_t find_track(const char *name, size_t size)
{
	const struct ky_track_entry track = {
		.native = ky_hash(name, size, 0),
		.kind = KYMO_TRACK_QUEUE,
		.source = ky_mark_source(),
		.name = ky_dictionary_string((struct kymo_str){name, size}),
		.order = SORT_LAST,
	};
	uint32_t id = 0;

	ky_dictionary_intern(KY_ENTRY_TRACK, &track, sizeof(track), &id);
	return id;
}

static int record_start(const char *name, const struct kymo_record *span)
{
	char text[NAME_MAX_SIZE + 32];
	uint16_t plain;
	uint32_t number;
	struct kymo_record *line;

	snprintf(text, sizeof(text), "Iteration Start: %.*s", (int)NAME_MAX_SIZE, name);
	number = ky_dictionary_text(text);
	line = ky_mark_line(1, &plain);
	if (!line)
		return 0;
	*line = (struct kymo_record){
		.kind = KYMO_KIND_INSTANT,
		.lines = 1,
		.track = span->track,
		.type = span->type,
		.name = number,
		.begin = span->begin,
		.end = span->begin,
	};
	ky_writer_commit(1, 1);
	return 1;
}

/* `span` lacks its lines; its name follows it. */
static int record_span(struct kymo_record span, const char *name, size_t size)
{
	const uint32_t lines = 1 + (uint32_t)((size + PIECE_SIZE - 1) / PIECE_SIZE);
	uint16_t plain;
	struct kymo_record *line = ky_mark_line(lines, &plain);

	if (!line)
		return 0;
	span.lines = (uint8_t)lines;
	*line = span;
	for (size_t at = 0; at < size; at += PIECE_SIZE) {
		struct kymo_record_bytes piece = {
			.kind = KYMO_KIND_BYTES,
			.used = (uint8_t)(size - at < PIECE_SIZE ? size - at
								 : PIECE_SIZE),
			.total = (uint32_t)size,
		};

		memcpy(piece.byte, name + at, piece.used);
		memcpy(++line, &piece, sizeof(piece));
	}
	ky_writer_commit(lines, 1);
	return 1;
}

int32_t kymo_mark_trace_span(uint64_t begin, const char *name, uint64_t iteration,
			     uint64_t op_count)
{
	struct kymo_record span = {.kind = KYMO_KIND_SPAN, .begin = begin};
	char text[NAME_MAX_SIZE + 32];
	int size;

	if (!name || !name[0])
		return KYMO_ERROR_INVALID;
	if (begin == 0)
		return KYMO_OK;
	span.end = ky_ticks();
	span.key[0] = kymo_mark_key("Op count", KYMO_VALUE_UINT64, NULL);
	span.value[0] = op_count;
	span.type = find_type();
	span.track = find_track(name, strnlen(name, NAME_MAX_SIZE));
	size = snprintf(text, sizeof(text), "%.*s (%" PRIu64 ")", (int)NAME_MAX_SIZE,
			name, iteration);
	if (record_start(name, &span) && record_span(span, text, (size_t)size))
		return KYMO_OK;
	return ky_gate_epoch() != 0 ? KYMO_ERROR_NO_MEMORY : KYMO_ERROR_STATE;
}
