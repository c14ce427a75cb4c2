/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of processes and threads. Readers keep them in 31 or 32 bits, fold tid 0 into
 * the process and merge what has equal numbers, so each row gets a (pid, tid) of its own:
 *
 *     pid  a program's, if no other of this trace has it, else from 2^29 by its index
 *          a device: 2^30 + its index
 *     tid  a thread's, if no other of the process has it, else from 2^29
 *          a queue: its number within the device, from 1; one of no device, which
 *          stands among the threads: from 2^29
 *          a further lane of either: from 2^30 + 2^24
 *
 * What was replaced stands in the args of the events that name the row.
 */
#include "chrome.h"

#include <stdlib.h>

#define ASSIGNED_FIRST (UINT32_C(1) << 29)
#define DEVICE_FIRST   (UINT32_C(1) << 30)
#define LANE_FIRST     (DEVICE_FIRST + (UINT32_C(1) << 24))

/* Above any pid of Linux (2^22) and below the devices, as libkineto has it. */
#define SORT_ASSIGNED 4200000u
#define SORT_DEVICE   5000000u

/* Indices are dense; a larger one is no index. */
#define INDEX_LIMIT (UINT32_C(1) << 24)

/* ---- Numbers ---- */

/* True if the number was free for this process (0: among processes). */
static bool take(struct ky_tracks *tracks, uint32_t pid, uint64_t number)
{
	return number > 0 && number < ASSIGNED_FIRST &&
	       ky_set_add(&tracks->taken, (uint64_t)pid << 32 | number) == KYMO_OK;
}

uint32_t ky_tracks_assign(struct ky_tracks *tracks)
{
	return ASSIGNED_FIRST + tracks->assigned_count++;
}

static uint32_t choose_tid(struct ky_tracks *tracks, const struct kymo_trace_track *track,
			   uint32_t pid)
{
	uint64_t wanted = track->kind == KYMO_TRACK_THREAD ? track->native
			  : track->device                  ? track->number
							   : 0;

	if (track->lane > 0)
		return LANE_FIRST + tracks->lane_count++;
	if (take(tracks, pid, wanted))
		return (uint32_t)wanted;
	return ky_tracks_assign(tracks);
}

void ky_tracks_fini(struct ky_tracks *tracks)
{
	free(tracks->rows);
	free(tracks->processes);
	free(tracks->devices);
	ky_set_fini(&tracks->taken);
	memset(tracks, 0, sizeof(*tracks));
}

int32_t ky_tracks_init(struct ky_tracks *tracks, const struct kymo_trace_header *header)
{
	uint32_t i;

	if (header->process_count >= INDEX_LIMIT || header->device_count >= INDEX_LIMIT)
		return KYMO_ERROR_INVALID;
	tracks->process_count = header->process_count;
	tracks->device_count = header->device_count;
	tracks->processes = calloc(tracks->process_count + 1, sizeof(*tracks->processes));
	tracks->devices = calloc(tracks->device_count + 1, sizeof(*tracks->devices));
	if (!tracks->processes || !tracks->devices)
		return KYMO_ERROR_NO_MEMORY;
	for (i = 0; i < tracks->process_count; i++) {
		uint64_t pid = header->processes[i]->pid;

		tracks->processes[i].pid =
			take(tracks, 0, pid) ? (uint32_t)pid : ASSIGNED_FIRST + i;
	}
	for (i = 0; i < tracks->device_count; i++)
		tracks->devices[i].pid = DEVICE_FIRST + i;
	return KYMO_OK;
}

struct ky_home *ky_tracks_home(struct ky_tracks *tracks,
			       const struct kymo_trace_track *track)
{
	if (track->device)
		return track->device->index < tracks->device_count
			       ? &tracks->devices[track->device->index]
			       : NULL;
	return track->process && track->process->index < tracks->process_count
		       ? &tracks->processes[track->process->index]
		       : NULL;
}

/* ---- Events that name rows ---- */

static void put_text(struct ky_chrome *chrome, struct kymo_str text)
{
	ky_json_text(&chrome->json, text);
}

/* The text with what goes around it; nothing where there is no text. */
static void put_optional(struct ky_chrome *chrome, struct kymo_str before,
			 struct kymo_str text, struct kymo_str after)
{
	if (text.size == 0)
		return;
	put_text(chrome, before);
	put_text(chrome, text);
	put_text(chrome, after);
}

