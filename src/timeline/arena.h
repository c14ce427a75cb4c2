/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is taken piece by piece and given back all at once. Zeroed memory is a
 * valid empty arena.
 */
#ifndef KYMO_TIMELINE_ARENA_H
#define KYMO_TIMELINE_ARENA_H

#include <kymo/base.h>

struct ky_arena_block;

struct ky_arena {
	struct ky_arena_block *blocks; /* the newest first */
	size_t used, size;             /* of the newest */
};

/* Memory aligned to 16, not cleared; NULL when there is none. Its place never changes. */
void *ky_arena_take(struct ky_arena *arena, size_t size);
void *ky_arena_take_zeroed(struct ky_arena *arena, size_t size);

/* Formatted text, terminated for convenience; {NULL, 0} when there is no memory. */
struct kymo_str ky_arena_format(struct ky_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Gives back all, keeping one block for what comes next. */
void ky_arena_reset(struct ky_arena *arena);
void ky_arena_clear(struct ky_arena *arena);

#endif
