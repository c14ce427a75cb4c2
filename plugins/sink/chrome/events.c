/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything that happened, one event at a time, in libkineto's order of keys. This is
 * the hot path of an export: constant text is stored by moves of known size into room
 * that was made once, strings go through the one writer.
 */
#include "events.h"

char *ky_chrome_begin_event(struct ky_chrome *chrome, char phase)
{
	char *at = ky_json_room(&chrome->json, chrome->json.at);
	char *end = KY_PUT(at, KY_EVENT_BEGIN);

	at[KY_EVENT_PHASE] = phase;
	return end;
}

char *ky_event_begin_other(struct ky_chrome *chrome, char phase,
			   const struct kymo_trace_type *type)
{
	char *at = KY_PUT(ky_chrome_begin_event(chrome, phase), SEPARATOR "\"cat\": ");

	if (!type)
		return KY_PUT(at, "\"kymo\"");
	at = ky_json_put_string(&chrome->json, at,
				type->category.size ? type->category : type->name);
	return ky_json_room(&chrome->json, at);
}

/* ---- Args ---- */

struct args {
	struct ky_chrome *chrome;
	struct ky_names names;
	char native[160]; /* "<domain> id": two names of 64 and a dot fit */
};

#define ARGS_BEGIN SEPARATOR "\"args\": {\n      "

/*
 * By the reserved keys readers tell host from device and join the two, so a value of a
 * source or of a mark that has the same key is another thing. Not all of `args` is
 * cleared: 300 bytes an event would be a tenth of its cost.
 */
static char *begin_args(struct args *args, struct ky_chrome *chrome, char *at)
{
	static const struct kymo_str reserved[] = {
		{"External id", 11},
		{"device", 6},
		{"stream", 6},
		{"correlation", 11},
		{"launch correlation", 18},
	};

	args->chrome = chrome;
	args->names.filter = ky_names_bit(reserved[0]) | ky_names_bit(reserved[1]) |
			     ky_names_bit(reserved[2]) | ky_names_bit(reserved[3]) |
			     ky_names_bit(reserved[4]);
	args->names.reserved = reserved;
	args->names.reserved_count = sizeof(reserved) / sizeof(reserved[0]);
	args->names.count = 0;
	return KY_PUT(ky_json_room(&chrome->json, at), ARGS_BEGIN);
}

/* Each arg ends with a comma and a blank; without any there is no object either. */
static char *end_args(char *at)
{
	if (at[-2] != ',')
		return at - (sizeof(ARGS_BEGIN) - 1);
	return KY_PUT(at - 2, "\n    }");
}

/* One arg: a key of ours and a number. */
#define PUT_NUMBER(at, key, value) \
	KY_PUT(ky_put_u64(KY_PUT((at), "\"" key "\": "), (value)), ", ")

/* A key of ours that is not reserved: it is taken from then on. */
#define TAKE_KEY(args, at, key) \
	(ky_names_take(&(args)->names, KYMO_STR(key)), KY_PUT((at), "\"" key "\": "))

/*
 * What the source itself called the correlation: "command id". Where that can't be
 * compared with the keys of the values it gets the one number that none of them has.
 */
static char *put_native(struct args *args, char *at, const struct kymo_trace_event *event)
{
	struct ky_json *json = &args->chrome->json;
	const uint64_t replaced = json->invalid_utf8 + json->nul;
	const size_t size = event->domain.size;
	const bool fits = size + 3 <= sizeof(args->native);
	struct kymo_str key = event->domain;

	if (fits) {
		memcpy(args->native, event->domain.data, size);
		memcpy(args->native + size, " id", 3);
		key = (struct kymo_str){args->native, size + 3};
		ky_names_take(&args->names, key);
	}
	at = ky_json_put_text(json, KY_PUT(at, "\""), event->domain);
	at = KY_PUT(ky_json_room(json, at), " id");
	if (KYMO_UNLIKELY(!fits || json->invalid_utf8 + json->nul != replaced))
		at = KY_PUT(at, " (0)");
	at = ky_keys_put_u64(&args->chrome->keys, KY_PUT(at, "\": "), key,
			     event->native_correlation);
	return KY_PUT(at, ", ");
}

static char *put_correlation(struct args *args, char *at,
			     const struct kymo_trace_event *event,
			     const struct ky_row *row)
{
	const struct kymo_trace_track *track = event->track;
	const uint64_t launch = event->launch_correlation ? event->launch_correlation
							  : event->correlation;

	if (launch != 0)
		at = PUT_NUMBER(at, "External id", launch);
	/* Readers tell host from device by whether there is a stream. */
	if (track->device) {
		at = PUT_NUMBER(at, "device", track->device->index);
		at = PUT_NUMBER(at, "stream", track->number ? track->number : row->tid);
	}
	if (event->correlation != 0)
		at = PUT_NUMBER(at, "correlation", event->correlation);
	if (launch != event->correlation)
		at = PUT_NUMBER(at, "launch correlation", launch);
	if (event->native_correlation != 0 && event->domain.size > 0)
		at = put_native(args, at, event);
	return at;
}

