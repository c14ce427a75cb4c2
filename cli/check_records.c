/* SPDX-License-Identifier: BSD-3-Clause */
/* What of an event is looked at again beside others: records for the sorter. */
#include <stdlib.h>
#include <string.h>

#include "check_fit.h"
#include "check_rules.h"
#include "check_sort.h"
#include "say.h"

/* ---- Order ---- */

/* At one time: ends first, then what begins, longer spans before shorter ones. */
static int rank_of(const struct ky_check_record *record)
{
	switch (record->group == KY_OF_TRACK ? record->phase : 0) {
	case 'E':
		return 0;
	case 'X':
	case 'B':
		return 1;
	default:
		return 2;
	}
}

#define COMPARE(a, b)                              \
	do {                                       \
		if ((a) != (b))                    \
			return (a) < (b) ? -1 : 1; \
	} while (0)

int ky_record_compare(const void *a, const void *b)
{
	const struct ky_check_record *left = a, *right = b;

	COMPARE(left->group, right->group);
	COMPARE(left->key, right->key);
	COMPARE(left->sub, right->sub);
	COMPARE(left->begin_ns, right->begin_ns);
	COMPARE(rank_of(left), rank_of(right));
	if (left->phase == 'X' && right->phase == 'X')
		COMPARE(right->end_ns, left->end_ns);
	COMPARE(left->event, right->event);
	return 0;
}

/* ---- Names of rows ---- */

/* As they stand in JSON, the beginning of long ones. */
#define NAMES_MAX 4096

struct ky_check_name {
	uint64_t key;
	char name[KY_WORD_TEXT];
};

/* Names of rows, as far as there is room. */
static void name_track(struct ky_check *check, uint64_t key, const char *name)
{
	struct ky_check_name *slot;
	size_t size = 0;
	char *kept;

	if (!check->names) {
		check->names = ky_must_grow(NULL, NAMES_MAX, sizeof(*check->names));
		memset(check->names, 0, NAMES_MAX * sizeof(*check->names));
	}
	slot = &check->names[key % NAMES_MAX];
	if (slot->name[0] && slot->key != key)
		return;
	slot->key = key;
	kept = slot->name;
	for (; *name && size < sizeof(slot->name) - 2; name++) {
		if (*name == '"' || *name == '\\')
			kept[size++] = '\\';
		kept[size++] = (unsigned char)*name < 0x20 ? ' ' : *name;
	}
	/* A character that is cut in two is none. */
	if (*name || size + 1 >= KY_WORD_TEXT - 1) {
		while (size > 0 && ((unsigned char)kept[size - 1] & 0xc0) == 0x80)
			size--;
		size -= size > 0 && (unsigned char)kept[size - 1] >= 0x80;
	}
	kept[size] = '\0';
}

const char *ky_check_track_name(const struct ky_check *check, uint64_t key)
{
	const struct ky_check_name *slot =
		check->names ? &check->names[key % NAMES_MAX] : NULL;

	return slot && slot->key == key ? slot->name : "";
}

/* ---- Records ---- */

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t mixed = (a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2))) *
			 UINT64_C(0xbf58476d1ce4e5b9);

	return mixed ^ mixed >> 31;
}

static void put(struct ky_check_reading *reading, struct ky_check_record record,
		enum ky_record_group group, uint64_t key)
{
	record.group = (uint8_t)group;
	record.key = key;
	ky_sorter_add(reading->check->sorter, &record);
}

static bool is_of_device(const struct ky_event *event)
{
	return ky_event_is_device_work(event) ||
	       (event->words[KY_ARG_STREAM].token == KY_JSON_NUMBER &&
		!ky_event_is_of_host(event));
}

/* Numbers and hexadecimal texts of one value are one id to their reader. */
static uint64_t id_of(const struct ky_word *id)
{
	if (id->token == KY_JSON_STRING)
		return strtoull(id->text, NULL, 16);
	return (uint64_t)strtoll(id->text, NULL, 10);
}

static void put_arrow(struct ky_check_reading *reading, struct ky_check_record record)
{
	const struct ky_word *words = reading->event.words;

	if (words[KY_ID].token == KY_JSON_END)
		return;
	record.sub = mix(words[KY_CAT].hash, words[KY_NAME].hash);
	put(reading, record, KY_OF_ARROW, id_of(&words[KY_ID]));
}

static void put_bound(struct ky_check_reading *reading, struct ky_check_record record)
{
	const struct ky_word *words = reading->event.words;
	const bool in = words[KY_FLOW_IN].token == KY_JSON_TRUE;
	const bool out = words[KY_FLOW_OUT].token == KY_JSON_TRUE;

	if (words[KY_BIND_ID].token == KY_JSON_END || (!in && !out))
		return;
	record.phase = !in ? 's' : out ? 't' : 'f';
	record.flags |= KY_RECORD_BOUND;
	record.sub = 0;
	put(reading, record, KY_OF_ARROW, id_of(&words[KY_BIND_ID]));
}

