/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cache of pages of 256 lines, 16 MiB in all, or less where there is little. A page is
 * large enough to make the cost of its read small beside that of its records, and small
 * enough for a thousand threads to have one each.
 */
#include "timeline/lines.h"

#include <string.h>

#include "base/error.h"
#include "timeline/item.h"
#include "timeline/records.h"
#include "timeline/share.h"

#define PAGE_LINES      256u
#define PAGES_PER_CHUNK ((1u << KY_CHUNK_LINE_BITS) / PAGE_LINES)
#define SET_BITS_MAX    8u
#define SETS_MAX        (1u << SET_BITS_MAX)
#define FIBONACCI       0x9e3779b97f4a7c15u /* 2^64 by the golden ratio: it spreads */
#define WAYS            4u
#define SET_SIZE        ((size_t)WAYS * PAGE_LINES * KYMO_LINE_SIZE)

struct ky_lines {
	const struct ky_model *model;
	size_t hint; /* the capture of the last line */
	uint32_t set_bits;
	uint64_t pages[SETS_MAX][WAYS]; /* numbers of pages, + 1 */
	uint8_t next_way[SETS_MAX];
	struct kymo_record *memory;                       /* of all pages */
	struct kymo_record record[KYMO_RECORD_LINES_MAX]; /* one that crosses pages */
};

static struct ky_model_capture *find_capture(struct ky_lines *lines, uint64_t chunk)
{
	struct ky_model_capture *captures = lines->model->captures;
	size_t low = 0, high = lines->model->capture_count;
	const struct ky_model_capture *last = &captures[lines->hint];

	if (chunk >= last->first_chunk &&
	    chunk - last->first_chunk < last->capture->chunk_count)
		return &captures[lines->hint];
	while (high - low > 1) {
		size_t at = low + (high - low) / 2;

		if (captures[at].first_chunk <= chunk)
			low = at;
		else
			high = at;
	}
	lines->hint = low;
	return &captures[low];
}

/* The page's lines; `page` is counted over all captures. */
static int32_t find_page(struct ky_lines *lines, const struct ky_model_capture *capture,
			 uint64_t page, struct kymo_record **out,
			 struct kymo_error *error)
{
	const struct ky_reader_chunk *chunk =
		&capture->capture->chunks[page / PAGES_PER_CHUNK - capture->first_chunk];
	uint32_t first = (uint32_t)(page % PAGES_PER_CHUNK) * PAGE_LINES, way;
	uint32_t count = chunk->line_count - first;
	/* Of one bit at least, since a shift by 64 is none. */
	uint64_t set = page * FIBONACCI >> (64 - lines->set_bits);
	int32_t status;

	for (way = 0; way < WAYS; way++) {
		if (lines->pages[set][way] == page + 1) {
			*out = lines->memory + (set * WAYS + way) * PAGE_LINES;
			return KYMO_OK;
		}
	}
	way = lines->next_way[set]++ % WAYS;
	lines->pages[set][way] = 0;
	*out = lines->memory + (set * WAYS + way) * PAGE_LINES;
	status = ky_reader_lines_at(capture->reader, chunk, first,
				    count < PAGE_LINES ? count : PAGE_LINES, *out, error);
	if (status == KYMO_OK)
		lines->pages[set][way] = page + 1;
	return status;
}

int32_t ky_lines_find(struct ky_lines *lines, uint64_t line,
		      struct ky_model_capture **capture, const struct kymo_record **first,
		      uint32_t *count, struct kymo_error *error)
{
	uint64_t chunk_number = line >> KY_CHUNK_LINE_BITS;
	uint32_t at = (uint32_t)(line & ((1u << KY_CHUNK_LINE_BITS) - 1));
	const struct ky_reader_chunk *chunk;
	struct kymo_record *page;
	int32_t status;

	*capture = find_capture(lines, chunk_number);
	chunk = &(*capture)->capture->chunks[chunk_number - (*capture)->first_chunk];
	status = find_page(lines, *capture, line / PAGE_LINES, &page, error);
	if (status != KYMO_OK)
		return status;
	*first = &page[at % PAGE_LINES];
	*count = ky_record_lines(*first, chunk->line_count - at);
	if (*count == 0)
		return ky_error_set(error, KYMO_ERROR_IO,
				    "the capture changed while it was read");
	if (*count <= PAGE_LINES - at % PAGE_LINES)
		return KYMO_OK;
	status = ky_reader_lines_at((*capture)->reader, chunk, at, *count, lines->record,
				    error);
	*first = lines->record;
	return status;
}

void ky_lines_destroy(struct ky_lines *lines)
{
	if (!lines)
		return;
	free(lines->memory);
	free(lines);
}

int32_t ky_lines_create(struct ky_lines **out, struct ky_model *model,
			struct kymo_error *error)
{
	const size_t share = ky_memory_share(SETS_MAX * SET_SIZE);
	struct ky_lines *lines = calloc(1, sizeof(*lines));

	*out = NULL;
	if (lines) {
		lines->model = model;
		lines->set_bits = SET_BITS_MAX;
		while (lines->set_bits > 1 && SET_SIZE << lines->set_bits > share)
			lines->set_bits--;
		/* Untouched pages cost nothing. */
		lines->memory = malloc(SET_SIZE << lines->set_bits);
	}
	if (!lines || !lines->memory) {
		ky_lines_destroy(lines);
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
				    "no memory to read records");
	}
	*out = lines;
	return KYMO_OK;
}
