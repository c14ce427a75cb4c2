/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 65536u
#define ALIGN      16u

struct ky_arena_block {
	struct ky_arena_block *older;
	size_t size;
	_Alignas(ALIGN) uint8_t data[];
};

void *ky_arena_take(struct ky_arena *arena, size_t size)
{
	size_t padded = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	uint8_t *taken;

	if (padded < size)
		return NULL;
	if (!arena->blocks || padded > arena->size - arena->used) {
		size_t room = padded > BLOCK_SIZE ? padded : BLOCK_SIZE;
		struct ky_arena_block *block;

		if (room > SIZE_MAX - sizeof(*block))
			return NULL;
		block = malloc(sizeof(*block) + room);
		if (!block)
			return NULL;
		block->older = arena->blocks;
		block->size = room;
		arena->blocks = block;
		arena->size = room;
		arena->used = 0;
	}
	taken = arena->blocks->data + arena->used;
	arena->used += padded;
	return taken;
}

void *ky_arena_take_zeroed(struct ky_arena *arena, size_t size)
{
	void *taken = ky_arena_take(arena, size);

	if (taken)
		memset(taken, 0, size);
	return taken;
}

struct kymo_str ky_arena_format(struct ky_arena *arena, const char *format, ...)
{
	struct kymo_str text = {NULL, 0};
	va_list arguments;
	char *data;
	int size;

	va_start(arguments, format);
	size = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (size < 0)
		return text;
	data = ky_arena_take(arena, (size_t)size + 1);
	if (!data)
		return text;
	va_start(arguments, format);
	vsnprintf(data, (size_t)size + 1, format, arguments);
	va_end(arguments);
	text.data = data;
	text.size = (size_t)size;
	return text;
}

void ky_arena_reset(struct ky_arena *arena)
{
	struct ky_arena_block *kept = NULL;

	while (arena->blocks) {
		struct ky_arena_block *older = arena->blocks->older;

		/* The oldest has the usual size, unless the first request was large. */
		if (!older && arena->blocks->size == BLOCK_SIZE)
			kept = arena->blocks;
		else
			free(arena->blocks);
		arena->blocks = older;
	}
	arena->blocks = kept;
	arena->size = kept ? kept->size : 0;
	arena->used = 0;
}

void ky_arena_clear(struct ky_arena *arena)
{
	while (arena->blocks) {
		struct ky_arena_block *older = arena->blocks->older;

		free(arena->blocks);
		arena->blocks = older;
	}
	*arena = (struct ky_arena){NULL, 0, 0};
}