static void put_async(struct ky_check_reading *reading, struct ky_check_record record)
{
	const struct ky_word *words = reading->event.words;
	uint64_t key = mix(words[KY_CAT].hash, words[KY_ID].hash);

	if (words[KY_ID].token == KY_JSON_END)
		return;
	if (reading->event.is_local)
		key = mix(key, words[KY_PID].hash);
	record.word = words[KY_NAME].hash;
	record.pid = (int64_t)words[KY_PID].hash;
	put(reading, record, KY_OF_ASYNC, key);
}

static void put_counter(struct ky_check_reading *reading, struct ky_check_record record)
{
	const struct ky_word *words = reading->event.words;
	const uint64_t key =
		mix(mix(words[KY_PID].hash, words[KY_NAME].hash),
		    words[KY_ID].token == KY_JSON_STRING ? words[KY_ID].hash : 0);
	size_t i;

	for (i = 0; i < reading->event.series_count; i++) {
		record.word = reading->event.series[i];
		put(reading, record, KY_OF_COUNTER, key);
	}
}

static void put_span(struct ky_check_reading *reading, struct ky_check_record record,
		     uint64_t track)
{
	const struct ky_word *words = reading->event.words;

	put(reading, record, KY_OF_TRACK, track);
	put_bound(reading, record);
	if (words[KY_ARG_CORRELATION].token == KY_JSON_NUMBER &&
	    strcmp(words[KY_ARG_CORRELATION].text, "0") != 0) {
		record.flags = is_of_device(&reading->event) ? KY_RECORD_DEVICE : 0;
		put(reading, record, KY_OF_CORRELATION, words[KY_ARG_CORRELATION].hash);
	}
}

static struct ky_check_record record_of(const struct ky_event *event, int64_t begin_ns,
					int64_t end_ns)
{
	const struct ky_word *pid = &event->words[KY_PID], *tid = &event->words[KY_TID];
	const uint64_t tid_at = tid->begin - event->place.byte;
	const uint64_t tid_size = tid->end - tid->begin;
	struct ky_check_record record = {
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.event = event->place.event,
		.line = event->place.line,
		.byte = event->place.byte,
		.pid = strtoll(pid->text, NULL, 10),
		.phase = (uint8_t)ky_event_phase(event),
		.flags = pid->token == KY_JSON_NUMBER ? 0 : KY_RECORD_TEXT_PID,
	};

	/* Where it does not fit, or is no number, the row stays as it is. */
	if (tid->token == KY_JSON_NUMBER && tid_at <= UINT32_MAX &&
	    tid_size < UINT8_MAX) {
		record.tid_at = (uint32_t)tid_at;
		record.tid_size = (uint8_t)tid_size;
	}
	return record;
}

static void note_tid(struct ky_check *check, const struct ky_word *tid)
{
	const long long number = strtoll(tid->text, NULL, 10);

	if (tid->token == KY_JSON_NUMBER && number > check->largest_tid &&
	    number <= INT32_MAX)
		check->largest_tid = number;
}

void ky_check_put_records(struct ky_check_reading *reading, int64_t begin_ns,
			  int64_t end_ns)
{
	const struct ky_event *event = &reading->event;
	struct ky_check_record record = record_of(event, begin_ns, end_ns);
	const uint64_t track = mix(event->words[KY_PID].hash, event->words[KY_TID].hash);

	note_tid(reading->check, &event->words[KY_TID]);
	switch (record.phase) {
	case 'X':
		put_span(reading, record, track);
		break;
	case 'B':
	case 'E':
		record.word = event->words[KY_NAME].token == KY_JSON_STRING
				      ? event->words[KY_NAME].hash
				      : 0;
		record.flags |= reading->has_span ? KY_RECORD_SEEN_X : 0;
		put(reading, record, KY_OF_TRACK, track);
		break;
	case 's':
	case 't':
	case 'f':
		if (record.phase == 'f' && !ky_word_is_text(&event->words[KY_BP], "e"))
			record.flags |= KY_RECORD_NO_BP;
		put(reading, record, KY_OF_TRACK, track);
		put_arrow(reading, record);
		break;
	case 'b':
		put_bound(reading, record);
		/* fall through */
	case 'e':
		put_async(reading, record);
		break;
	case 'C':
		put_counter(reading, record);
		break;
	case 'M':
		if (ky_word_is_text(&event->words[KY_NAME], "thread_name") &&
		    event->words[KY_ARG_NAME].token == KY_JSON_STRING)
			name_track(reading->check, track, event->words[KY_ARG_NAME].text);
		break;
	default:
		break;
	}
}
