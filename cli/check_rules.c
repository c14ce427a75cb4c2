/* SPDX-License-Identifier: BSD-3-Clause */
#include "check_rules.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check_fit.h"
#include "check_repair.h"
#include "microseconds.h"

#define TWO_TO_31 2147483648.0
#define TWO_TO_42 4398046511104.0
#define TWO_TO_43 8796093022208.0
#define TWO_TO_53 9007199254740992.0

#define DIGITS_MAX  18
#define DEVICES_MAX 64 /* of one reader */

/* What a rule sees. */
struct rules {
	struct ky_check_reading *reading;
	struct ky_check *check;
	const struct ky_event *event;
	char phase;
};

static void find(const struct rules *rules, enum ky_check_kind kind, const char *text)
{
	ky_check_find(rules->check, kind, rules->event->place, "%s", text);
}

static const struct ky_word *word_of(const struct rules *rules, enum ky_event_word word)
{
	return &rules->event->words[word];
}

static bool is_one_of(char phase, const char *phases)
{
	return phase && strchr(phases, phase);
}

static bool is_numeric(const char *text)
{
	char *end;

	if (*text != '-' && (*text < '0' || *text > '9'))
		return false;
	strtod(text, &end);
	return !*end && strcspn(text, "xXiInN") == strlen(text);
}

bool ky_word_is_time(const struct ky_word *word)
{
	return word->token == KY_JSON_NUMBER ||
	       (word->token == KY_JSON_STRING && is_numeric(word->text));
}

static bool has_fraction(const char *text)
{
	return text[strcspn(text, ".eE")] != '\0';
}

/* Of an integer: a double may hold another one. */
static bool is_beyond_53(const char *text)
{
	return !has_fraction(text) &&
	       strtoull(text + (*text == '-'), NULL, 10) > UINT64_C(1) << 53;
}

static bool is_beyond_63(const char *text)
{
	const bool is_negative = *text == '-';
	unsigned long long value;

	errno = 0;
	value = strtoull(text + is_negative, NULL, 10);
	return !has_fraction(text) &&
	       (errno == ERANGE || value > (UINT64_C(1) << 63) - !is_negative);
}

/* One reader gathers the digits on each side of the point in 64 bits. */
static bool has_long_part(const char *text)
{
	const char *whole = text + (*text == '-');
	const size_t size = strspn(whole, "0123456789");

	if (!has_fraction(text))
		return false;
	return size > DIGITS_MAX || (whole[size] == '.' &&
				     strspn(whole + size + 1, "0123456789") > DIGITS_MAX);
}

/* ---- Numbers in args ---- */

void ky_rule_number(struct ky_check_reading *reading)
{
	const char *text = ky_json_reader_text(reading->reader, NULL);
	const struct ky_check_place place = {
		ky_json_reader_line(reading->reader),
		ky_json_reader_byte(reading->reader),
		reading->event.place.event,
	};

	if (has_long_part(text))
		ky_check_find(reading->check, KY_LONG_FRACTION, place, "%.40s", text);
	else if (is_beyond_63(text))
		ky_check_find(reading->check, KY_HUGE_INTEGER, place, "%.40s", text);
	else if (is_beyond_53(text))
		ky_check_find(reading->check, KY_BIG_NUMBER, place, "%.40s", text);
}

/* ---- Phase, name, category, args ---- */

static void check_phase(struct rules *rules)
{
	if (!rules->phase)
		find(rules, KY_NO_PHASE, "");
	else if (!strchr("XBEbenstfiIRCMT", rules->phase))
		ky_check_find(rules->check, KY_UNKNOWN_PHASE, rules->event->place,
			      "\"%.20s\"", word_of(rules, KY_PH)->text);
}

static void check_words(struct rules *rules)
{
	const struct ky_word *name = word_of(rules, KY_NAME);

	if (name->token != KY_JSON_STRING && is_one_of(rules->phase, "XBbnstfiIRCM"))
		find(rules, KY_NO_NAME, "");
	if (word_of(rules, KY_CAT)->token != KY_JSON_STRING && rules->phase == 'X')
		find(rules, KY_NO_CATEGORY, name->text);
}

