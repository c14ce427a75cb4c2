/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of the kernel's records: lines, as a host is given them. */
#include <string.h>

#include "off_cpu.h"
#include "source.h"
#include "stack.h"
#include "support/test.h"
#include "thread_table.h"

#define TRACK_OF(tid) ((tid) + 10000u)

static union kymo_line lines[64];
static uint32_t line_count, emit_count, track_count;
static uint64_t left_out;

static int32_t take(struct kymo_source_host *self, const union kymo_line *given,
		    uint32_t count)
{
	(void)self;
	assert_true(count <= sizeof(lines) / sizeof(lines[0]));
	memcpy(lines, given, count * sizeof(lines[0]));
	line_count = count;
	emit_count++;
	return KYMO_OK;
}

static uint32_t number_string(struct kymo_source_host *self, struct kymo_str text)
{
	(void)self;
	return (uint32_t)text.size;
}

static uint32_t number_code(struct kymo_source_host *self, const void *address)
{
	(void)self;
	return (uint32_t)(uintptr_t)address & 0xffffff;
}

static int32_t number_thread(struct kymo_source_host *self, uint64_t tid, uint32_t clock,
			     uint32_t *out)
{
	(void)self;
	assert_int_equal(clock, 3);
	track_count++;
	*out = TRACK_OF((uint32_t)tid);
	return KYMO_OK;
}

static int32_t take_metadata(struct kymo_source_host *self,
			     const struct kymo_value *value)
{
	(void)self;
	left_out = value->u64;
	return KYMO_OK;
}

static int begin(void **state)
{
	static const struct kymo_host host = {
		.struct_size = sizeof(host),
		.emit = take,
		.string = number_string,
		.code = number_code,
		.thread_track = number_thread,
		.metadata = take_metadata,
	};
	static const uint16_t types[PERF_TYPE_COUNT] = {1, 2, 3, 4, 5, 6, 7, 8};
	static const uint16_t keys[PERF_KEY_COUNT] = {21, 22, 23, 24};

	(void)state;
	perf_source = (struct perf_source){
		.host = &host, .types = types, .keys = keys, .clock = 3};
	line_count = emit_count = track_count = 0;
	perf_threads_reset();
	perf_off_cpu_register();
	return 0;
}

static void switch_at(uint32_t tid, uint64_t time, uint32_t misc)
{
	const struct perf_record record = {
		.kind = PERF_RECORD_SWITCH, .tid = tid, .time = time, .misc = misc};

	perf_off_cpu_take(&record);
}

#define OUT     PERF_RECORD_MISC_SWITCH_OUT
#define PREEMPT (PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)

static void a_thread_is_off_the_cpu_until_it_comes_back(void **state)
{
	(void)state;
	switch_at(7, 100, OUT);
	switch_at(8, 150, PREEMPT);
	assert_int_equal(emit_count, 0);
	switch_at(7, 400, 0);
	assert_int_equal(emit_count, 1);
	assert_int_equal(lines[0].record.kind, KYMO_KIND_SPAN);
	assert_int_equal(lines[0].record.type, 8);
	assert_int_equal(lines[0].record.track, TRACK_OF(7));
	assert_int_equal(lines[0].record.begin, 100);
	assert_int_equal(lines[0].record.end, 400);
	assert_int_equal(lines[0].record.name, strlen("off CPU"));
	assert_int_equal(lines[0].record.flags, 0);
	switch_at(8, 500, 0);
	assert_int_equal(lines[0].record.begin, 150);
	assert_int_equal(lines[0].record.name, strlen("off CPU (preempted)"));
	assert_int_equal(track_count, 2);
}

static void what_comes_alone_makes_no_span(void **state)
{
	(void)state;
	switch_at(7, 100, 0); /* it was off before the recording */
	switch_at(7, 300, OUT);
	switch_at(7, 200, 0); /* of before */
	assert_int_equal(emit_count, 0);
	perf_threads_lose(); /* records are lost: it may have been back */
	switch_at(7, 400, 0);
	assert_int_equal(emit_count, 0);
}

static void who_never_comes_back_is_unfinished(void **state)
{
	(void)state;
	switch_at(7, 100, OUT);
	perf_off_cpu_end();
	assert_int_equal(emit_count, 1);
	assert_int_equal(lines[0].record.flags, KYMO_RECORD_UNFINISHED);
	assert_true(lines[0].record.end > 100);
	perf_off_cpu_end();
	assert_int_equal(emit_count, 1);
}

static void ten_thousands_of_threads_find_a_place(void **state)
{
	(void)state;
	for (uint32_t tid = 1; tid <= 50000; tid++) {
		switch_at(tid, 1000, OUT);
		switch_at(tid, 2000, 0);
		assert_int_equal(lines[0].record.track, TRACK_OF(tid));
	}
	assert_int_equal(emit_count, 50000);
}

