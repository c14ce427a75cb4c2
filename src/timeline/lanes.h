/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lanes: on each row of a trace spans are nested or disjoint, since viewers drop what
 * overlaps. A span goes to the first lane of its track where it nests in what is open
 * there, or follows it; [begin, end) intervals that touch do not overlap.
 */
#ifndef KYMO_TIMELINE_LANES_H
#define KYMO_TIMELINE_LANES_H

#include <kymo/base.h>

#define KY_LANE_DEPTH_MAX 512u  /* the nesting that viewers take */
#define KY_LANE_COUNT_MAX 1024u /* of one track */

struct ky_lanes; /* opaque */

/* Tracks are counted from 0. */
int32_t ky_lanes_create(struct ky_lanes **out, size_t track_count,
			struct kymo_error *error);
void ky_lanes_destroy(struct ky_lanes *lanes);

/* Forgets all spans. */
void ky_lanes_reset(struct ky_lanes *lanes);

/*
 * The lane of a span. Spans come in order of begin, longer ones first. KYMO_AGAIN: it
 * overlaps with more spans than there can be lanes.
 */
int32_t ky_lanes_place(struct ky_lanes *lanes, uint32_t track, int64_t begin_ns,
		       int64_t end_ns, uint32_t *lane);

/* The end of the innermost span that is open at that time on lane 0, or INT64_MAX. */
int64_t ky_lanes_open_end(const struct ky_lanes *lanes, uint32_t track, int64_t at_ns);

#endif
