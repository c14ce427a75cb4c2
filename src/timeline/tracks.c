/* SPDX-License-Identifier: BSD-3-Clause */
/* The model's devices and tracks. */
#include "timeline/model.h"

#include <string.h>

#include "timeline/values.h"

static struct kymo_str text_of(const struct ky_model_capture *capture, uint32_t id)
{
	return ky_catalog_string(capture->catalog, id);
}

static struct kymo_str source_name(const struct ky_model_capture *capture, uint32_t id)
{
	if (id < capture->source_count && capture->sources[id])
		return capture->sources[id]->trace.name;
	return KYMO_STR("");
}

/* ---- Devices ---- */

/* What is told again about a device replaces what was told before, but for its key. */
static int32_t describe_device(struct ky_model *model,
			       const struct ky_model_capture *capture,
			       struct kymo_trace_device *device,
			       const struct ky_device_entry *entry)
{
	struct ky_values values = {.capture = capture, .arena = &model->arena};
	size_t count;
	int32_t status;

	device->name = text_of(capture, entry->name);
	device->kind = text_of(capture, entry->kind);
	device->uuid = text_of(capture, entry->uuid);
	device->order = entry->order;
	ky_values_add_set(&values, entry->attributes);
	status = ky_values_take(&values, &device->values, &count);
	device->value_count = (uint32_t)count;
	ky_values_clear(&values);
	return status;
}

static struct kymo_trace_device *add_device(struct ky_model *model,
					    const struct ky_model_capture *capture,
					    const struct ky_device_entry *entry)
{
	struct kymo_str source = source_name(capture, entry->source);
	uint64_t key[] = {'V', capture->process->index, ky_model_text(model, source),
			  entry->index, entry->native};
	void **slot = ky_index_slot(&model->things, key, sizeof(key));
	struct kymo_trace_device *device;

	if (!slot)
		return NULL;
	if (!*slot) {
		device = ky_arena_take_zeroed(&model->arena, sizeof(*device));
		if (!device)
			return NULL;
		device->struct_size = sizeof(*device);
		device->index = (uint32_t)model->devices.count;
		device->process = capture->process;
		device->native = entry->native;
		device->source = source;
		if (ky_list_add(&model->devices, device) != KYMO_OK)
			return NULL;
		*slot = device;
	}
	device = *slot;
	return describe_device(model, capture, device, entry) == KYMO_OK ? device : NULL;
}

static int32_t add_devices(struct ky_model *model, struct ky_model_capture *capture)
{
	capture->device_count = ky_catalog_count(capture->catalog, KY_ENTRY_DEVICE) + 1;
	capture->devices = ky_arena_take_zeroed(
		&model->arena,
		capture->device_count * sizeof(struct kymo_trace_device *));
	if (!capture->devices)
		return KYMO_ERROR_NO_MEMORY;
	for (uint32_t id = 1; id < capture->device_count; id++) {
		const struct ky_device_entry *entry = ky_catalog_find(
			capture->catalog, KY_ENTRY_DEVICE, id, sizeof(*entry), NULL);

		if (!entry)
			continue;
		capture->devices[id] = add_device(model, capture, entry);
		if (!capture->devices[id])
			return KYMO_ERROR_NO_MEMORY;
	}
	return KYMO_OK;
}

/* ---- Tracks ---- */

static struct ky_model_track *make_track(struct ky_model *model, const uint64_t *key,
					 size_t key_size)
{
	void **slot = ky_index_slot(&model->things, key, key_size);
	struct ky_model_track *track;

	if (!slot || *slot)
		return slot ? *slot : NULL;
	track = ky_arena_take_zeroed(&model->arena, sizeof(*track));
	if (!track || model->tracks.count >= UINT32_MAX ||
	    ky_list_add(&model->tracks, track) != KYMO_OK)
		return NULL;
	track->trace.struct_size = sizeof(track->trace);
	/* Its place in the list, until it is shown and gets its index there. */
	track->trace.index = (uint32_t)model->tracks.count - 1;
	*slot = track;
	return track;
}

/*
 * Sinks see the three kinds only; one of a later minor is shown as what it is most like.
 */
