/* SPDX-License-Identifier: BSD-3-Clause */
/* What events of all kinds are made of. */
#ifndef KYMO_CHROME_EVENTS_H
#define KYMO_CHROME_EVENTS_H

#include "chrome.h"

/*
 * Between two calls of ky_json_room() lie at most some hundred bytes of constant text,
 * numbers and a row's place; strings make their own room.
 */
#define SEPARATOR ",\n    "

static inline void ky_event_end(struct ky_chrome *chrome, char *at)
{
	chrome->json.at = KY_PUT(ky_json_room(&chrome->json, at), "\n  }");
}

/* The row and the time since the base, up to `"ts": 1.000`. */
static inline char *ky_event_put_place(char *at, const struct ky_row *row, uint64_t since)
{
	memcpy(at, row->place,
	       sizeof(row->place)); /* all of it: a constant size is quicker */
	return ky_put_us(at + row->place_size, since);
}

static inline char *ky_event_put_category(struct ky_chrome *chrome, char *at,
					  const struct kymo_trace_type *type)
{
	const struct kymo_trace_header *header = chrome->header;
	struct kymo_str category;

	at = KY_PUT(at, SEPARATOR "\"cat\": ");
	if (!type)
		return KY_PUT(at, "\"kymo\"");
	if (type->index >= header->type_count || header->types[type->index] != type)
		return ky_json_put_string(&chrome->json, at,
					  type->category.size ? type->category
							      : type->name);
	category = chrome->categories[type->index];
	if (category.size <= KY_CATEGORY_PADDING) {
		memcpy(at, category.data, KY_CATEGORY_PADDING);
		return at + category.size;
	}
	chrome->json.at = at;
	ky_json_raw(&chrome->json, category.data, category.size);
	return chrome->json.at;
}

#endif
