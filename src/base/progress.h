/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far long work has come, for whoever looks, and whether it is still wanted. One
 * thread does the work; any may read `percent` and set `is_cancelled`. Where nobody cares
 * the progress is NULL.
 */
#ifndef KYMO_BASE_PROGRESS_H
#define KYMO_BASE_PROGRESS_H

#include <kymo/error.h>

struct ky_progress {
	uint32_t percent;      /* of the whole; never falls */
	uint32_t is_cancelled; /* set: the work ends the next time it tells of itself */
	/* The worker's own: the step under way, and which part of the whole it is. */
	uint32_t from, to;
	uint64_t done, total;
};

/* Begins a step of `total` pieces that leads up to `to` percent. */
void ky_progress_step(struct ky_progress *progress, uint32_t to, uint64_t total);

/* So many pieces more are done. KYMO_ERROR_CANCELLED: give up. */
int32_t ky_progress_add(struct ky_progress *progress, uint64_t pieces,
			struct kymo_error *error);

/* All of it is done. */
void ky_progress_finish(struct ky_progress *progress);

uint32_t ky_progress_percent(const struct ky_progress *progress);
void ky_progress_cancel(struct ky_progress *progress);

#endif
