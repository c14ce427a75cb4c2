/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is in a capture: an export into a sink that only counts, so that the numbers are
 * those of the trace that would be made of it.
 */
#include "info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <kymo/timeline.h>

#include "info_values.h"
#include "say.h"

static char *copy(struct kymo_str text)
{
	return text.size > 0 ? ky_must_copy(text.data, text.size) : NULL;
}

static char *number_text(int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, number);
	return ky_must_copy(text, strlen(text));
}

static uint64_t index_of(const struct kymo_trace_process *process)
{
	return process ? process->index : KY_NO_INDEX;
}

/* In the words of a trace. */
static const char *side_name(uint32_t side)
{
	return side == KYMO_SIDE_HOST          ? "host"
	       : side == KYMO_SIDE_ACCELERATOR ? "accelerator"
					       : "";
}

static char *shape_names(uint32_t shapes)
{
	static const char *const names[] = {
		"",        "span",          "instant",          "span, instant",
		"counter", "span, counter", "instant, counter", "span, instant, counter",
	};
	const char *words = names[shapes & 7];

	return words[0] ? ky_must_copy(words, strlen(words)) : NULL;
}

/* As a trace has them: those that sources have brought. */
static void copy_types(struct ky_info *info, const struct kymo_trace_header *header)
{
	size_t i;

	for (i = 0; i < header->type_count; i++) {
		const struct kymo_trace_type *from = header->types[i];
		const char *side = side_name(from->side);
		struct ky_info_type *to;

		if (from->is_static)
			continue;
		info->types = ky_info_append(info->types, &info->type_count,
					     sizeof(*info->types));
		to = &info->types[info->type_count - 1];
		to->number = from->activity_type;
		to->name = copy(from->full_name);
		to->category = copy(from->category);
		to->side = side[0] ? ky_must_copy(side, strlen(side)) : NULL;
		to->shapes = shape_names(from->shapes);
	}
}

static int32_t begin(void *sink, const struct kymo_trace_header *header,
		     struct kymo_error *error)
{
	struct ky_info *info = sink;
	size_t i;

	(void)error;
	info->command_line = copy(header->command_line);
	info->base_ns = header->realtime_offset_ns;
	info->has_base = true;
	for (i = 0; i < header->process_count; i++) {
		const struct kymo_trace_process *from = header->processes[i];
		struct ky_info_process *to;

		info->processes = ky_info_append(info->processes, &info->process_count,
						 sizeof(*info->processes));
		to = &info->processes[i];
		to->pid = number_text((int64_t)from->pid);
		to->name = copy(from->name);
		to->exe = copy(from->exe);
		to->command_line = copy(from->command_line);
		to->host = copy(from->host);
		to->rank = from->rank >= 0 ? number_text(from->rank) : NULL;
	}
	for (i = 0; i < header->device_count; i++) {
		const struct kymo_trace_device *from = header->devices[i];
		struct ky_info_device *to;

		info->devices = ky_info_append(info->devices, &info->device_count,
					       sizeof(*info->devices));
		to = &info->devices[i];
		to->name = copy(from->name);
		to->kind = copy(from->kind);
		to->source = copy(from->source);
		to->process = index_of(from->process);
	}
	for (i = 0; i < header->metadata_count; i++)
		ky_info_take_value(info, &header->metadata[i]);
	copy_types(info, header);
	return KYMO_OK;
}

static char *track_name(const struct kymo_trace_track *track)
{
	const char *what = track->kind == KYMO_TRACK_THREAD  ? "thread"
			   : track->kind == KYMO_TRACK_QUEUE ? "queue"
							     : "counters";
	const uint64_t number =
		track->kind == KYMO_TRACK_THREAD ? track->native : track->number;
	const int size = (int)(track->name.size < 200 ? track->name.size : 200);
	char place[48] = "", lane[32] = "", text[400];

	if (track->device)
		snprintf(place, sizeof(place), "device %" PRIu32 " ",
			 track->device->index);
	if (track->lane > 0)
		snprintf(lane, sizeof(lane), " (lane %" PRIu32 ")", track->lane + 1);
	snprintf(text, sizeof(text), "%s%s %" PRIu64 "%s%.*s%s%s", place, what, number,
		 size ? " (" : "", size, size ? track->name.data : "", size ? ")" : "",
		 lane);
	return ky_must_copy(text, strlen(text));
}

static char *owner_name(const struct kymo_trace_process *process)
{
	const int size = (int)(process->name.size < 200 ? process->name.size : 200);
	char text[256];

	snprintf(text, sizeof(text), "%.*s %" PRIu64, size,
		 size ? process->name.data : "", process->pid);
	return ky_must_copy(text, strlen(text));
}

static void count(struct ky_info *info, const struct kymo_trace_event *event)
{
	const struct kymo_trace_type *type = event->type;
	struct ky_info_category *category;
	struct ky_info_track *track;

	if (event->kind == KYMO_EVENT_ARROW) {
		info->arrows++;
		return;
	}
	track = ky_info_track(info, &event->track->index, sizeof(event->track->index));
	if (!track->name && track != &info->other_rows) {
		track->name = track_name(event->track);
		track->owner = owner_name(event->track->process);
	}
	if (event->kind == KYMO_EVENT_TRACK)
		return;
	ky_info_note_time(info, event->begin_ns, event->end_ns);
	if (event->kind == KYMO_EVENT_GAP || !type) {
		info->others++;
		return;
	}
	track->events++;
	category =
		type->category.size
			? ky_info_category(info, type->category.data, type->category.size)
			: ky_info_category(info, type->name.data, type->name.size);
	if (event->kind == KYMO_EVENT_SPAN) {
		info->spans++;
		category->spans++;
		category->busy_ns = ky_info_add_ns(
			category->busy_ns,
			ky_info_between_ns(event->begin_ns, event->end_ns));
	} else if (event->kind == KYMO_EVENT_INSTANT) {
		info->instants++;
		category->instants++;
	} else {
		info->counters++;
		category->counters++;
	}
}