static uint32_t known_kind(const struct ky_track_entry *entry)
{
	if (entry->kind >= KYMO_TRACK_THREAD && entry->kind <= KYMO_TRACK_COUNTER)
		return entry->kind;
	return entry->device ? KYMO_TRACK_QUEUE : KYMO_TRACK_THREAD;
}

/* By its attributes: whether it is a further row of a queue, and of which. */
static void find_beside(struct ky_model_track *track,
			const struct ky_model_capture *capture, uint32_t attributes)
{
	struct ky_attribute attribute;
	size_t size;
	const uint8_t *at = ky_catalog_find(capture->catalog, KY_ENTRY_ATTRIBUTES,
					    attributes, 0, &size);

	/* It is the first of them: nobody has needed another one yet. */
	if (!at || size < sizeof(attribute) + sizeof(track->beside))
		return;
	memcpy(&attribute, at, sizeof(attribute));
	if (attribute.count != 0 || attribute.key >= capture->key_count ||
	    capture->keys[attribute.key].reference != KY_REFERENCE_BESIDE)
		return;
	memcpy(&track->beside, at + sizeof(attribute), sizeof(track->beside));
	track->is_beside = 1;
}

static struct ky_model_track *add_track(struct ky_model *model,
					const struct ky_model_capture *capture,
					const struct ky_track_entry *entry)
{
	const struct kymo_trace_device *device = entry->device < capture->device_count
							 ? capture->devices[entry->device]
							 : NULL;
	struct kymo_str name = text_of(capture, entry->name);
	uint32_t kind = known_kind(entry);
	int is_thread = kind == KYMO_TRACK_THREAD;
	/*
	 * A thread is known by its number, whoever speaks of it and whatever its name is
	 * by then; queues by their device, or by their source where they have none.
	 */
	uint64_t key[] = {
		'K',
		capture->process->index,
		kind,
		entry->native,
		device ? device->index : UINT64_MAX,
		is_thread || device
			? UINT64_MAX
			: ky_model_text(model, source_name(capture, entry->source)),
		kind == KYMO_TRACK_COUNTER ? ky_model_text(model, name) : UINT64_MAX};
	struct ky_model_track *track = make_track(model, key, sizeof(key));

	if (!track)
		return NULL;
	track->trace.kind = kind;
	track->trace.native = entry->native;
	track->trace.order = entry->order;
	track->trace.process = capture->process;
	track->trace.device = device;
	if (kind == KYMO_TRACK_QUEUE)
		find_beside(track, capture, entry->attributes);
	/* Its own name is also told by whoever speaks of it, at any time. */
	if (name.size > 0 && (!track->is_named || entry->source)) {
		track->trace.name = name;
		track->is_named = is_thread && entry->source != 0;
	}
	return track;
}

/* One for all tracks of the process that its catalogue does not know. */
static struct ky_model_track *add_unknown_track(struct ky_model *model,
						const struct ky_model_capture *capture)
{
	uint64_t key[] = {'K', capture->process->index};
	struct ky_model_track *track = make_track(model, key, sizeof(key));

	if (!track)
		return NULL;
	track->trace.kind = KYMO_TRACK_THREAD;
	track->trace.process = capture->process;
	track->trace.name = KYMO_STR("(unknown track)");
	return track;
}

int32_t ky_model_add_tracks(struct ky_model *model, struct ky_model_capture *capture)
{
	if (add_devices(model, capture) != KYMO_OK)
		return KYMO_ERROR_NO_MEMORY;
	capture->track_count = ky_catalog_count(capture->catalog, KY_ENTRY_TRACK) + 1;
	capture->tracks = ky_arena_take_zeroed(
		&model->arena, capture->track_count * sizeof(*capture->tracks));
	if (!capture->tracks)
		return KYMO_ERROR_NO_MEMORY;
	for (uint32_t id = 0; id < capture->track_count; id++) {
		const struct ky_track_entry *entry = ky_catalog_find(
			capture->catalog, KY_ENTRY_TRACK, id, sizeof(*entry), NULL);
		const struct ky_model_track *track =
			entry ? add_track(model, capture, entry)
			      : add_unknown_track(model, capture);

		if (!track)
			return KYMO_ERROR_NO_MEMORY;
		capture->tracks[id].track = track->trace.index;
		capture->tracks[id].clock = entry ? entry->clock : 0;
	}
	return KYMO_OK;
}

