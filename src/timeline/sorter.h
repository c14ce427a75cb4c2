/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sorts any number of items of one size with bounded memory: what does not fit is spilled
 * as sorted runs to an unlinked temporary file and merged while it is read. Stable: equal
 * items come out in the order in which they were pushed.
 *
 *     create -> push* -> finish -> next* -> (finish -> next*)* -> destroy
 *
 * One thread.
 */
#ifndef KYMO_TIMELINE_SORTER_H
#define KYMO_TIMELINE_SORTER_H

#include "timeline/batch.h"

struct ky_sorter; /* opaque */

/*
 * `item_size` is a multiple of 8; `memory_size` is what it takes at most, or less where
 * there is little (share.h).
 * `compare` is subject to what batch.h says of it.
 */
int32_t ky_sorter_create(struct ky_sorter **out, size_t item_size, ky_compare_fn compare,
			 size_t memory_size, struct kymo_error *error);
void ky_sorter_destroy(struct ky_sorter *sorter);

int32_t ky_sorter_push(struct ky_sorter *sorter, const void *item,
		       struct kymo_error *error);

/* Ends pushing and goes to the first item; again: goes back to the first item. */
int32_t ky_sorter_finish(struct ky_sorter *sorter, struct kymo_error *error);

/* The next item, borrowed until the next call; KYMO_END when there is none. */
int32_t ky_sorter_next(struct ky_sorter *sorter, const void **item,
		       struct kymo_error *error);

uint64_t ky_sorter_count(const struct ky_sorter *sorter);

#endif
