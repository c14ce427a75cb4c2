/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host for tests of one file: it keeps what it is handed, in the order in which it
 * came. Numbers of strings and sets are places in its lists, so equal texts have one
 * number.
 */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_TEST_HOST_H
#define KYMO_PLUGINS_SOURCE_CUDA_TEST_HOST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"
#include "table.h"

#define TEST_LINES   65536u
#define TEST_TEXTS   4096u
#define TEST_SETS    16384u
#define TEST_VALUES  16u
#define TEST_BUFFERS 4u

struct test_set {
	uint32_t count;
	struct kymo_value values[TEST_VALUES];
	int64_t arrays[TEST_VALUES][3];
};

struct test_host {
	union kymo_line lines[TEST_LINES];
	uint32_t line_count;
	char *texts[TEST_TEXTS]; /* from 1 */
	uint32_t text_count;
	struct test_set sets[TEST_SETS]; /* from 1 */
	uint32_t set_count;
	uint32_t number; /* of whatever else is registered */
	uint64_t lost[6];
	uint32_t buffer_epoch, buffers_taken, buffers_most;
	uint8_t *buffers[TEST_BUFFERS];
	uint32_t state;
	char reason[256], logged[256];
};

static struct test_host test_host;

static int32_t test_emit(struct kymo_source_host *self, const union kymo_line *lines,
			 uint32_t line_count)
{
	(void)self;
	assert_true(test_host.line_count + line_count <= TEST_LINES);
	memcpy(&test_host.lines[test_host.line_count], lines,
	       line_count * sizeof(*lines));
	test_host.line_count += line_count;
	return KYMO_OK;
}

static uint64_t test_now(void)
{
	return 1;
}

static void test_lost(struct kymo_source_host *self, uint32_t reason, uint64_t count)
{
	(void)self;
	test_host.lost[reason] += count;
}

static uint32_t test_string(struct kymo_source_host *self, struct kymo_str text)
{
	(void)self;
	for (uint32_t i = 1; i <= test_host.text_count; i++)
		if (strlen(test_host.texts[i]) == text.size &&
		    memcmp(test_host.texts[i], text.data, text.size) == 0)
			return i;
	assert_true(test_host.text_count + 1 < TEST_TEXTS);
	test_host.texts[++test_host.text_count] = strndup(text.data, text.size);
	return test_host.text_count;
}

static uint32_t test_attributes(struct kymo_source_host *self,
				const struct kymo_value *values, size_t count)
{
	struct test_set *set;

	(void)self;
	assert_true(test_host.set_count + 1 < TEST_SETS && count <= TEST_VALUES);
	set = &test_host.sets[++test_host.set_count];
	set->count = (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		set->values[i] = values[i];
		if (values[i].type == (KYMO_VALUE_INT64 | KYMO_VALUE_ARRAY))
			memcpy(set->arrays[i], values[i].array, sizeof(set->arrays[i]));
	}
	return test_host.set_count;
}

static int32_t test_clock(struct kymo_source_host *self,
			  const struct kymo_clock_desc *desc, uint32_t *out)
{
	(void)self, (void)desc;
	*out = ++test_host.number;
	return KYMO_OK;
}

static int32_t test_device(struct kymo_source_host *self,
			   const struct kymo_device_desc *desc, uint32_t *out)
{
	(void)self, (void)desc;
	*out = ++test_host.number;
	return KYMO_OK;
}

/* A track's number is its native id and 1000, a thread's and 2000. */
static int32_t test_track(struct kymo_source_host *self,
			  const struct kymo_track_desc *desc, uint32_t *out)
{
	(void)self;
	*out = (uint32_t)desc->native + (uint32_t)(desc->native >> 32) * 500 + 1000;
	return KYMO_OK;
}

static int32_t test_thread_track(struct kymo_source_host *self, uint64_t tid,
				 uint32_t clock, uint32_t *out)
{
	(void)self, (void)clock;
	*out = (uint32_t)tid + 2000;
	return KYMO_OK;
}

static void test_anchor(struct kymo_source_host *self, uint32_t clock,
			const struct kymo_clock_pair *pair)
{
	(void)self, (void)clock, (void)pair;
}