void ky_tracks_begin_meta(struct ky_chrome *chrome, struct kymo_str event, uint32_t pid,
			  uint32_t tid)
{
	struct ky_json *json = &chrome->json;
	uint64_t since = 0;
	char *at;

	ky_chrome_time(chrome, chrome->header->first_ns, &since);
	json->at = KY_PUT(ky_chrome_begin_event(chrome, 'M'),
			  ",\n    \"cat\": \"__metadata\",\n    \"name\": ");
	ky_json_string(json, event);
	at = KY_PUT(ky_json_room(json, json->at), ",\n    \"ts\": ");
	at = KY_PUT(ky_put_us(at, since), ",\n    \"pid\": ");
	at = KY_PUT(ky_put_u64(at, pid), ",\n    \"tid\": ");
	json->at = KY_PUT(ky_put_u64(at, tid), ",\n    \"args\": {\n      ");
}

void ky_tracks_end_meta(struct ky_chrome *chrome)
{
	KY_JSON_LITERAL(&chrome->json, "\n    }\n  },");
}

static void write_sort_index(struct ky_chrome *chrome, struct kymo_str event,
			     uint32_t pid, uint32_t tid, uint64_t index)
{
	ky_tracks_begin_meta(chrome, event, pid, tid);
	KY_JSON_LITERAL(&chrome->json, "\"sort_index\": ");
	ky_json_u64(&chrome->json, index < INT32_MAX ? index : INT32_MAX);
	ky_tracks_end_meta(chrome);
}

/* An arg beside the name: `, "KEY": ` */
static void begin_arg(struct ky_chrome *chrome, struct kymo_str key)
{
	KY_JSON_LITERAL(&chrome->json, ", ");
	ky_json_string(&chrome->json, key);
	KY_JSON_LITERAL(&chrome->json, ": ");
}

static void write_number_arg(struct ky_chrome *chrome, struct kymo_str key,
			     uint64_t value)
{
	begin_arg(chrome, key);
	chrome->json.at = ky_keys_put_u64(
		&chrome->keys, ky_json_room(&chrome->json, chrome->json.at), key, value);
}

static void write_text_arg(struct ky_chrome *chrome, struct kymo_str key,
			   struct kymo_str text)
{
	if (text.size == 0)
		return;
	begin_arg(chrome, key);
	ky_json_string(&chrome->json, text);
}

static void write_labels(struct ky_chrome *chrome, uint32_t pid, struct kymo_str kind,
			 const struct kymo_trace_device *device)
{
	struct ky_json *json = &chrome->json;

	ky_tracks_begin_meta(chrome, KYMO_STR("process_labels"), pid, 0);
	KY_JSON_LITERAL(json, "\"labels\": \"");
	put_text(chrome, kind);
	if (device) {
		KY_JSON_LITERAL(json, " ");
		ky_json_u64(json, device->index);
	}
	KY_JSON_LITERAL(json, "\"");
	ky_tracks_end_meta(chrome);
}

const struct ky_home *ky_tracks_process(struct ky_chrome *chrome,
					const struct kymo_trace_process *process)
{
	struct ky_home *home = &chrome->tracks.processes[process->index];
	const bool renumbered = home->pid != process->pid;
	struct ky_json *json = &chrome->json;

	if (home->announced)
		return home;
	home->announced = true;
	ky_tracks_begin_meta(chrome, KYMO_STR("process_name"), home->pid, 0);
	KY_JSON_LITERAL(json, "\"name\": \"");
	put_text(chrome, process->name.size ? process->name : KYMO_STR("process"));
	if (renumbered) {
		KY_JSON_LITERAL(json, " (pid ");
		ky_json_u64(json, process->pid);
		put_optional(chrome, KYMO_STR(" on "), process->host, KYMO_STR(""));
		KY_JSON_LITERAL(json, ")");
	}
	KY_JSON_LITERAL(json, "\"");
	if (renumbered)
		write_number_arg(chrome, KYMO_STR("pid"), process->pid);
	ky_tracks_end_meta(chrome);
	write_labels(chrome, home->pid, KYMO_STR("CPU"), NULL);
	write_sort_index(chrome, KYMO_STR("process_sort_index"), home->pid, 0,
			 renumbered ? SORT_ASSIGNED + process->index : home->pid);
	return home;
}

/* "GPU 0: NAME (prog 1234)": one reader shows no labels, so all of it is in the name. */
static void announce_device(struct ky_chrome *chrome,
			    const struct kymo_trace_device *device)
{
	struct ky_home *home = &chrome->tracks.devices[device->index];
	struct kymo_str kind = device->kind.size ? device->kind : KYMO_STR("Device");
	struct ky_json *json = &chrome->json;

	if (home->announced)
		return;
	home->announced = true;
	ky_tracks_begin_meta(chrome, KYMO_STR("process_name"), home->pid, 0);
	KY_JSON_LITERAL(json, "\"name\": \"");
	put_text(chrome, kind);
	KY_JSON_LITERAL(json, " ");
	ky_json_u64(json, device->index);
	put_optional(chrome, KYMO_STR(": "), device->name, KYMO_STR(""));
	if (device->process) {
		KY_JSON_LITERAL(json, " (");
		put_optional(chrome, KYMO_STR(""), device->process->name, KYMO_STR(" "));
		ky_json_u64(json, device->process->pid);
		KY_JSON_LITERAL(json, ")");
	}
	KY_JSON_LITERAL(json, "\"");
	write_number_arg(chrome, KYMO_STR("native"), device->native);
	write_text_arg(chrome, KYMO_STR("uuid"), device->uuid);
	write_text_arg(chrome, KYMO_STR("source"), device->source);
	ky_tracks_end_meta(chrome);
	write_labels(chrome, home->pid, kind, device);
	write_sort_index(chrome, KYMO_STR("process_sort_index"), home->pid, 0,
			 SORT_DEVICE + device->index);
}

