/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hot half of the fake source: what the device's callbacks say becomes records.
 *
 * Everything here runs in the program's threads, some of it for each of its calls. So it
 * reads clocks, copies numbers and emits; it takes no lock, allocates nothing, looks no
 * string up and converts no time. What the host cannot keep it counts itself, so nobody
 * here looks at what emit returns.
 */
#include <string.h>

#include "source.h"

/* ---- Calls: spans of the calling thread, which is track 0, in host ticks ---- */

#define REGIONS_MAX 8u

static _Thread_local struct {
	uint16_t domain[REGIONS_MAX];
	uint64_t value[REGIONS_MAX];
	uint32_t depth; /* may be more; the outermost count */
} regions;

/* The gate serves all sources; when we are left out or paused, our own flag is down. */
static int is_recording(void)
{
	return atomic_load_explicit(&fake_source.is_recording, memory_order_acquire) &&
	       kymo_host_is_on(fake_source.host);
}

static void emit(const union kymo_line *lines, uint32_t line_count)
{
	fake_source.host->emit(fake_source.self, lines, line_count);
}

static union kymo_line call_line(uint8_t kind, const struct fake_call *call)
{
	return (union kymo_line){.record = {
					 .kind = kind,
					 .lines = 1,
					 .type = fake_source.types[RUNTIME],
					 .name = fake_source.functions[call->function],
					 .begin = call->begin,
					 .end = call->begin,
				 }};
}

static void emit_link(uint32_t kind, uint16_t from_domain, uint64_t from,
		      const struct kymo_record *to)
{
	const union kymo_line line = {.link = {
					      .kind = KYMO_KIND_LINK,
					      .lines = 1,
					      .track = to->track,
					      .link_kind = fake_source.link_kinds[kind],
					      .from_domain = from_domain,
					      .to_domain = to->domain,
					      .time = to->begin,
					      .from = from,
					      .to = to->correlation,
				      }};

	emit(&line, 1);
}

/* Between two looks at the host's clock the device's was read: a bound, no guess. */
void fake_read_clock(struct kymo_clock_pair *out)
{
	out->host_lo = fake_source.host->now();
	out->device = fake_device_ticks();
	out->host_hi = fake_source.host->now();
}

/* The host samples at start and stop; we do where the program has waited anyway. */
void fake_anchor(void)
{
	struct kymo_clock_pair pair;

	fake_read_clock(&pair);
	fake_source.host->anchor(fake_source.self, fake_source.clock, &pair);
}

static void on_enter(struct fake_call *call)
{
	union kymo_line open;

	if (!is_recording())
		return; /* begin stays 0: none of ours, however it ends */
	call->begin = fake_source.host->now();
	if (call->function <= FAKE_COPY)
		call->correlation =
			1 + atomic_fetch_add(&fake_source.last_correlation, 1);
	if (call->function == FAKE_WAIT) {
		/* It may never come back: say so now; on_leave completes it. */
		open = call_line(KYMO_KIND_OPEN, call);
		emit(&open, 1);
	}
}

static void on_leave(struct fake_call *call)
{
	union kymo_line line = call_line(KYMO_KIND_SPAN, call);
	struct kymo_record *span = &line.record;

	if (call->begin == 0)
		return;
	span->end = fake_source.host->now();
	if (call->correlation) {
		span->flags |= KYMO_RECORD_ORIGIN;
		span->domain = fake_source.domain;
		span->correlation = call->correlation;
	}
	if (call->function == FAKE_TOUCH) {
		span->key[0] = fake_source.keys[THREAD];
		span->value[0] = call->thread;
		span->key[1] = fake_source.keys[SEQUENCE];
		span->value[1] = call->sequence;
	}
	if (call->error) {
		span->flags |= KYMO_RECORD_ERROR;
		span->key[0] = fake_source.keys[ERROR];
		span->value[0] = (uint64_t)(int64_t)call->error;
	}
	emit(&line, 1);
	if (call->function == FAKE_WAIT)
		fake_anchor();
	for (uint32_t i = 0; call->correlation && i < regions.depth && i < REGIONS_MAX;
	     i++)
		emit_link(REGION_LINK, regions.domain[i], regions.value[i], span);
}

/* Nobody wants these by default: left out here, where it costs least. */
static void on_polled(struct fake_call *call)
{
	union kymo_line line = call_line(KYMO_KIND_INSTANT, call);

	if (!fake_source.wants_polls || call->begin == 0)
		return;
	line.record.type = fake_source.types[POLL];
	line.record.begin = line.record.end = fake_source.host->now();
	emit(&line, 1);
}

/* A text that does not come again goes along as the record's name, in BYTES of key 0. */
static void on_note(const char *text, size_t size)
{
	union kymo_line line[KYMO_RECORD_LINES_MAX] = {{{0}}};
	const size_t room = sizeof(line->bytes.byte);
	struct kymo_record *instant = &line->record;

	if (!is_recording())
		return;
	if (size > room * (KYMO_RECORD_LINES_MAX - 1))
		size = room * (KYMO_RECORD_LINES_MAX - 1);
	instant->kind = KYMO_KIND_INSTANT;
	instant->lines = 1;
	instant->type = fake_source.types[NOTE];
	instant->begin = instant->end = fake_source.host->now();
	for (size_t at = 0; at < size; at += room) {
		struct kymo_record_bytes *bytes = &line[instant->lines++].bytes;

		bytes->kind = KYMO_KIND_BYTES;
		bytes->used = (uint8_t)(size - at < room ? size - at : room);
		bytes->total = (uint32_t)size;
		memcpy(bytes->byte, text + at, bytes->used);
	}
	emit(line, instant->lines);
}