static void *test_buffer_take(struct kymo_source_host *self, size_t size)
{
	(void)self;
	for (uint32_t i = 0; i < TEST_BUFFERS; i++) {
		if (test_host.buffers[i])
			continue;
		test_host.buffers_taken++;
		test_host.buffers[i] = aligned_alloc(4096, size);
		return test_host.buffers[i];
	}
	return NULL;
}

static int find_buffer(const void *buffer)
{
	for (uint32_t i = 0; buffer && i < TEST_BUFFERS; i++)
		if (test_host.buffers[i] == buffer)
			return (int)i;
	return -1;
}

static int32_t test_buffer_epoch(struct kymo_source_host *self, const void *buffer,
				 uint32_t *epoch)
{
	(void)self;
	*epoch = test_host.buffer_epoch;
	return find_buffer(buffer) >= 0 ? KYMO_OK : KYMO_ERROR_INVALID;
}

static int32_t test_buffer_give(struct kymo_source_host *self, void *buffer)
{
	const int at = find_buffer(buffer);

	(void)self;
	if (at < 0)
		return KYMO_ERROR_INVALID;
	free(buffer);
	test_host.buffers[at] = NULL;
	return KYMO_OK;
}

static void test_log(struct kymo_source_host *self, uint32_t severity,
		     struct kymo_str text)
{
	(void)self, (void)severity;
	snprintf(test_host.logged, sizeof(test_host.logged), "%.*s", (int)text.size,
		 text.data);
}

static const struct kymo_host test_table = {
	.struct_size = sizeof(test_table),
	.now = test_now,
	.emit = test_emit,
	.lost = test_lost,
	.string = test_string,
	.attributes = test_attributes,
	.clock = test_clock,
	.device = test_device,
	.track = test_track,
	.thread_track = test_thread_track,
	.anchor = test_anchor,
	.buffer_take = test_buffer_take,
	.buffer_epoch = test_buffer_epoch,
	.buffer_give = test_buffer_give,
	.log = test_log,
};

/* Types, keys and so on are numbered from 1; all types are wanted. */
static void test_host_begin(void)
{
	static uint16_t numbers[KY_KEY_COUNT + 1];
	static const struct kymo_source_numbers given = {
		.struct_size = sizeof(given),
		.types = numbers,
		.keys = numbers,
		.domains = numbers,
		.link_kinds = numbers,
	};

	for (uint32_t i = 1; i <= test_host.text_count; i++)
		free(test_host.texts[i]);
	memset(&test_host, 0, sizeof(test_host));
	for (uint16_t i = 0; i <= KY_KEY_COUNT; i++)
		numbers[i] = i + 1;
	ky_source.host = &test_table;
	ky_source.numbers = &given;
	memset(ky_source.wants, 1, sizeof(ky_source.wants));
}

static inline const char *test_name(const struct kymo_record *record)
{
	return test_host.texts[record->name];
}

/* Of the record or its set; fails the test if there is none. */
static inline uint64_t test_value(const struct kymo_record *record, enum ky_key key)
{
	const union kymo_line *lines = (const void *)record;
	const struct test_set *set = &test_host.sets[record->attributes];

	for (uint32_t i = 0; i < 2; i++)
		if (record->key[i] == key + 1)
			return record->value[i];
	for (uint32_t i = 1; i < record->lines; i++)
		for (uint32_t j = 0; lines[i].more.kind == KYMO_KIND_MORE && j < 6; j++)
			if (lines[i].more.key[j] == key + 1)
				return lines[i].more.value[j];
	for (uint32_t i = 0; i < set->count; i++)
		if (set->values[i].key == key + 1)
			return set->values[i].u64;
	fail_msg("it has no %s", ky_keys[key]->name);
	return 0;
}

static inline int test_set_has(const struct kymo_record *record, enum ky_key key)
{
	const struct test_set *set = &test_host.sets[record->attributes];

	for (uint32_t i = 0; i < set->count; i++)
		if (set->values[i].key == key + 1)
			return 1;
	return 0;
}

#endif