static void check_args(struct rules *rules)
{
	const enum ky_json_token args = word_of(rules, KY_ARGS)->token;

	if (args == KY_JSON_NULL)
		find(rules, KY_ARGS_NULL, "");
	else if (args != KY_JSON_END && args != KY_JSON_OBJECT)
		find(rules, KY_ARGS_NO_OBJECT, "");
}

/* ---- Times ---- */

/* A number in quotes is what stands between them. */
static void unquote(struct rules *rules, const struct ky_word *word)
{
	find(rules, KY_TIME_TEXT, word->text);
	ky_check_mend(rules->check, KY_TIME_TEXT, rules->event->place, word->begin, 1,
		      "");
	ky_check_mend_too(rules->check, word->end - 1, 1, "");
}

static void check_size(struct rules *rules, const struct ky_word *word)
{
	const double us = fabs(strtod(word->text, NULL));

	if (has_fraction(word->text) && us >= TWO_TO_43)
		find(rules, KY_TIME_ROUNDED, word->text);
	else if (us >= (has_fraction(word->text) ? TWO_TO_42 : TWO_TO_53))
		find(rules, KY_TIME_COARSE, word->text);
	if (has_long_part(word->text))
		find(rules, KY_LONG_FRACTION, word->text);
}

/* False where the event has no place in time. */
static bool check_begin(struct rules *rules, int64_t *begin_ns)
{
	const struct ky_word *ts = word_of(rules, KY_TS);

	if (!ky_word_is_time(ts)) {
		find(rules, KY_NO_TIME, ts->token == KY_JSON_STRING ? ts->text : "");
		return false;
	}
	if (ts->token == KY_JSON_STRING)
		unquote(rules, ts);
	if (!ky_us_to_ns(ts->text, begin_ns)) {
		find(rules, KY_TIME_IMPOSSIBLE, ts->text);
		return false;
	}
	check_size(rules, ts);
	if (*begin_ns < 0)
		find(rules, KY_TIME_NEGATIVE, ts->text);
	return true;
}

static void check_bad_duration(struct rules *rules, const struct ky_word *word)
{
	size_t i;

	find(rules, KY_BAD_DURATION, word->text);
	for (i = 0; i < rules->event->cut_count; i++) {
		const struct ky_event_cut *cut = &rules->event->cuts[i];

		if (!cut->in_args && cut->begin <= word->begin && word->begin < cut->end)
			ky_check_mend(rules->check, KY_BAD_DURATION, rules->event->place,
				      cut->begin, cut->end - cut->begin, "");
	}
}

static void check_duration_words(struct rules *rules)
{
	static const enum ky_event_word durations[] = {KY_DUR, KY_TTS, KY_TDUR};
	size_t i;

	for (i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
		const struct ky_word *word = word_of(rules, durations[i]);

		if (word->token == KY_JSON_END)
			continue;
		if (!ky_word_is_time(word))
			check_bad_duration(rules, word);
		else if (word->token == KY_JSON_STRING)
			unquote(rules, word);
	}
}

static bool check_end(struct rules *rules, int64_t begin_ns, int64_t *end_ns)
{
	const struct ky_word *duration = word_of(rules, KY_DUR);
	int64_t ns;

	if (duration->token == KY_JSON_END) {
		find(rules, KY_NO_DURATION, word_of(rules, KY_NAME)->text);
		return false;
	}
	if (!ky_word_is_time(duration))
		return false;
	if (!ky_us_to_ns(duration->text, &ns) ||
	    __builtin_add_overflow(begin_ns, ns, end_ns)) {
		find(rules, KY_TIME_IMPOSSIBLE, duration->text);
		return false;
	}
	if (ns < 0)
		find(rules, KY_NEGATIVE_DURATION, duration->text);
	else if (ns == 0 && begin_ns == 0)
		find(rules, KY_TIME_ZERO, word_of(rules, KY_NAME)->text);
	else if (ns == 0)
		find(rules, KY_ZERO_DURATION, word_of(rules, KY_NAME)->text);
	return ns >= 0;
}

/* ---- pid and tid ---- */

