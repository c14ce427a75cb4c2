/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/stream.h"

#include <kymo/record.h>

#include "base/error.h"

static int32_t read_head(struct ky_stream *stream, int which, struct kymo_error *error)
{
	struct ky_sorter *sorter = stream->sorters[which];
	const void *item = NULL;
	int32_t status = sorter ? ky_sorter_next(sorter, &item, error) : KYMO_END;

	stream->head[which] = status == KYMO_OK ? item : NULL;
	return status == KYMO_END ? KYMO_OK : status;
}

int32_t ky_stream_begin(struct ky_stream *stream, struct kymo_error *error)
{
	int32_t status = KYMO_OK;

	for (int i = 0; i < KY_STREAM_PARTS && status == KYMO_OK; i++) {
		if (stream->sorters[i])
			status = ky_sorter_finish(stream->sorters[i], error);
		if (status == KYMO_OK)
			status = read_head(stream, i, error);
	}
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

/* A projection goes around what it is as long as, whatever was captured first. */
static int comes_before(const struct ky_stream *stream, int a, int b)
{
	const struct ky_moment *left = &stream->head[a]->when;
	const struct ky_moment *right = &stream->head[b]->when;

	if (a == KY_STREAM_PROJECTED && left->begin_ns == right->begin_ns &&
	    left->end_ns == right->end_ns)
		return 1;
	return ky_moment_compare(left, right) < 0;
}

int32_t ky_stream_read(struct ky_stream *stream, struct ky_item *item,
		       struct kymo_error *error)
{
	int which = KY_STREAM_ITEMS;

	for (int i = 1; i < KY_STREAM_PARTS; i++) {
		if (stream->head[i] &&
		    (!stream->head[which] || comes_before(stream, i, which)))
			which = i;
	}
	if (!stream->head[which])
		return KYMO_END;
	*item = *stream->head[which];
	return read_head(stream, which, error);
}

int32_t ky_stream_next(struct ky_stream *stream, struct ky_item *item, uint32_t *lane,
		       struct kymo_error *error)
{
	for (;;) {
		int32_t status = ky_stream_read(stream, item, error);

		if (status == KYMO_OK)
			status = find_lane(stream, item, lane, error);
		if (status != KYMO_AGAIN)
			return status;
		/* A projection is no record that could be missed. */
		if (!(ky_place_role(item->when.place) & KY_ROLE_PROJECTED))
			stream->crowded++;
	}
}
