/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/stream.h"

#include <kymo/record.h>

#include "base/error.h"

static int32_t read_head(struct ky_stream *stream, int which, struct kymo_error *error)
{
	struct ky_sorter *sorter = which == 0 ? stream->items : stream->unfinished;
	const void *item;
	int32_t status = sorter ? ky_sorter_next(sorter, &item, error) : KYMO_END;

	stream->has_head[which] = status == KYMO_OK;
	if (status == KYMO_OK)
		stream->head[which] = *(const struct ky_item *)item;
	return status == KYMO_END ? KYMO_OK : status;
}

int32_t ky_stream_begin(struct ky_stream *stream, struct kymo_error *error)
{
	int32_t status = ky_sorter_finish(stream->items, error);

	if (status == KYMO_OK && stream->unfinished)
		status = ky_sorter_finish(stream->unfinished, error);
	if (status == KYMO_OK)
		status = read_head(stream, 0, error);
	if (status == KYMO_OK)
		status = read_head(stream, 1, error);
	ky_lanes_reset(stream->lanes);
	stream->crowded = 0;
	return status;
}

/* Moments and samples take no room, so that any number of them can be at one place. */
static int32_t find_lane(struct ky_stream *stream, const struct ky_item *item,
			 uint32_t *lane, struct kymo_error *error)
{
	uint32_t kind = ky_place_kind(item->when.place);
	int32_t status;

	*lane = 0;
	if (kind == KYMO_KIND_INSTANT || kind == KYMO_KIND_COUNTER)
		return KYMO_OK;
	status = ky_lanes_place(stream->lanes, item->track, item->when.begin_ns,
				item->when.end_ns, lane);
	if (status == KYMO_ERROR_NO_MEMORY)
		ky_error_set(error, status, "no memory for lanes");
	return status;
}

int32_t ky_stream_next(struct ky_stream *stream, struct ky_item *item, uint32_t *lane,
		       struct kymo_error *error)
{
	for (;;) {
		int which = !stream->has_head[0];
		int32_t status;

		if (stream->has_head[0] && stream->has_head[1] &&
		    ky_moment_compare(&stream->head[0], &stream->head[1]) > 0)
			which = 1;
		if (!stream->has_head[which])
			return KYMO_END;
		*item = stream->head[which];
		status = read_head(stream, which, error);
		if (status == KYMO_OK)
			status = find_lane(stream, item, lane, error);
		if (status != KYMO_AGAIN)
			return status;
		stream->crowded++;
	}
}