static void check_id(struct rules *rules, const struct ky_word *id, const char *name)
{
	double value;

	if (id->token == KY_JSON_STRING) {
		ky_check_find(rules->check, KY_TEXT_ID, rules->event->place,
			      "%s \"%.40s\"", name, id->text);
		return;
	}
	if (id->token != KY_JSON_NUMBER) {
		find(rules, KY_NO_ID, name);
		return;
	}
	value = strtod(id->text, NULL);
	if (value != floor(value))
		ky_check_find(rules->check, KY_NO_ID, rules->event->place, "%s %.40s",
			      name, id->text);
	else if (value < 0 || value >= TWO_TO_31)
		ky_check_find(rules->check, KY_ID_BEYOND_31, rules->event->place,
			      "%s %.40s", name, id->text);
	if (is_beyond_53(id->text))
		ky_check_find(rules->check, KY_ID_BEYOND_53, rules->event->place,
			      "%s %.40s", name, id->text);
}

static bool is_zero(const struct ky_word *word)
{
	return word->token == KY_JSON_NUMBER && strtod(word->text, NULL) == 0;
}

static void check_ids(struct rules *rules)
{
	const struct ky_word *pid = word_of(rules, KY_PID), *tid = word_of(rules, KY_TID);
	const bool names_thread =
		rules->phase == 'M' &&
		strncmp(word_of(rules, KY_NAME)->text, "thread_", 7) == 0;

	if (is_one_of(rules->phase, "XBEstf")) {
		check_id(rules, pid, "pid");
		check_id(rules, tid, "tid");
	}
	if ((names_thread || is_one_of(rules->phase, "XBiIR")) && is_zero(tid) &&
	    !is_zero(pid))
		find(rules, KY_TID_ZERO, word_of(rules, KY_NAME)->text);
}

/*
 * Whether devices and processes share a pid. As far as the table reaches: traces have few
 * pids.
 */
static void check_shared_pid(struct rules *rules)
{
	enum { HOST = 1, DEVICE = 2, TOLD = 4 };
	struct ky_check_pid *slot;
	const uint64_t pid = word_of(rules, KY_PID)->hash;
	unsigned now = 0;

	if (ky_event_is_device_work(rules->event))
		now = DEVICE;
	else if (ky_event_is_of_host(rules->event))
		now = HOST;
	slot = &rules->reading->pids[pid % KY_CHECK_PIDS];
	if (now == 0 || (slot->seen && slot->pid != pid))
		return;
	slot->pid = pid;
	slot->seen |= now;
	if (slot->seen != (HOST | DEVICE))
		return;
	slot->seen |= TOLD;
	ky_check_find(rules->check, KY_SHARED_PID, rules->event->place, "pid %s",
		      word_of(rules, KY_PID)->text);
}

/* ---- Single kinds of events ---- */

static void check_naming(struct rules *rules)
{
	const struct ky_word *name = word_of(rules, KY_NAME);
	const struct ky_word *given = word_of(rules, KY_ARG_NAME);
	const struct ky_word *index = word_of(rules, KY_ARG_SORT_INDEX);
	double number;

	if (word_of(rules, KY_ARGS)->token != KY_JSON_OBJECT) {
		find(rules, KY_NAMING_NO_ARGS, name->text);
	} else if (ky_word_is_text(name, "process_name") ||
		   ky_word_is_text(name, "thread_name")) {
		if (given->token != KY_JSON_STRING || !given->text[0])
			find(rules, KY_BAD_NAMING, name->text);
	} else if (ky_word_is_text(name, "process_sort_index") ||
		   ky_word_is_text(name, "thread_sort_index")) {
		number = strtod(index->text, NULL);
		if (index->token != KY_JSON_NUMBER || number < -TWO_TO_31 ||
		    number >= TWO_TO_31)
			find(rules, KY_BAD_NAMING, name->text);
	}
}

static void check_instant(struct rules *rules)
{
	const struct ky_word *scope = word_of(rules, KY_SCOPE);
	const bool has_pid = word_of(rules, KY_PID)->token != KY_JSON_END;
	const bool has_tid = word_of(rules, KY_TID)->token != KY_JSON_END;
	const char letter = scope->token == KY_JSON_END ? 't' : scope->text[0];

	/* Of an unknown scope it goes to the thread, where it is drawn at all. */
	if (!is_one_of(letter, "gpt"))
		find(rules, KY_INSTANT_SCOPE, word_of(rules, KY_NAME)->text);
	if (letter == 'p' ? !has_pid : letter != 'g' && !has_tid)
		find(rules, KY_INSTANT_NO_ROW, word_of(rules, KY_NAME)->text);
}