static char *put_state(struct args *args, char *at, uint32_t flags)
{
	if (flags & KYMO_RECORD_UNFINISHED)
		at = KY_PUT(TAKE_KEY(args, at, "finished"), "false, ");
	if (flags & KYMO_RECORD_ERROR)
		at = KY_PUT(TAKE_KEY(args, at, "error"), "true, ");
	if (flags & KYMO_RECORD_END_BY_RULE)
		at = KY_PUT(TAKE_KEY(args, at, "end by rule"), "true, ");
	return at;
}

static inline char *put_values(struct args *args, char *at,
			       const struct kymo_trace_event *event)
{
	const struct kymo_trace_value *values = event->values;
	const size_t count = event->value_count;
	struct ky_chrome *chrome = args->chrome;
	size_t i;

	for (i = 0; i < count; i++) {
		at = ky_json_room(&chrome->json, at);
		at = ky_keys_put_key(&chrome->keys, &args->names, &chrome->json, at,
				     values, i);
		at = ky_keys_put_value(&chrome->keys, &chrome->json, at, &values[i]);
		at = KY_PUT(at, ", ");
	}
	return at;
}

static inline char *put_args(struct ky_chrome *chrome, char *at,
			     const struct kymo_trace_event *event,
			     const struct ky_row *row)
{
	struct args args;

	at = begin_args(&args, chrome, at);
	at = put_correlation(&args, at, event, row);
	at = put_state(&args, at, event->flags);
	return end_args(put_values(&args, at, event));
}

/* ---- Spans and instants ---- */

/* What it is shown as: its own, but for gaps. */
struct title {
	const struct kymo_trace_type *type;
	struct kymo_str name;
};

/* Both up to their args. */
static inline char *put_span(struct ky_chrome *chrome,
			     const struct kymo_trace_event *event,
			     const struct title *title, const struct ky_row *row,
			     uint64_t since)
{
	struct ky_json *json = &chrome->json;
	char *at = ky_event_begin(chrome, 'X', title->type);

	at = KY_PUT(at, SEPARATOR "\"name\": ");
	at = ky_json_put_string(json, at, title->name);
	at = KY_PUT(ky_json_room(json, at), SEPARATOR);
	at = KY_PUT(ky_event_put_place(at, row, since), SEPARATOR "\"dur\": ");
	return ky_put_us(at, (uint64_t)event->end_ns - (uint64_t)event->begin_ns);
}

/* Of the whole trace, as readers know it of libkineto's iterations, not of its row. */
static bool is_global(const struct kymo_trace_type *type)
{
	return type && type->category.size == 5 &&
	       memcmp(type->category.data, "Trace", 5) == 0;
}

static char *put_instant(struct ky_chrome *chrome, const struct title *title,
			 const struct ky_row *row, uint64_t since)
{
	struct ky_json *json = &chrome->json;
	char *at = ky_event_begin(chrome, 'i', title->type);

	at = KY_PUT(at, SEPARATOR "\"s\": \"");
	*at++ = is_global(title->type) ? 'g' : 't';
	at = KY_PUT(at, "\"" SEPARATOR "\"name\": ");
	at = ky_json_put_string(json, at, title->name);
	return ky_event_put_place(KY_PUT(ky_json_room(json, at), SEPARATOR), row, since);
}

static void write_span(struct ky_chrome *chrome, const struct kymo_trace_event *event,
		       const struct ky_row *row, uint64_t since)
{
	const struct title title = {event->type, event->name};
	char *at = put_span(chrome, event, &title, row, since);

	ky_event_end(chrome, put_args(chrome, at, event, row));
}

static void write_instant(struct ky_chrome *chrome, const struct kymo_trace_event *event,
			  const struct ky_row *row, uint64_t since)
{
	const struct title title = {event->type, event->name};
	char *at = put_instant(chrome, &title, row, since);

	ky_event_end(chrome, put_args(chrome, at, event, row));
}

/*
 * One name for all of them, so that it is seen what they are; their own stands in args.
 * And one category that readers give no meaning to: whoever records is no user, and has
 * made no annotation.
 */
