/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is wrong between events: records come sorted, those that belong together one
 * behind the other. take() finds itself where a new group begins; finish() ends the last.
 */
#ifndef KYMO_CLI_CHECK_BETWEEN_H
#define KYMO_CLI_CHECK_BETWEEN_H

#include "check_event.h"

/* Spans, B and E of one row: overlaps, nesting, order. */
struct ky_tracks;
struct ky_tracks *ky_tracks_create(struct ky_check *check);
void ky_tracks_destroy(struct ky_tracks *tracks);
void ky_tracks_take(struct ky_tracks *tracks, const struct ky_check_record *record);
void ky_tracks_finish(struct ky_tracks *tracks);

/* B and E of one row. */
#define KY_PAIRS_MAX   1024
#define KY_PENDING_MAX 64

struct ky_pairs {
	struct ky_check *check;
	struct ky_check_record begins[KY_PAIRS_MAX]; /* open ones, the innermost last */
	size_t depth;
	struct ky_check_record ends[KY_PENDING_MAX]; /* of this moment, without a B yet */
	size_t end_count;
};

void ky_pairs_take(struct ky_pairs *pairs, const struct ky_check_record *record);
void ky_pairs_finish(struct ky_pairs *pairs);

/* Arrows of one id, async operations, counters, correlations. */
struct ky_links;
struct ky_links *ky_links_create(struct ky_check *check);
void ky_links_destroy(struct ky_links *links);
void ky_links_take(struct ky_links *links, const struct ky_check_record *record);
void ky_links_finish(struct ky_links *links);

#endif
