/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The perf source: its tables, and the life of its one instance.
 *
 * The host's timer ticks once an interval: what the process has used since the last time
 * becomes counters (counters.c), and what the kernel has written into its rings, stacks
 * and switches, becomes instants and spans of threads (tracer.c). No thread of the
 * program ever runs code of this plug-in but to start, stop and end.
 */
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "counters.h"
#include "filter.h"
#include "missing.h"
#include "preload.h"
#include "probe.h"
#include "source.h"
#include "tracer.h"

#define DRAIN_NS 10000000u /* rings are read at least as often */
#define LATE_NS  1000000u  /* a record of this age has been written, whatever its CPU */

/* ---- Tables ---- */

#define TYPE(type_shape, type_name, type_help)                \
	(&(const struct kymo_type_desc){                      \
		.struct_size = sizeof(struct kymo_type_desc), \
		.shapes = (type_shape),                       \
		.side = KYMO_SIDE_HOST,                       \
		.name = (type_name),                          \
		.help = (type_help),                          \
	})

#define COUNTER KYMO_SHAPE_COUNTER

static const struct kymo_type_desc *const types[PERF_TYPE_COUNT + 1] = {
	[PERF_TYPE_CPU] = TYPE(COUNTER, "cpu", "time on the CPU, of all threads"),
	[PERF_TYPE_FAULTS] = TYPE(COUNTER, "faults", "page faults"),
	[PERF_TYPE_SWITCHES] =
		TYPE(COUNTER, "switches", "context switches and migrations"),
	[PERF_TYPE_EVENTS] =
		TYPE(COUNTER, "events", "cycles, instructions, cache misses"),
	[PERF_TYPE_PRESSURE] =
		TYPE(COUNTER, "pressure", "how long tasks of the machine were held up"),
	[PERF_TYPE_MEMORY] = TYPE(COUNTER, "memory", "resident memory"),
	[PERF_TYPE_SAMPLE] = TYPE(KYMO_SHAPE_INSTANT, "sample", "where a thread ran"),
	[PERF_TYPE_OFF_CPU] =
		TYPE(KYMO_SHAPE_SPAN, "off_cpu", "a thread waited, or was preempted"),
};

#define KEY(key_type, key_name, key_unit, key_help)          \
	(&(const struct kymo_key_desc){                      \
		.struct_size = sizeof(struct kymo_key_desc), \
		.value_type = (key_type),                    \
		.name = (key_name),                          \
		.unit = (key_unit),                          \
		.help = (key_help),                          \
	})

static const struct kymo_key_desc *const keys[PERF_KEY_COUNT + 1] = {
	[PERF_KEY_STACK] = KEY(KYMO_VALUE_CODE | KYMO_VALUE_ARRAY, "stack", NULL,
			       "where it was, then its callers"),
	[PERF_KEY_PMU_SHARE] = KEY(KYMO_VALUE_DOUBLE, "perf events counted", "%",
				   "of the time; the rest is extrapolated"),
	[PERF_KEY_THROTTLED] = KEY(KYMO_VALUE_UINT64, "perf throttled", NULL,
				   "how often the kernel held sampling back"),
	[PERF_KEY_ADDRESSES] = KEY(KYMO_VALUE_UINT64, "perf addresses left out", NULL,
				   "for which there was no room"),
};

static const struct kymo_injection_desc *const injections[] = {&perf_preload, NULL};

struct perf_source perf_source;

uint64_t perf_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- Ticks ---- */

static uint32_t ticks_left; /* until the counters are due */
static uint32_t is_recording;

/* How often the timer ticks in an interval: once, unless the rings need more. */
static uint32_t ticks_per_interval(void)
{
	const uint64_t interval_ns = perf_source.options.interval_ns;

	return perf_tracer_is_open() && interval_ns > DRAIN_NS
		       ? (uint32_t)((interval_ns + DRAIN_NS - 1) / DRAIN_NS)
		       : 1;
}

static void tell_state(void)
{
	char why[1024], remedy[1024];

	if (perf_missing_tell(why, sizeof(why), remedy, sizeof(remedy)))
		perf_source.host->state(perf_source.self, KYMO_STATE_PARTLY,
					kymo_text(why), kymo_text(remedy));
}

static void on_tick(void *source, uint64_t now)
{
	(void)source;
	(void)now;
	if (perf_source.own_tid == 0)
		perf_source.own_tid = (uint32_t)gettid();
	if (--ticks_left == 0) {
		perf_counters_sample(1);
		ticks_left = ticks_per_interval();
	}
	perf_tracer_drain(perf_now_ns() - LATE_NS);
	if (perf_missing_is_news())
		tell_state();
}

/* Begins to record, anew after a rest. */
static int32_t go_on(void)
{
	is_recording = 1;
	perf_source.own_tid = 0;
	ticks_left = ticks_per_interval();
	perf_counters_begin();
	perf_tracer_begin();
	return perf_source.host->timer(perf_source.self,
				       perf_source.options.interval_ns / ticks_left,
				       on_tick, &perf_source);
}

