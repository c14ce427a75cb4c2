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
	chrome->json.at = KY_PUT(ky_json_room(&chrome->json, at), "\n  },");
}

/* The row and the time since the base, up to `"ts": 1.000`. */
static inline char *ky_event_put_place(char *at, const struct ky_row *row, uint64_t since)
{
	memcpy(at, row->place,
	       sizeof(row->place)); /* all of it: a constant size is quicker */
	return ky_put_us(at + row->place_size, since);
}

/* Where the type is NULL or none of the header's. */
char *ky_event_begin_other(struct ky_chrome *chrome, char phase,
			   const struct kymo_trace_type *type);

/* An event up to its category, with room behind it. */
static inline char *ky_event_begin(struct ky_chrome *chrome, char phase,
				   const struct kymo_trace_type *type)
{
	const struct kymo_trace_header *header = chrome->header;
	struct ky_json *json = &chrome->json;
	struct kymo_str begin;
	char *at;

	if (KYMO_UNLIKELY(!type || type->index >= header->type_count ||
			  header->types[type->index] != type))
		return ky_event_begin_other(chrome, phase, type);
	begin = chrome->begins[type->index];
	if (KYMO_UNLIKELY(begin.size > KY_BEGIN_PADDING)) {
		json->at = ky_chrome_begin_event(chrome, phase);
		ky_json_raw(json, begin.data + sizeof(KY_EVENT_BEGIN) - 1,
			    begin.size - (sizeof(KY_EVENT_BEGIN) - 1));
		return ky_json_room(json, json->at);
	}
	at = ky_json_room(json, json->at);
	memcpy(at, begin.data, KY_BEGIN_PADDING);
	at[KY_EVENT_PHASE] = phase;
	return at + begin.size;
}

#endif