static void write_thread_name(struct ky_chrome *chrome,
			      const struct kymo_trace_track *track)
{
	struct ky_json *json = &chrome->json;

	switch (track->kind) {
	case KYMO_TRACK_THREAD:
		KY_JSON_LITERAL(json, "thread ");
		ky_json_u64(json, track->native);
		put_optional(chrome, KYMO_STR(" ("), track->name, KYMO_STR(")"));
		break;
	case KYMO_TRACK_QUEUE:
		if (!track->device && track->name.size > 0) {
			put_text(chrome, track->name);
			break;
		}
		KY_JSON_LITERAL(json, "stream ");
		ky_json_u64(json, track->number);
		put_optional(chrome, KYMO_STR(" "), track->name, KYMO_STR(""));
		break;
	default:
		put_text(chrome, track->name.size ? track->name : KYMO_STR("counters"));
	}
	if (track->lane > 0) {
		KY_JSON_LITERAL(json, " (lane ");
		ky_json_u64(json, track->lane + UINT64_C(1));
		KY_JSON_LITERAL(json, ")");
	}
}

/*
 * Lanes have the index of lane 0: readers order equal ones by tid, which puts them below.
 */
static uint64_t sort_index(const struct kymo_trace_track *track)
{
	if (track->order > 0)
		return track->order;
	return track->kind == KYMO_TRACK_THREAD ? track->native : track->number;
}

static void announce_track(struct ky_chrome *chrome, const struct ky_row *row)
{
	const struct kymo_trace_track *track = row->track;
	struct ky_json *json = &chrome->json;

	ky_tracks_begin_meta(chrome, KYMO_STR("thread_name"), row->pid, row->tid);
	KY_JSON_LITERAL(json, "\"name\": \"");
	write_thread_name(chrome, track);
	KY_JSON_LITERAL(json, "\"");
	if (track->kind == KYMO_TRACK_QUEUE)
		write_number_arg(chrome, KYMO_STR("native"), track->native);
	else if (track->kind == KYMO_TRACK_THREAD && track->native != row->tid)
		write_number_arg(chrome, KYMO_STR("tid"), track->native);
	ky_tracks_end_meta(chrome);
	write_sort_index(chrome, KYMO_STR("thread_sort_index"), row->pid, row->tid,
			 sort_index(track));
}

/* ---- Rows ---- */

static struct ky_row *find_row(struct ky_tracks *tracks, uint32_t index)
{
	size_t capacity = tracks->row_capacity ? tracks->row_capacity : 64;
	struct ky_row *rows;

	if (index < tracks->row_capacity)
		return &tracks->rows[index];
	if (index >= INDEX_LIMIT)
		return NULL;
	while (capacity <= index)
		capacity *= 2;
	rows = realloc(tracks->rows, capacity * sizeof(*rows));
	if (!rows)
		return NULL;
	memset(rows + tracks->row_capacity, 0,
	       (capacity - tracks->row_capacity) * sizeof(*rows));
	tracks->rows = rows;
	tracks->row_capacity = capacity;
	return &rows[index];
}

const struct ky_row *ky_tracks_announce(struct ky_chrome *chrome,
					const struct kymo_trace_track *track)
{
	struct ky_tracks *tracks = &chrome->tracks;
	struct ky_home *home;
	struct ky_row *row;
	char *at;

	home = ky_tracks_home(tracks, track);
	row = home ? find_row(tracks, track->index) : NULL;
	if (!row)
		return NULL;
	row->track = track;
	row->pid = home->pid;
	row->tid = choose_tid(tracks, track, home->pid);
	at = KY_PUT(row->place, "\"pid\": ");
	at = KY_PUT(ky_put_u64(at, row->pid), ",\n    \"tid\": ");
	at = KY_PUT(ky_put_u64(at, row->tid), ",\n    \"ts\": ");
	row->place_size = (uint32_t)(at - row->place);
	if (track->device)
		announce_device(chrome, track->device);
	else
		ky_tracks_process(chrome, track->process);
	announce_track(chrome, row);
	return row;
}
