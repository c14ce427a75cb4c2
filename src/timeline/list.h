/* SPDX-License-Identifier: BSD-3-Clause */
/* A growing list of pointers. Zeroed memory is a valid empty list. */
#ifndef KYMO_TIMELINE_LIST_H
#define KYMO_TIMELINE_LIST_H

#include <stdlib.h>

#include <kymo/base.h>

struct ky_list {
	void **items;
	size_t count, capacity;
};

static inline int32_t ky_list_add(struct ky_list *list, void *item)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity * 2 + 16;
		void **items = realloc(list->items, capacity * sizeof(*items));

		if (!items)
			return KYMO_ERROR_NO_MEMORY;
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = item;
	return KYMO_OK;
}

static inline void ky_list_clear(struct ky_list *list)
{
	free(list->items);
	*list = (struct ky_list){NULL, 0, 0};
}

#endif
