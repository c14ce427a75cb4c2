/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Readers that are made for the traces of one kind of program look for what these have:
 * operators, steps, device numbers, the rank as a text. What they do without it is as
 * tried there.
 */
#include "check_fit.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void find(struct ky_check_reading *reading, enum ky_check_kind kind,
		 const char *text)
{
	ky_check_find(reading->check, kind, reading->event.place, "%s", text);
}

/* ---- What an event is of ---- */

bool ky_event_is_device_work(const struct ky_event *event)
{
	const char *category = event->words[KY_CAT].text;

	return strcmp(category, "kernel") == 0 || strncmp(category, "gpu_mem", 7) == 0;
}

bool ky_event_is_of_host(const struct ky_event *event)
{
	const char *category = event->words[KY_CAT].text;

	return strcmp(category, "cpu_op") == 0 ||
	       strcmp(category, "user_annotation") == 0 ||
	       strcmp(category, "python_function") == 0 || strstr(category, "runtime") ||
	       strstr(category, "driver");
}

/* ---- The rank ---- */

/*
 * The first `"rank": 3` with its blank, within one line. A number that reaches the end
 * may go on behind it.
 */
static bool find_rank(const char *text, size_t size, uint64_t *number)
{
	static const char key[] = "\"rank\":";
	const char *const end = text + size;
	const char *at = text;

	while ((at = memmem(at, (size_t)(end - at), key, sizeof(key) - 1))) {
		const char *digits;

		at += sizeof(key) - 1;
		digits = at;
		while (digits < end && (*digits == ' ' || *digits == '\t'))
			digits++;
		if (digits == at)
			continue;
		*number = 0;
		for (at = digits; at < end && isdigit((unsigned char)*at); at++)
			*number = *number * 10 + (uint64_t)(*at - '0');
		if (at > digits && at < end)
			return true;
	}
	return false;
}

/* What stands across two parts of the text is found in the end of one and the other. */
void ky_fit_scan(struct ky_check_fit *fit, const char *text, size_t size)
{
	char seam[2 * KY_FIT_SEAM];
	const size_t head = size < KY_FIT_SEAM ? size : KY_FIT_SEAM;
	size_t kept;

	if (fit->has_rank)
		return;
	memcpy(seam, fit->seam, fit->seam_size);
	memcpy(seam + fit->seam_size, text, head);
	fit->has_rank = find_rank(seam, fit->seam_size + head, &fit->rank) ||
			find_rank(text, size, &fit->rank);
	kept = fit->seam_size + head;
	if (size > head || kept > KY_FIT_SEAM)
		kept = KY_FIT_SEAM;
	if (size > head)
		memcpy(fit->seam, text + size - kept, kept);
	else
		memcpy(fit->seam, seam + fit->seam_size + head - kept, kept);
	fit->seam_size = kept;
}

void ky_fit_take_rank(struct ky_check_reading *reading)
{
	struct ky_check_fit *fit = &reading->fit;

	fit->has_own_rank = true;
	fit->own_rank = strtoull(ky_json_reader_text(reading->reader, NULL), NULL, 10);
	fit->own_rank_place = (struct ky_check_place){
		ky_json_reader_line(reading->reader),
		ky_json_reader_byte(reading->reader),
		KY_CHECK_NO_EVENT,
	};
}

static void finish_rank(struct ky_check *check, const struct ky_check_fit *fit)
{
	if (!fit->has_own_rank)
		return;
	if (!fit->has_rank)
		ky_check_find(check, KY_RANK_UNSEEN, fit->own_rank_place, "%s", "");
	else if (fit->rank != fit->own_rank)
		ky_check_find(check, KY_RANK_ELSEWHERE, fit->own_rank_place,
			      "rank %" PRIu64 " is read as %" PRIu64, fit->own_rank,
			      fit->rank);
}

/* ---- Events ---- */

static bool is_integer(const char *text)
{
	text += *text == '-';
	return *text && text[strspn(text, "0123456789")] == '\0';
}

