/* SPDX-License-Identifier: BSD-3-Clause */
#include "place.h"

#include <stdio.h>
#include <string.h>

#include "cache.h"
#include "pm.h"

#define DEVICES  64u
#define CONTEXTS 256u /* a power of 2, as those that follow */
#define TRACKS   1024u
#define THREADS  1024u

static struct ky_device devices[DEVICES];

/* Forgetful: what collides is looked up, or asked of the host, again. */
static struct {
	uint32_t context, device;
} contexts[CONTEXTS];

static struct {
	uint64_t key; /* device, stream, row */
	uint32_t track, row;
} tracks[TRACKS];

static struct {
	uint32_t thread, track;
} threads[THREADS];

static uint32_t overhead_track;
static uint32_t tracks_clock; /* by which all tracks above go */
static int threads_are_system;

static uint32_t slot_of(uint64_t key, uint32_t count)
{
	return (uint32_t)(ky_cache_mix(0, key) >> 16) & (count - 1);
}

/* ---- Devices ---- */

static struct ky_device *find_device(uint32_t id)
{
	for (uint32_t i = 0; i < DEVICES; i++)
		if (devices[i].number == 0 || devices[i].id == id)
			return &devices[i];
	return NULL;
}

static int32_t add_device(struct ky_device *device, uint32_t id, struct kymo_str name,
			  struct kymo_str uuid, uint32_t attributes)
{
	const struct kymo_device_desc desc = {
		.struct_size = sizeof(desc),
		.index = id,
		.native = id,
		.name = name,
		.kind = KYMO_STR("gpu"),
		.uuid = uuid,
		.order = id,
		.attributes = attributes,
	};

	device->id = id;
	return ky_source.host->device(ky_source.self, &desc, &device->number);
}

const struct ky_device *ky_place_device(uint32_t id)
{
	struct ky_device *device = find_device(id);
	char name[32];

	if (!device)
		return NULL;
	if (KYMO_UNLIKELY(device->number == 0)) {
		snprintf(name, sizeof(name), "GPU %u", id);
		if (add_device(device, id, kymo_text(name), kymo_text(NULL), 0) !=
		    KYMO_OK)
			return NULL;
	}
	return device;
}

int ky_place_knows(uint32_t id)
{
	const struct ky_device *device = find_device(id);

	return device && device->number != 0;
}

static uint32_t describe(const struct cupti_device *record)
{
	const struct kymo_value values[] = {
		ky_value_number(KY_KEY_DEVICE_MEMORY, record->global_size),
		ky_value_number(KY_KEY_COMPUTE_MAJOR, record->compute_major),
		ky_value_number(KY_KEY_COMPUTE_MINOR, record->compute_minor),
		ky_value_number(KY_KEY_THREADS_PER_BLOCK, record->max_threads_per_block),
		ky_value_number(KY_KEY_THREADS_PER_SM,
				(uint64_t)record->max_warps_per_sm *
					record->threads_per_warp),
		ky_value_number(KY_KEY_REGISTERS_PER_BLOCK,
				record->max_registers_per_block),
		ky_value_number(KY_KEY_WARP_SIZE, record->threads_per_warp),
		ky_value_number(KY_KEY_SHARED_PER_BLOCK, record->max_shared_per_block),
		ky_value_number(KY_KEY_SM_COUNT, record->multiprocessors),
		ky_value_number(KY_KEY_REGISTERS_PER_SM, record->max_registers_per_sm),
		ky_value_number(KY_KEY_SHARED_PER_SM, record->max_shared_per_sm),
		ky_value_number(KY_KEY_CLOCK, record->clock_khz / 1000),
	};

	return ky_source.host->attributes(ky_source.self, values,
					  sizeof(values) / sizeof(values[0]));
}

static void uuid_text(const uint8_t uuid[16], char *text, size_t size)
{
	size_t at = (size_t)snprintf(text, size, "GPU-");

	for (size_t i = 0; i < 16 && at + 4 < size; i++) {
		const char *dash = i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "";

		at += (size_t)snprintf(text + at, size - at, "%s%02x", dash, uuid[i]);
	}
}

/* What has been spoken of already keeps its number, and gets its limits now. */
int ky_place_learn_device(const struct cupti_device *record)
{
	struct ky_device *device = find_device(record->id);
	const struct ky_limits limits = {
		.major = record->compute_major,
		.minor = record->compute_minor,
		.sm_count = record->multiprocessors,
		.warp_size = record->threads_per_warp,
		.warps_per_sm = record->max_warps_per_sm,
		.blocks_per_sm = record->max_blocks_per_sm,
		.registers_per_sm = record->max_registers_per_sm,
		.registers_per_block = record->max_registers_per_block,
		.shared_per_sm = record->max_shared_per_sm,
		.threads_per_block = record->max_threads_per_block,
	};
	char uuid[64];

	if (!device || memcmp(&device->limits, &limits, sizeof(limits)) == 0)
		return 0;
	device->limits = limits;
	uuid_text(record->uuid, uuid, sizeof(uuid));
	if (device->number == 0)
		add_device(device, record->id, kymo_text(record->name), kymo_text(uuid),
			   describe(record));
	return 1;
}

