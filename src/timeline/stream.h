/* SPDX-License-Identifier: BSD-3-Clause */
/* All items that are drawn, in order, each with its lane; may be read several times. */
#ifndef KYMO_TIMELINE_STREAM_H
#define KYMO_TIMELINE_STREAM_H

#include "timeline/item.h"
#include "timeline/lanes.h"
#include "timeline/sorter.h"

struct ky_stream {
	struct ky_sorter *items, *unfinished; /* ended; the second may be NULL */
	struct ky_lanes *lanes;
	struct ky_item head[2];
	int has_head[2];
	uint64_t crowded; /* spans that found no lane, and were left out */
};

/* Goes to the first item. */
int32_t ky_stream_begin(struct ky_stream *stream, struct kymo_error *error);

/* KYMO_END when there is none. */
int32_t ky_stream_next(struct ky_stream *stream, struct ky_item *item, uint32_t *lane,
		       struct kymo_error *error);

#endif
