/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of PM sampling: a host that takes down what it is told, and sessions of it
 * with the library of pm_test_library.h. Comes after "support/test.h".
 */
#ifndef KYMO_CUDA_PM_TEST_SESSION_H
#define KYMO_CUDA_PM_TEST_SESSION_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "pm.h"
#include "pm_device.h"
#include "pm_test_library.h"

#define SECOND 1000000000ull

static const uint16_t counter_type = 7;

/* ---- The host ---- */

enum { SAMPLES, LOST, OVERFLOWS, EARLY_ENDS, INTERVAL, CYCLES, MEMORY, METADATA_COUNT };

static struct {
	const char *metrics, *interval, *buffer, *devices;
	uint64_t lost[6]; /* by reason */
	uint64_t records, values, untimed, first_begin, last_end;
	double first_value, last_value;
	uint32_t counter_count, clock, metadata_count;
	uint64_t metadata[METADATA_COUNT];
	char key[64], units[64], reason[1024], remedy[1024];
	uint32_t told, loadings;
} seen;

static int32_t take_option(struct kymo_source_host *self, const char *name,
			   struct kymo_str *out)
{
	(void)self;
	*out = kymo_text(strcmp(name, "pm") == 0            ? seen.metrics
			 : strcmp(name, "pm_interval") == 0 ? seen.interval
			 : strcmp(name, "pm_buffer") == 0   ? "64MiB"
							    : seen.devices);
	return KYMO_OK;
}

static double value_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static int32_t take_record(struct kymo_source_host *self, const union kymo_line *lines,
			   uint32_t line_count)
{
	const struct kymo_record_counter *counter = &lines[0].counter;
	const struct kymo_record_values *last = &lines[line_count - 1].values;

	(void)self;
	assert_int_equal(counter->kind, KYMO_KIND_COUNTER);
	assert_int_equal(counter->lines, line_count);
	assert_int_equal(counter->type, counter_type);
	assert_int_equal(counter->count, seen.counter_count);
	if (seen.records++ == 0) {
		seen.first_begin = counter->begin;
		seen.first_value = value_of(counter->value[0]);
	}
	seen.last_end = counter->end;
	seen.untimed += (counter->flags & KYMO_RECORD_UNTIMED) != 0;
	seen.last_value = value_of(line_count > 1 ? last->value[last->used - 1]
						  : counter->value[counter->count - 1]);
	seen.values += counter->count;
	return KYMO_OK;
}

static void take_loss(struct kymo_source_host *self, uint32_t reason, uint64_t count)
{
	(void)self;
	seen.lost[reason] += count;
}

static int32_t take_key(struct kymo_source_host *self, const struct kymo_key_desc *desc,
			uint16_t *out)
{
	(void)self;
	snprintf(seen.key, sizeof(seen.key), "%s", desc->name);
	*out = 1;
	return KYMO_OK;
}

static int32_t take_track(struct kymo_source_host *self,
			  const struct kymo_track_desc *desc, uint32_t *out)
{
	(void)self;
	assert_int_equal(desc->kind, KYMO_TRACK_COUNTER);
	assert_int_equal(desc->device, 100 + desc->native);
	seen.clock = desc->clock;
	*out = 1;
	return KYMO_OK;
}

static int32_t take_clock(struct kymo_source_host *self,
			  const struct kymo_clock_desc *desc, uint32_t *out)
{
	(void)self;
	assert_int_equal(desc->kind, KYMO_CLOCK_REALTIME);
	assert_int_equal(desc->ticks_num, 1000000000);
	*out = 11;
	return KYMO_OK;
}

static int32_t take_group(struct kymo_source_host *self, uint32_t track,
			  struct kymo_str name,
			  const struct kymo_counter_desc *const *counters, size_t count,
			  uint32_t *out)
{
	(void)self;
	(void)name;
	(void)track;
	seen.counter_count = (uint32_t)count;
	snprintf(seen.units, sizeof(seen.units), "%.*s", (int)counters[0]->unit.size,
		 counters[0]->unit.data);
	*out = 1;
	return KYMO_OK;
}

/* Each is put right after its key was asked for. */
static int32_t take_metadata(struct kymo_source_host *self,
			     const struct kymo_value *value)
{
	static const char *const names[METADATA_COUNT] = {
		[SAMPLES] = "PM samples",
		[LOST] = "PM samples lost, at least",
		[OVERFLOWS] = "PM memory overflows",
		[EARLY_ENDS] = "PM decodes that ended early",
		[INTERVAL] = "PM interval (ns)",
		[CYCLES] = "PM interval (cycles)",
		[MEMORY] = "PM memory (bytes)",
	};
	int place = 0;

	(void)self;
	while (place < METADATA_COUNT && strcmp(names[place], seen.key) != 0)
		place++;
	if (place < METADATA_COUNT)
		seen.metadata[place] = value->u64;
	else
		fail_msg("metadata that nobody expects: %s", seen.key);
	seen.metadata_count++;
	return KYMO_OK;
}

static uint32_t device_number(uint32_t index)
{
	return 100 + index;
}

static uint32_t clock_number(void)
{
	return 9;
}

static uint64_t clock_now(void)
{
	return pm_fake_epoch;
}

static void take_loading(void)
{
	seen.loadings++;
}

static void take_problem(const char *reason, const char *remedy)
{
	seen.told++;
	snprintf(seen.reason, sizeof(seen.reason), "%s", reason);
	snprintf(seen.remedy, sizeof(seen.remedy), "%s", remedy);
}

static const struct kymo_host host = {
	.struct_size = sizeof(host),
	.option = take_option,
	.emit = take_record,
	.lost = take_loss,
	.key = take_key,
	.clock = take_clock,
	.track = take_track,
	.counter_group = take_group,
	.metadata = take_metadata,
};

static const struct pm_setup setup = {
	.host = &host,
	.type = 7,
	.device = device_number,
	.clock = clock_number,
	.now = clock_now,
	.loaded = take_loading,
	.partly = take_problem,
};

/* ---- Sessions ---- */

static inline int begin_test(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof(seen));
	pm_fake_reset();
	pm_create(&setup);
	return 0;
}

/* Whatever happened: what was opened is closed. */
static inline int end_test(void **state)
{
	(void)state;
	pm_release();
	if (pm_fake.open_hosts || pm_fake.open_samplers) {
		print_error("%d host objects and %d samplers are still open\n",
			    pm_fake.open_hosts, pm_fake.open_samplers);
		return -1;
	}
	return 0;
}

static inline void prepare_session(void)
{
	const struct kymo_source_session session = {
		.struct_size = sizeof(session), .types = &counter_type, .type_count = 1};

	assert_int_equal(pm_prepare(&session, NULL), KYMO_OK);
}

static inline void begin_session(void)
{
	prepare_session();
	pm_start(pm_fake.is_old ? NULL : &pm_fake_table);
}

static inline void begin_sampling(void)
{
	begin_session();
	pm_seen(0);
	pm_tick();
	assert_string_equal(seen.reason, "");
	assert_int_equal(pm_fake.running, 1);
}

static inline void end_session(void)
{
	pm_stop(ky_monotonic_ns() + SECOND);
	pm_release();
}

#endif
