/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds a record again by its line number. In order of time the records of each thread
 * and queue come from places that move forward slowly, so parts of chunks are kept.
 */
#ifndef KYMO_TIMELINE_LINES_H
#define KYMO_TIMELINE_LINES_H

#include "timeline/model.h"

struct ky_lines; /* opaque */

int32_t ky_lines_create(struct ky_lines **out, struct ky_model *model,
			struct kymo_error *error);
void ky_lines_destroy(struct ky_lines *lines);

/*
 * The record, its lines one after the other, and the capture that it belongs to; all
 * borrowed until the next call.
 */
int32_t ky_lines_find(struct ky_lines *lines, uint64_t line,
		      struct ky_model_capture **capture, const struct kymo_record **first,
		      uint32_t *count, struct kymo_error *error);

#endif