static void sample(uint32_t tid, const uint64_t *addresses, uint64_t count)
{
	const struct perf_record record = {.kind = PERF_RECORD_SAMPLE,
					   .tid = tid,
					   .time = 77,
					   .addresses = addresses,
					   .address_count = count};

	perf_stack_take(&record);
}

/* Puts the pieces together again. */
static uint32_t read_stack(uint64_t *out)
{
	uint8_t *to = (uint8_t *)out;

	for (uint32_t i = 1; i < line_count; i++) {
		const struct kymo_record_bytes *bytes = &lines[i].bytes;

		assert_int_equal(bytes->kind, KYMO_KIND_BYTES);
		assert_int_equal(bytes->key, 21);
		memcpy(to, bytes->byte, bytes->used);
		to += bytes->used;
		assert_true(to <= (uint8_t *)out + bytes->total);
		if (i + 1 == line_count)
			assert_ptr_equal(to, (uint8_t *)out + bytes->total);
	}
	return (uint32_t)((uint64_t *)(void *)to - out);
}

static void a_sample_is_an_instant_with_its_stack(void **state)
{
	uint64_t addresses[PERF_STACK_MAX], codes[PERF_STACK_MAX];

	(void)state;
	for (uint64_t i = 0; i < PERF_STACK_MAX; i++)
		addresses[i] = 0x10000 + i * 16;
	for (uint64_t count = 1; count <= PERF_STACK_MAX; count++) {
		sample(7, addresses, count);
		assert_int_equal(lines[0].record.kind, KYMO_KIND_INSTANT);
		assert_int_equal(lines[0].record.lines, line_count);
		assert_int_equal(lines[0].record.flags, KYMO_RECORD_NAME_CODE);
		assert_int_equal(lines[0].record.name, 0x10000);
		assert_int_equal(lines[0].record.track, TRACK_OF(7));
		assert_int_equal(lines[0].record.begin, 77);
		assert_int_equal(lines[0].record.end, 77);
		assert_int_equal(read_stack(codes), count);
		assert_int_equal(codes[0], 0x10000);
		/* Callers by the byte before the place that they return to. */
		for (uint64_t i = 1; i < count; i++)
			assert_int_equal(codes[i], addresses[i] - 1);
	}
}

static void a_thread_without_user_mode_has_no_sample(void **state)
{
	(void)state;
	sample(7, NULL, 0);
	assert_int_equal(emit_count, 0);
}

static void addresses_that_there_is_no_room_for_are_counted(void **state)
{
	const uint64_t known = 0x10000;

	(void)state;
	perf_stack_begin();
	for (uint64_t i = 0; i < 40000; i++) {
		const uint64_t address = 0x1000000 + i;

		sample(7, &address, 1);
	}
	assert_int_equal(lines[0].record.name, 0);
	sample(7, &known, 1);
	assert_int_equal(lines[0].record.name, 0x10000);
	left_out = 0;
	perf_stack_end();
	assert_true(left_out >= 40000 - 32768 && left_out < 8000);
}

/* As where the program has a library of its own beside the recorder's. */
static void a_second_host_is_refused_and_changes_nothing(void **state)
{
	static uint32_t anybody;
	const struct kymo_source_numbers numbers = {.struct_size = sizeof(numbers)};
	const struct kymo_host other = {.struct_size = sizeof(other)};
	const struct kymo_host *first = perf_source.host;
	struct kymo_error error = {0};
	void *source = NULL;

	(void)state;
	perf_source.self = (struct kymo_source_host *)(void *)&anybody;
	assert_int_equal(perf_plugin.sources[0]->ops->create(&other, NULL, &numbers,
							     &source, &error),
			 KYMO_ERROR_BUSY);
	assert_non_null(strstr(error.message, "in use"));
	assert_ptr_equal(perf_source.host, first);
	assert_null(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_thread_is_off_the_cpu_until_it_comes_back,
				       begin),
		cmocka_unit_test_setup(what_comes_alone_makes_no_span, begin),
		cmocka_unit_test_setup(who_never_comes_back_is_unfinished, begin),
		cmocka_unit_test_setup(ten_thousands_of_threads_find_a_place, begin),
		cmocka_unit_test_setup(a_sample_is_an_instant_with_its_stack, begin),
		cmocka_unit_test_setup(a_thread_without_user_mode_has_no_sample, begin),
		cmocka_unit_test_setup(addresses_that_there_is_no_room_for_are_counted,
				       begin),
		cmocka_unit_test_setup(a_second_host_is_refused_and_changes_nothing,
				       begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