static void take_span(struct ky_check_reading *reading)
{
	const struct ky_word *words = reading->event.words;
	const struct ky_word *stream = &words[KY_ARG_STREAM], *tid = &words[KY_TID];
	struct ky_check_fit *fit = &reading->fit;
	const bool is_operator = ky_word_is_text(&words[KY_CAT], "cpu_op") ||
				 ky_word_is_text(&words[KY_CAT], "operator");
	const bool is_step = strncmp(words[KY_NAME].text, "ProfilerStep#", 13) == 0 &&
			     !ky_word_is_text(&words[KY_CAT], "gpu_user_annotation");

	if (fit->spans++ == 0)
		fit->first_span = reading->event.place;
	fit->operators +=
		is_operator || is_step || ky_word_is_text(&words[KY_CAT], "python");
	if (is_step && fit->steps++ > 0)
		fit->last_step = reading->event.place;
	if (ky_event_is_device_work(&reading->event)) {
		if (fit->device_work++ == 0)
			fit->first_work = reading->event.place;
		fit->without_device += words[KY_ARG_DEVICE].token != KY_JSON_NUMBER;
	}
	if (ky_event_is_of_host(&reading->event) && stream->token == KY_JSON_NUMBER &&
	    strtod(stream->text, NULL) >= 0)
		find(reading, KY_STREAM_ON_HOST, words[KY_NAME].text);
	if ((is_operator || ky_word_is_text(&words[KY_CAT], "user_annotation")) &&
	    tid->token == KY_JSON_STRING && !is_integer(tid->text))
		find(reading, KY_TID_NO_NUMBER, tid->text);
	if (ky_word_is_text(&words[KY_CAT], "Trace"))
		find(reading, KY_TRACE_CATEGORY, words[KY_NAME].text);
}

/*
 * Labels are no loss to who does not show them where the name of the process has them as
 * well, nor is libkineto's "CPU", which every process has that is no device.
 */
static void take_name(struct ky_check_reading *reading)
{
	const struct ky_word *words = reading->event.words;
	const struct ky_word *labels = &words[KY_ARG_LABELS];
	struct ky_check_fit *fit = &reading->fit;

	if (ky_word_is_text(&words[KY_NAME], "process_name")) {
		fit->named_pid = words[KY_PID];
		fit->process_name = words[KY_ARG_NAME];
	}
	if (!ky_word_is_text(&words[KY_NAME], "process_labels") ||
	    ky_word_is_text(labels, "CPU"))
		return;
	if (labels->token != KY_JSON_STRING ||
	    fit->named_pid.hash != words[KY_PID].hash ||
	    !strstr(fit->process_name.text, labels->text))
		find(reading, KY_LABELS_IGNORED, labels->text);
}

void ky_fit_take(struct ky_check_reading *reading)
{
	const struct ky_word *words = reading->event.words;
	struct ky_check_fit *fit = &reading->fit;
	const char phase = ky_event_phase(&reading->event);

	if (fit->events++ == 0)
		fit->first = reading->event.place;
	fit->has_args |= words[KY_ARGS].token != KY_JSON_END;
	fit->names += phase == 'M';
	if (phase == 'X')
		take_span(reading);
	else if (phase == 'M')
		take_name(reading);
}

void ky_fit_take_first(struct ky_check_reading *reading)
{
	const struct ky_word *words = reading->event.words;

	if (!ky_event_phase(&reading->event) || words[KY_CAT].token == KY_JSON_END ||
	    words[KY_ARGS].token == KY_JSON_END)
		find(reading, KY_FIRST_EVENT, words[KY_NAME].text);
}

void ky_fit_finish(struct ky_check_reading *reading)
{
	const struct ky_check_fit *fit = &reading->fit;
	struct ky_check *check = reading->check;

	finish_rank(check, fit);
	if (fit->events > 0 && fit->events == fit->names)
		ky_check_find(check, KY_ONLY_NAMES, fit->first, "%s", "");
	if (fit->spans > 0 && !fit->has_args)
		ky_check_find(check, KY_NO_ARGS, fit->first_span, "%s", "");
	if (fit->device_work > 0 && fit->operators == 0)
		ky_check_find(check, KY_NO_OPERATOR, fit->first_work, "%s", "");
	else if (fit->without_device > 0)
		ky_check_find(check, KY_DEVICE_MISSING, fit->first_work,
			      "%" PRIu64 " of %" PRIu64, fit->without_device,
			      fit->device_work);
	if (fit->device_work > 0 && fit->steps > 1)
		ky_check_find(check, KY_PROFILER_STEPS, fit->last_step, "%s", "");
}