/* What was recorded up to now is handed on; no tick comes any more. */
static void rest(void)
{
	if (!is_recording)
		return;
	is_recording = 0;
	perf_source.host->timer(perf_source.self, 0, NULL, NULL);
	perf_counters_sample(0);
	perf_tracer_end();
	perf_counters_end();
}

/* ---- Life ---- */

/* Before the program ends; the host ticks no more. */
static void drain(void *source, uint64_t deadline_ns)
{
	(void)source;
	(void)deadline_ns;
	rest();
}

static int32_t create(const struct kymo_host *host, struct kymo_source_host *self,
		      const struct kymo_source_numbers *numbers, void **source,
		      struct kymo_error *error)
{
	const struct kymo_clock_desc clock = {
		.struct_size = sizeof(clock),
		.kind = KYMO_CLOCK_MONOTONIC,
		.bits = 64,
		.ticks_num = 1000000000,
		.ticks_den = 1,
		.name = KYMO_STR("CLOCK_MONOTONIC"),
	};

	if (perf_source.self) {
		if (error)
			*error = (struct kymo_error){KYMO_ERROR_BUSY,
						     "the perf source is in use"};
		return KYMO_ERROR_BUSY;
	}
	perf_source.host = host;
	perf_source.self = self;
	perf_source.types = numbers->types;
	perf_source.keys = numbers->keys;
	host->at_exit(self, drain, &perf_source);
	*source = &perf_source;
	return host->clock(self, &clock, &perf_source.clock);
}

static int32_t prepare(void *source, const struct kymo_source_session *session,
		       struct kymo_error *error)
{
	(void)source;
	for (uint32_t i = 0; i < PERF_TYPE_COUNT; i++)
		perf_source.wants[i] =
			(uint8_t)kymo_source_wants(session, perf_source.types[i]);
	return perf_options_read(perf_source.host, perf_source.self, &perf_source.options,
				 error);
}

static void close_all(void)
{
	perf_tracer_close();
	perf_counters_close();
}

static int32_t start(void *source, struct kymo_error *error)
{
	const int kept = errno;
	int32_t status;

	(void)source;
	perf_missing_reset();
	perf_filter_look();
	perf_counters_open();
	perf_tracer_open();
	status = perf_counters_register();
	if (!status)
		status = go_on();
	if (status) {
		close_all();
		if (error)
			snprintf(error->message, sizeof(error->message),
				 "no room for its counters, or no thread for its timer");
	} else {
		tell_state();
	}
	errno = kept;
	return status;
}

static void set_paused(void *source, uint32_t paused)
{
	const int kept = errno;

	(void)source;
	if (paused)
		rest();
	else if (!is_recording && go_on() != KYMO_OK)
		perf_source.host->state(
			perf_source.self, KYMO_STATE_PARTLY,
			KYMO_STR("its timer could not go on after a rest"),
			KYMO_STR("let the program have a thread more"));
	errno = kept;
}

static int32_t stop(void *source, uint64_t deadline_ns)
{
	const int kept = errno;

	(void)source;
	(void)deadline_ns;
	rest();
	close_all();
	errno = kept;
	return KYMO_OK;
}

static void forked(void *source)
{
	const int kept = errno;

	is_recording = 0;
	perf_tracer_forked();
	perf_counters_close();
	/* A child has none of its parent's. */
	perf_source.host->at_exit(perf_source.self, drain, source);
	errno = kept;
}

static int32_t check(const struct kymo_host *host, struct kymo_source_host *self,
		     struct kymo_error *error)
{
	struct perf_options options;

	return perf_options_read(host, self, &options, error);
}

static const struct kymo_source_ops ops = {
	.struct_size = sizeof(ops),
	.probe = perf_probe,
	.create = create,
	.prepare = prepare,
	.start = start,
	.set_paused = set_paused,
	.stop = stop,
	.forked = forked,
	.check = check,
};

static const struct kymo_source_desc source_desc = {
	.struct_size = sizeof(source_desc),
	.flags = KYMO_SOURCE_EXPLICIT,
	.name = "perf",
	.description = "CPU time, faults, switches, memory, pressure, PMU; stacks",
	.types = types,
	.keys = keys,
	.options = perf_option_descs,
	.injections = injections,
	.ops = &ops,
};

static const struct kymo_source_desc *const sources[] = {&source_desc, NULL};

const struct kymo_plugin perf_plugin = {
	.struct_size = sizeof(perf_plugin),
	.abi_major = KYMO_PLUGIN_ABI_MAJOR,
	.abi_minor = KYMO_PLUGIN_ABI_MINOR,
	.name = "perf",
	.version = KYMO_VERSION_STRING,
	.license = "BSD-3-Clause",
	.sources = sources,
};

const struct kymo_plugin *kymo_plugin_entry_v1(void)
{
	return &perf_plugin;
}