static void check_counter(struct rules *rules)
{
	const struct ky_word *id = word_of(rules, KY_ID);

	if (rules->event->series_count == 0)
		find(rules, KY_COUNTER_NO_ARGS, word_of(rules, KY_NAME)->text);
	if (rules->event->bad_values > 0)
		find(rules, KY_COUNTER_VALUE, word_of(rules, KY_NAME)->text);
	if (id->token == KY_JSON_NUMBER)
		find(rules, KY_COUNTER_ID, id->text);
}

static bool is_arrow_id(const struct ky_word *id)
{
	const char *text = id->text;

	if (id->token == KY_JSON_NUMBER)
		return !has_fraction(text) && strtod(text, NULL) < 9.3e18;
	if (id->token != KY_JSON_STRING)
		return false;
	text += strncmp(text, "0x", 2) == 0 ? 2 : 0;
	return *text && text[strspn(text, "0123456789abcdefABCDEF")] == '\0';
}

static void check_arrow(struct rules *rules)
{
	const struct ky_word *id = word_of(rules, KY_ID);
	const bool has_bp = ky_word_is_text(word_of(rules, KY_BP), "e");

	if (!is_arrow_id(id))
		find(rules, KY_ARROW_ID, id->text);
	if (id->token == KY_JSON_NUMBER && is_beyond_53(id->text))
		find(rules, KY_ARROW_ID_BEYOND_53, id->text);
	if (rules->phase != 'f' || has_bp)
		return;
	find(rules, KY_ARROW_NO_BP, "");
	if (word_of(rules, KY_CAT)->token == KY_JSON_END)
		find(rules, KY_ARROW_NO_CATEGORY, "");
}

static void check_async(struct rules *rules)
{
	const struct ky_word *id = word_of(rules, KY_ID);

	if (id->token != KY_JSON_STRING &&
	    (id->token != KY_JSON_NUMBER || has_fraction(id->text)))
		find(rules, KY_ASYNC_NO_ID, id->text);
}

static void check_device(struct rules *rules)
{
	const struct ky_word *device = word_of(rules, KY_ARG_DEVICE);
	const struct ky_word *stream = word_of(rules, KY_ARG_STREAM);

	if (device->token == KY_JSON_NUMBER && strtod(device->text, NULL) >= DEVICES_MAX)
		find(rules, KY_DEVICE_NUMBER, device->text);
	if (stream->token == KY_JSON_STRING)
		find(rules, KY_STREAM_NO_NUMBER, stream->text);
}

static void check_binding(struct rules *rules)
{
	if (word_of(rules, KY_BIND_ID)->token != KY_JSON_END &&
	    word_of(rules, KY_FLOW_IN)->token != KY_JSON_TRUE &&
	    word_of(rules, KY_FLOW_OUT)->token != KY_JSON_TRUE)
		find(rules, KY_ARROW_NO_DIRECTION, word_of(rules, KY_NAME)->text);
}

static void check_kind(struct rules *rules)
{
	switch (rules->phase) {
	case 'X':
		check_device(rules);
		check_shared_pid(rules);
		check_binding(rules);
		break;
	case 'M':
		check_naming(rules);
		break;
	case 'i':
	case 'I':
	case 'R':
		check_instant(rules);
		break;
	case 'C':
		check_counter(rules);
		break;
	case 's':
	case 't':
	case 'f':
		check_arrow(rules);
		break;
	case 'b':
	case 'e':
	case 'n':
		check_async(rules);
		break;
	default:
		break;
	}
}

void ky_rules_judge(struct ky_check_reading *reading)
{
	struct rules rules = {reading, reading->check, &reading->event,
			      ky_event_phase(&reading->event)};
	int64_t begin_ns = 0, end_ns;
	bool has_time = true;

	check_phase(&rules);
	check_words(&rules);
	check_args(&rules);
	check_ids(&rules);
	check_kind(&rules);
	check_duration_words(&rules);
	ky_fit_take(reading);
	if (rules.phase != 'M')
		has_time = check_begin(&rules, &begin_ns);
	end_ns = begin_ns;
	if (has_time && rules.phase == 'X')
		has_time = check_end(&rules, begin_ns, &end_ns);
	if (has_time)
		ky_check_put_records(reading, begin_ns, end_ns);
	reading->has_span |= rules.phase == 'X';
}
