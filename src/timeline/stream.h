/* SPDX-License-Identifier: BSD-3-Clause */
/* All items that are drawn, in order, each with its lane; may be read several times. */
#ifndef KYMO_TIMELINE_STREAM_H
#define KYMO_TIMELINE_STREAM_H

#include "timeline/item.h"
#include "timeline/lanes.h"
#include "timeline/sorter.h"

#define KY_STREAM_ITEMS      0
#define KY_STREAM_UNFINISHED 1
#define KY_STREAM_PROJECTED  2
#define KY_STREAM_PARTS      3

struct ky_stream {
	/* Records, spans without an end, projections; the last two may be NULL. */
	struct ky_sorter *sorters[KY_STREAM_PARTS];
	struct ky_lanes *lanes;
	const struct ky_item *head[KY_STREAM_PARTS]; /* NULL: at its end */
	uint64_t crowded; /* spans that found no lane, and were left out */
};

/* Goes to the first item. */
int32_t ky_stream_begin(struct ky_stream *stream, struct kymo_error *error);

/* The next one, without a lane. KYMO_END when there is none. */
int32_t ky_stream_read(struct ky_stream *stream, struct ky_item *item,
		       struct kymo_error *error);
/* The same with its lane; leaves out what finds none. */
int32_t ky_stream_next(struct ky_stream *stream, struct ky_item *item, uint32_t *lane,
		       struct kymo_error *error);

#endif
