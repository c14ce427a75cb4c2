/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/lanes.h"

#include <stdlib.h>

#include "base/error.h"

/* The ends of the spans that are open, the innermost last. */
struct lane {
	int64_t *ends;
	uint32_t depth, capacity;
};

struct track {
	struct lane *lanes;
	uint32_t count, capacity;
};

struct ky_lanes {
	size_t track_count;
	struct track tracks[];
};

/* 1: it is on this lane now; 0: it does not fit; -1: no memory. */
static int try_lane(struct lane *lane, int64_t begin_ns, int64_t end_ns)
{
	while (lane->depth > 0 && lane->ends[lane->depth - 1] <= begin_ns)
		lane->depth--;
	if (lane->depth > 0 && lane->ends[lane->depth - 1] < end_ns)
		return 0;
	if (lane->depth == KY_LANE_DEPTH_MAX)
		return 0;
	if (lane->depth == lane->capacity) {
		uint32_t capacity = lane->capacity * 2 + 4;
		int64_t *ends = realloc(lane->ends, capacity * sizeof(*ends));

		if (!ends)
			return -1;
		lane->ends = ends;
		lane->capacity = capacity;
	}
	lane->ends[lane->depth++] = end_ns;
	return 1;
}

static int32_t add_lane(struct track *track)
{
	if (track->count == KY_LANE_COUNT_MAX)
		return KYMO_AGAIN;
	if (track->count == track->capacity) {
		uint32_t capacity = track->capacity * 2 + 1;
		struct lane *grown = realloc(track->lanes, capacity * sizeof(*grown));

		if (!grown)
			return KYMO_ERROR_NO_MEMORY;
		track->lanes = grown;
		track->capacity = capacity;
	}
	track->lanes[track->count++] = (struct lane){NULL, 0, 0};
	return KYMO_OK;
}

int32_t ky_lanes_place(struct ky_lanes *lanes, uint32_t track_index, int64_t begin_ns,
		       int64_t end_ns, uint32_t *lane)
{
	struct track *track = &lanes->tracks[track_index];

	for (*lane = 0;; (*lane)++) {
		int fits;

		if (*lane == track->count) {
			int32_t status = add_lane(track);

			if (status != KYMO_OK)
				return status;
		}
		fits = try_lane(&track->lanes[*lane], begin_ns, end_ns);
		if (fits != 0)
			return fits > 0 ? KYMO_OK : KYMO_ERROR_NO_MEMORY;
	}
}

int64_t ky_lanes_open_end(const struct ky_lanes *lanes, uint32_t track_index,
			  int64_t at_ns)
{
	const struct track *track = &lanes->tracks[track_index];
	const struct lane *lane = track->lanes;

	for (uint32_t i = track->count > 0 ? lane->depth : 0; i-- > 0;) {
		if (lane->ends[i] > at_ns)
			return lane->ends[i];
	}
	return INT64_MAX;
}

void ky_lanes_reset(struct ky_lanes *lanes)
{
	for (size_t i = 0; i < lanes->track_count; i++) {
		for (uint32_t j = 0; j < lanes->tracks[i].count; j++)
			lanes->tracks[i].lanes[j].depth = 0;
	}
}

void ky_lanes_destroy(struct ky_lanes *lanes)
{
	if (!lanes)
		return;
	for (size_t i = 0; i < lanes->track_count; i++) {
		for (uint32_t j = 0; j < lanes->tracks[i].count; j++)
			free(lanes->tracks[i].lanes[j].ends);
		free(lanes->tracks[i].lanes);
	}
	free(lanes);
}

int32_t ky_lanes_create(struct ky_lanes **out, size_t track_count,
			struct kymo_error *error)
{
	struct ky_lanes *lanes =
		calloc(1, sizeof(*lanes) + track_count * sizeof(lanes->tracks[0]));

	*out = lanes;
	if (!lanes)
		return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
				    "no memory for %zu tracks", track_count);
	lanes->track_count = track_count;
	return KYMO_OK;
}