/* The one device of the source in that process; NULL: there are none or several. */
static const struct kymo_trace_device *
only_device(const struct ky_model *model, const struct kymo_trace_process *process,
	    struct kymo_str source)
{
	const struct kymo_trace_device *found = NULL;

	for (size_t i = 0; i < model->devices.count; i++) {
		const struct kymo_trace_device *device = model->devices.items[i];

		if (device->process != process || device->source.size != source.size ||
		    memcmp(device->source.data, source.data, source.size) != 0)
			continue;
		if (found)
			return NULL;
		found = device;
	}
	return found;
}

/*
 * One row of a source in a process for all that says no more than that it is a device's.
 */
static struct ky_model_track *add_type_row(struct ky_model *model,
					   const struct ky_model_capture *capture,
					   struct kymo_str source)
{
	uint64_t key[] = {'R', capture->process->index, ky_model_text(model, source)};
	struct ky_model_track *track = make_track(model, key, sizeof(key));

	if (!track)
		return NULL;
	track->trace.kind = KYMO_TRACK_QUEUE;
	track->trace.process = capture->process;
	track->trace.device = only_device(model, capture->process, source);
	track->trace.name = source;
	return track;
}

int32_t ky_model_add_type_rows(struct ky_model *model, struct ky_model_capture *capture)
{
	for (uint32_t id = 1; id < capture->type_count; id++) {
		struct ky_capture_type *type = &capture->types[id];
		const struct ky_model_track *row;

		if (type->type->side != KYMO_SIDE_ACCELERATOR || !type->source)
			continue;
		row = add_type_row(model, capture, type->source->trace.name);
		if (!row)
			return KYMO_ERROR_NO_MEMORY;
		type->row = row->trace.index + 1;
	}
	return KYMO_OK;
}

const struct ky_model_track *ky_model_find_queue(const struct ky_model *model,
						 const struct kymo_trace_track *beside,
						 uint64_t native)
{
	for (size_t i = 0; i < model->queues.count; i++) {
		const struct ky_model_track *track = model->queues.items[i];

		if (track->trace.native == native &&
		    track->trace.device == beside->device &&
		    track->trace.process == beside->process)
			return track;
	}
	return NULL;
}

/* Item 0 of `next` is for queues of no device, which are numbered within all of them. */
static void number_queue(struct kymo_trace_track *track, uint32_t *next)
{
	track->number = ++next[track->device ? track->device->index + 1 : 0];
}

int32_t ky_model_number_queues(struct ky_model *model)
{
	uint32_t *next = calloc(model->devices.count + 1, sizeof(*next));
	int32_t status = next ? KYMO_OK : KYMO_ERROR_NO_MEMORY;

	for (size_t i = 0; i < model->tracks.count && status == KYMO_OK; i++) {
		struct ky_model_track *track = model->tracks.items[i];

		if (track->trace.kind != KYMO_TRACK_QUEUE || track->is_beside)
			continue;
		number_queue(&track->trace, next);
		status = ky_list_add(&model->queues, track);
	}
	for (size_t i = 0; i < model->tracks.count && status == KYMO_OK; i++) {
		struct ky_model_track *track = model->tracks.items[i];

		if (!track->is_beside)
			continue;
		track->queue = ky_model_find_queue(model, &track->trace, track->beside);
		if (track->queue)
			track->trace.number = track->queue->trace.number;
		else
			number_queue(&track->trace, next);
	}
	free(next);
	return status;
}

const struct kymo_trace_track *ky_model_show_track(struct ky_model *model, uint32_t index,
						   uint32_t lane, int *is_new)
{
	struct ky_model_track *track = model->tracks.items[index];
	struct kymo_trace_track *shown;

	while (track->lanes.count <= lane) {
		if (ky_list_add(&track->lanes, NULL) != KYMO_OK)
			return NULL;
	}
	*is_new = !track->lanes.items[lane];
	if (*is_new) {
		shown = ky_arena_take(&model->arena, sizeof(*shown));
		if (!shown)
			return NULL;
		*shown = track->trace;
		shown->index = model->next_track_index++;
		shown->lane = lane;
		/* A further lane is for what does not fit on lane 0, so that is there. */
		shown->base = lane == 0 ? shown : track->lanes.items[0];
		track->lanes.items[lane] = shown;
	}
	return track->lanes.items[lane];
}