static int32_t batch(void *sink, const struct kymo_trace_event *const *events,
		     size_t event_count, struct kymo_error *error)
{
	size_t i;

	(void)error;
	for (i = 0; i < event_count; i++)
		count(sink, events[i]);
	return KYMO_OK;
}

static void add_ledger(struct ky_info *info, const char *name, uint64_t value)
{
	struct ky_info_entry *entry;

	info->ledger =
		ky_info_append(info->ledger, &info->ledger_count, sizeof(*info->ledger));
	entry = &info->ledger[info->ledger_count - 1];
	entry->name = ky_must_copy(name, strlen(name));
	entry->value = value;
}

#define ADD(field) add_ledger(info, #field, ledger->field)

static void copy_ledger(struct ky_info *info, const struct kymo_trace_ledger *ledger)
{
	ADD(offered);
	ADD(filtered);
	ADD(accepted);
	ADD(written);
	ADD(full);
	ADD(too_big);
	ADD(nested);
	ADD(overwritten);
	ADD(late);
	ADD(out_of_window);
	ADD(cut);
	ADD(source_exact);
	ADD(source_at_least);
	ADD(untimed);
	ADD(unfinished);
	ADD(names_not_kept);
	ADD(arrows);
	ADD(arrows_backward);
	ADD(arrows_no_launch);
	ADD(arrows_untimed);
	ADD(spans);
	ADD(instants);
	ADD(counters);
	ADD(kernels);
	ADD(copies);
	ADD(cold_chunks);
	ADD(quarantined_chunks);
	/* As in a trace: only where there are any. */
	if (ledger->begins > 0)
		ADD(begins);
	if (ledger->cut_captures > 0)
		ADD(cut_captures);
	if (ledger->bad_bytes > 0)
		ADD(bad_bytes);
	if (ledger->launches_without_result > 0)
		ADD(launches_without_result);
	if (ledger->invalid > 0)
		ADD(invalid);
	if (ledger->projected > 0)
		ADD(projected);
	if (ledger->before_launch > 0)
		ADD(before_launch);
	if (ledger->launches_twice > 0)
		ADD(launches_twice);
	if (ledger->arrows_twice > 0)
		ADD(arrows_twice);
}

static const char *state_name(uint32_t state)
{
	static const char *const names[] = {"absent", "ready",  "partly", "recording",
					    "busy",   "denied", "failed"};

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

static const char *clock_kind(uint32_t kind)
{
	return kind == KYMO_CLOCK_COUNTER     ? "counter"
	       : kind == KYMO_CLOCK_MONOTONIC ? "monotonic"
	       : kind == KYMO_CLOCK_REALTIME  ? "realtime"
					      : "unknown";
}

static int32_t end(void *sink, const struct kymo_trace_end *end_of_trace,
		   struct kymo_sink_result *result, struct kymo_error *error)
{
	struct ky_info *info = sink;
	size_t i;

	(void)error;
	(void)result;
	for (i = 0; i < end_of_trace->source_count; i++) {
		const struct kymo_trace_source *from = end_of_trace->sources[i];
		const char *state = state_name(from->state);
		struct ky_info_source *to;

		info->sources = ky_info_append(info->sources, &info->source_count,
					       sizeof(*info->sources));
		to = &info->sources[i];
		to->name = copy(from->name);
		to->state = ky_must_copy(state, strlen(state));
		to->reason = copy(from->reason);
		to->remedy = copy(from->remedy);
		to->process = index_of(from->process);
		to->events = from->events;
		to->written = from->written;
		to->lost = from->lost;
		to->late = from->late;
		to->overwritten = from->overwritten;
		to->out_of_window = from->out_of_window;
		to->filtered = from->filtered;
		to->invalid = from->invalid;
	}
	for (i = 0; i < end_of_trace->clock_count; i++) {
		const struct kymo_trace_clock *from = end_of_trace->clocks[i];
		const char *kind = clock_kind(from->kind);
		struct ky_info_clock *to;

		info->clocks = ky_info_append(info->clocks, &info->clock_count,
					      sizeof(*info->clocks));
		to = &info->clocks[i];
		to->name = copy(from->name);
		to->kind = ky_must_copy(kind, strlen(kind));
		to->source = copy(from->source);
		to->anchors = from->anchor_count;
		to->uncertainty_ns = from->uncertainty_ns;
	}
	if (end_of_trace->ledger)
		copy_ledger(info, end_of_trace->ledger);
	return KYMO_OK;
}

static void abort_count(void *sink)
{
	(void)sink; /* the command ends with the export's error */
}

int ky_info_read_capture(struct ky_info *info)
{
	static const struct kymo_sink_ops ops = {
		.struct_size = sizeof(ops),
		.begin = begin,
		.batch = batch,
		.end = end,
		.abort = abort_count,
	};
	struct kymo_error error = {0};
	struct stat found;

	info->format = "capture";
	info->is_ours = true;
	if (stat(info->path, &found) == 0)
		info->file_bytes = info->bytes = (uint64_t)found.st_size;
	if (kymo_timeline_export_to(&info->path, 1, &ops, info, NULL, &error) != KYMO_OK)
		return ky_say_error(KY_EXIT_FAILED, "%s", error.message);
	ky_info_part_projected(info);
	return 0;
}