/* ---- The device: its own tracks, in ticks of its own clock ---- */

static void on_load(const struct fake_load *load)
{
	union kymo_line line[2] = {{{0}}};
	struct kymo_record_counter *counter = &line[0].counter;
	struct kymo_record_values *more = &line[1].values;

	if (!is_recording())
		return;
	*counter = (struct kymo_record_counter){
		.kind = KYMO_KIND_COUNTER,
		.lines = 2,
		.track = fake_source.load_track,
		.type = fake_source.types[LOAD],
		.count = FAKE_LOAD_COUNT,
		.group = fake_source.load_group,
		.begin = load->time,
		.end = load->time,
		.value = {kymo_double_bits(load->busy[0]),
			  kymo_double_bits(load->busy[1]), load->memory, load->launches},
	};
	*more = (struct kymo_record_values){
		.kind = KYMO_KIND_VALUES,
		.used = 1,
		.value = {(uint64_t)load->temperature},
	};
	emit(line, 2);
}

/*
 * What all launches of a kernel have in common is named at the first of them, and the two
 * numbers kept where the vendor has room for us. Two threads that do it at once get the
 * same numbers.
 */
static uint64_t kernel_numbers(struct fake_kernel *kernel)
{
	const uint16_t array = KYMO_VALUE_UINT64 | KYMO_VALUE_ARRAY;
	const struct kymo_value values[] = {
		{.key = fake_source.keys[GRID],
		 .type = array,
		 .count = 3,
		 .array = kernel->grid},
		{.key = fake_source.keys[BLOCK],
		 .type = array,
		 .count = 3,
		 .array = kernel->block},
	};
	const struct kymo_str name = {kernel->name, kernel->name_size};
	uint64_t numbers = atomic_load_explicit(&kernel->tool, memory_order_relaxed);

	if (numbers == 0) {
		numbers = fake_source.host->attributes(fake_source.self, values, 2);
		numbers =
			numbers << 32 | fake_source.host->string(fake_source.self, name);
		atomic_store_explicit(&kernel->tool, numbers, memory_order_relaxed);
	}
	return numbers;
}

static void fill_kernel(struct kymo_record *record, const struct fake_activity *activity)
{
	const uint64_t numbers = kernel_numbers(activity->kernel);

	record->type = fake_source.types[KERNEL];
	record->name = (uint32_t)numbers;
	record->attributes = (uint32_t)(numbers >> 32);
	record->key[1] = fake_source.keys[NODE];
	record->value[1] = activity->node;
}

static void fill_copy(struct kymo_record *record, const struct fake_activity *activity)
{
	record->type = fake_source.types[COPY];
	record->name = fake_source.directions[activity->direction];
	record->key[1] = fake_source.keys[BYTES];
	record->value[1] = activity->bytes;
}

static void emit_activity(const struct fake_activity *activity)
{
	union kymo_line line = {.record = {
					.kind = KYMO_KIND_SPAN,
					.lines = 1,
					.flags = KYMO_RECORD_TARGET,
					.track = fake_source.queues[activity->queue],
					.domain = fake_source.domain,
					.begin = activity->begin,
					.end = activity->end,
					.correlation = activity->correlation,
					.key = {fake_source.keys[QUEUED]},
					.value = {activity->queued},
				}};

	if (activity->progress == FAKE_RUNNING)
		line.record.flags |= KYMO_RECORD_UNFINISHED;
	if (activity->work == FAKE_WORK_COPY)
		fill_copy(&line.record, activity);
	else
		fill_kernel(&line.record, activity);
	emit(&line, 1);
	if (activity->waited_for)
		emit_link(FENCE_LINK, fake_source.domain, activity->waited_for,
			  &line.record);
}

/*
 * Not asked whether we record: what was launched while we did is handed over when it has
 * ended, which may be in stop. The host refuses and counts what comes later still.
 */
static void on_done(const struct fake_activity *activities, size_t count,
		    uint64_t dropped)
{
	uint64_t pending = 0;

	for (size_t i = 0; i < count; i++) {
		if (activities[i].progress == FAKE_WAITING)
			pending++; /* nothing of it has happened yet */
		else
			emit_activity(&activities[i]);
	}
	if (pending)
		fake_source.host->lost(fake_source.self, KYMO_LOST_PENDING, pending);
	if (dropped)
		fake_source.host->lost(fake_source.self, KYMO_LOST_VENDOR, dropped);
}

const struct fake_tool fake_tool = {
	.enter = on_enter,
	.leave = on_leave,
	.polled = on_polled,
	.done = on_done,
	.note = on_note,
	.load = on_load,
};

/* ---- Regions ---- */

void fake_region_push(void *source, uint16_t domain, uint64_t value)
{
	(void)source;
	if (regions.depth < REGIONS_MAX) {
		regions.domain[regions.depth] = domain;
		regions.value[regions.depth] = value;
	}
	regions.depth++;
}

/* A pop may come without its push, if the session began in between. */
void fake_region_pop(void *source, uint16_t domain)
{
	(void)source;
	(void)domain;
	if (regions.depth > 0)
		regions.depth--;
}