static void write_gap(struct ky_chrome *chrome, const struct kymo_trace_event *event,
		      const struct ky_row *row, uint64_t since)
{
	static const struct kymo_trace_type type = {
		.struct_size = sizeof(type),
		.index = UINT32_MAX, /* none of the trace's */
		.name = {"gap", 3},
	};
	const struct title title = {&type, KYMO_STR("not recorded")};
	char *at = event->end_ns > event->begin_ns
			   ? put_span(chrome, event, &title, row, since)
			   : put_instant(chrome, &title, row, since);
	struct args args;

	at = begin_args(&args, chrome, at);
	if (event->name.size > 0) {
		at = TAKE_KEY(&args, at, "what");
		at = KY_PUT(ky_json_put_string(&chrome->json, at, event->name), ", ");
	}
	at = put_state(&args, at, event->flags);
	ky_event_end(chrome, end_args(put_values(&args, at, event)));
}

/* ---- Arrows ---- */

static void write_end_of_arrow(struct ky_chrome *chrome,
			       const struct kymo_trace_event *event, char phase,
			       const struct ky_row *row, uint64_t since)
{
	struct ky_json *json = &chrome->json;
	char *at = KY_PUT(ky_chrome_begin_event(chrome, phase), SEPARATOR "\"id\": ");

	at = KY_PUT(ky_put_u64(at, event->arrow_id), SEPARATOR);
	at = KY_PUT(ky_event_put_place(at, row, since), SEPARATOR "\"cat\": ");
	at = ky_json_put_string(json, at, event->name);
	at = KY_PUT(ky_json_room(json, at), SEPARATOR "\"name\": ");
	at = ky_json_room(json, ky_json_put_string(json, at, event->name));
	if (phase == 'f')
		at = KY_PUT(at, SEPARATOR "\"bp\": \"e\"");
	ky_event_end(chrome, at);
}

static int32_t write_arrow(struct ky_chrome *chrome, const struct kymo_trace_event *event)
{
	const struct ky_row *row;
	uint64_t from, to;

	if (event->from_ns > event->begin_ns || event->arrow_id >= KY_EXACT_MAX ||
	    !event->from_track || !ky_chrome_time(chrome, event->from_ns, &from) ||
	    !ky_chrome_time(chrome, event->begin_ns, &to)) {
		chrome->counts.not_drawn++;
		return KYMO_OK;
	}
	/* Announced in any case, but asked for one at a time: rows move when there are
	 * more. */
	if (!ky_tracks_row(chrome, event->from_track) ||
	    !ky_tracks_row(chrome, event->track))
		return KYMO_ERROR_INVALID;
	row = ky_tracks_row(chrome, event->from_track);
	write_end_of_arrow(chrome, event, 's', row, from);
	row = ky_tracks_row(chrome, event->track);
	write_end_of_arrow(chrome, event, 'f', row, to);
	chrome->counts.arrows++;
	return KYMO_OK;
}

/* ---- All of them ---- */

static bool is_drawable(const struct ky_chrome *chrome,
			const struct kymo_trace_event *event, uint64_t *since)
{
	uint64_t end;

	return !(event->flags & KYMO_RECORD_UNTIMED) &&
	       event->end_ns >= event->begin_ns &&
	       ky_chrome_time(chrome, event->begin_ns, since) &&
	       ky_chrome_time(chrome, event->end_ns, &end);
}

/* What was recorded: no gap, and nothing that follows from the rest. */
static int is_activity(const struct kymo_trace_event *event)
{
	return event->kind <= KYMO_EVENT_COUNTER &&
	       !(event->flags & KYMO_EVENT_PROJECTED);
}

int32_t ky_events_write(struct ky_chrome *chrome, const struct kymo_trace_event *event)
{
	const struct ky_row *row;
	uint64_t since;

	if (event->kind == KYMO_EVENT_ARROW)
		return write_arrow(chrome, event);
	row = ky_tracks_row(chrome, event->track);
	if (!row)
		return KYMO_ERROR_INVALID;
	if (event->kind == KYMO_EVENT_TRACK)
		return KYMO_OK;
	if (!is_drawable(chrome, event, &since)) {
		chrome->counts.not_drawn++;
		return KYMO_OK;
	}
	chrome->counts.activities += is_activity(event);
	switch (event->kind) {
	case KYMO_EVENT_SPAN:
		write_span(chrome, event, row, since);
		return KYMO_OK;
	case KYMO_EVENT_INSTANT:
		write_instant(chrome, event, row, since);
		return KYMO_OK;
	case KYMO_EVENT_COUNTER:
		return ky_counters_write(chrome, event, row);
	case KYMO_EVENT_GAP:
		write_gap(chrome, event, row, since);
		return KYMO_OK;
	default:
		chrome->counts.not_drawn++;
		return KYMO_OK;
	}
}