void ky_place_learn_context(uint32_t context, uint32_t device)
{
	const uint32_t slot = slot_of(context, CONTEXTS);

	contexts[slot].context = context;
	contexts[slot].device = device;
	pm_seen(device);
}

uint32_t ky_place_context_device(uint32_t context)
{
	const uint32_t slot = slot_of(context, CONTEXTS);

	return contexts[slot].context == context ? contexts[slot].device : 0;
}

/* ---- Tracks ---- */

/* Waits lie beside their stream, and readers find them by its number. */
static uint32_t describe_row(uint32_t stream, enum ky_row row)
{
	const struct kymo_value value = {.key = ky_source.numbers->keys[KY_KEY_STREAM],
					 .type = KYMO_VALUE_INT64,
					 .u64 = (uint64_t)KY_ROW_STREAM << 32 | stream};

	if (row != KY_ROW_SYNC || stream == CUPTI_NOT_APPLICABLE)
		return 0;
	return ky_source.host->attributes(ky_source.self, &value, 1);
}

static uint32_t add_track(uint32_t id, uint32_t stream, enum ky_row row)
{
	const struct ky_device *device = ky_place_device(id);
	char name[48];
	/*
	 * Rows are told apart by their native ids: those that are no stream are beyond.
	 */
	struct kymo_track_desc desc = {
		.struct_size = sizeof(desc),
		.kind = KYMO_TRACK_QUEUE,
		.native = (uint64_t)row << 32 | stream,
		.device = device ? device->number : 0,
		.clock = ky_source.clock,
		.order = stream,
		.attributes = describe_row(stream, row),
	};
	uint32_t track = 0;

	if (row == KY_ROW_UNIFIED)
		snprintf(name, sizeof(name), "unified memory");
	else if (stream == CUPTI_NOT_APPLICABLE)
		snprintf(name, sizeof(name), "CUDA context, waits");
	else
		snprintf(name, sizeof(name), "CUDA stream %u%s", stream,
			 row == KY_ROW_SYNC ? ", waits" : "");
	desc.name = kymo_text(name);
	ky_source.host->track(ky_source.self, &desc, &track);
	return track;
}

uint32_t ky_place_stream(uint32_t device, uint32_t stream, enum ky_row row)
{
	const uint64_t key = (uint64_t)device << 32 | stream;
	const uint32_t slot = slot_of(key + ((uint64_t)row << 60), TRACKS);

	if (KYMO_UNLIKELY(tracks[slot].track == 0 || tracks[slot].key != key ||
			  tracks[slot].row != row)) {
		tracks[slot].key = key;
		tracks[slot].row = row;
		tracks[slot].track = add_track(device, stream, row);
	}
	return tracks[slot].track;
}

/* A thread by pthread's number, of which nobody knows the kernel's: a row of its own. */
static uint32_t add_foreign_thread(uint32_t thread)
{
	char name[32];
	struct kymo_track_desc desc = {
		.struct_size = sizeof(desc),
		.kind = KYMO_TRACK_QUEUE,
		.native = thread,
		.clock = ky_source.clock,
	};
	uint32_t track = 0;

	snprintf(name, sizeof(name), "CUDA thread %x", thread);
	desc.name = kymo_text(name);
	ky_source.host->track(ky_source.self, &desc, &track);
	return track;
}

uint32_t ky_place_thread(uint32_t thread)
{
	const uint32_t slot = slot_of(thread, THREADS);

	if (KYMO_UNLIKELY(threads[slot].track == 0 || threads[slot].thread != thread)) {
		threads[slot].thread = thread;
		threads[slot].track = 0;
		if (!threads_are_system || thread == 0)
			threads[slot].track = add_foreign_thread(thread);
		else
			ky_source.host->thread_track(ky_source.self, thread,
						     ky_source.clock,
						     &threads[slot].track);
	}
	return threads[slot].track;
}

uint32_t ky_place_overhead(void)
{
	const struct kymo_track_desc desc = {
		.struct_size = sizeof(desc),
		.kind = KYMO_TRACK_QUEUE,
		.clock = ky_source.clock,
		.name = KYMO_STR("CUPTI overhead"),
	};

	if (overhead_track == 0)
		ky_source.host->track(ky_source.self, &desc, &overhead_track);
	return overhead_track;
}

void ky_place_forget(void)
{
	memset(tracks, 0, sizeof(tracks));
	memset(threads, 0, sizeof(threads));
	overhead_track = 0;
}

void ky_place_begin(int is_system)
{
	threads_are_system = is_system;
	if (tracks_clock != ky_source.clock)
		ky_place_forget();
	tracks_clock = ky_source.clock;
}
