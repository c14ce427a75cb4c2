/* SPDX-License-Identifier: BSD-3-Clause */
/* A ring of the kernel's, which here is written by hand. */
#include "ring.h"

#include <string.h>

#include "support/test.h"

#define PAGE 4096u
#define SIZE 8192u

static union {
	struct perf_event_mmap_page page;
	uint8_t bytes[PAGE + SIZE];
} memory;

static struct perf_ring ring;
static struct perf_record record;

static void begin(uint64_t at)
{
	memset(&memory, 0, sizeof(memory));
	perf_ring_init(&ring, &memory, PAGE, SIZE);
	memory.page.data_head = memory.page.data_tail = at;
	ring.tail = at;
}

/* As the kernel does: around the end of the ring. */
static void put(const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		memory.bytes[PAGE + (memory.page.data_head + i) % SIZE] =
			((const uint8_t *)bytes)[i];
	memory.page.data_head += size;
}

static void put_header(uint32_t kind, uint16_t misc, uint16_t size)
{
	const struct perf_event_header header = {kind, misc, size};

	put(&header, sizeof(header));
}

static void put_id(uint32_t tid, uint64_t time)
{
	const uint32_t ids[2] = {tid + 1000, tid};

	put(ids, sizeof(ids));
	put(&time, sizeof(time));
}

static void put_switch(uint32_t tid, uint64_t time, uint16_t misc)
{
	put_header(PERF_RECORD_SWITCH, misc, 24);
	put_id(tid, time);
}

static void put_lost(uint64_t count, uint64_t time)
{
	const uint64_t body[2] = {77, count};

	put_header(PERF_RECORD_LOST, 0, 40);
	put(body, sizeof(body));
	put_id(5, time);
}

static void put_sample(uint32_t tid, uint64_t time, const uint64_t *stack, uint64_t count)
{
	put_header(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, (uint16_t)(32 + count * 8));
	put_id(tid, time);
	put(&count, sizeof(count));
	put(stack, count * 8);
}

static void an_empty_ring_has_no_record(void **state)
{
	(void)state;
	begin(0);
	perf_ring_look(&ring);
	assert_int_equal(ring.time, UINT64_MAX);
	assert_false(perf_ring_take(&ring, &record));
}

static void records_come_out_as_they_went_in(void **state)
{
	(void)state;
	begin(0);
	put_switch(7, 100, PERF_RECORD_MISC_SWITCH_OUT);
	put_switch(7, 250, 0);
	perf_ring_look(&ring);
	assert_int_equal(ring.time, 100);
	assert_true(perf_ring_take(&ring, &record));
	assert_int_equal(record.kind, PERF_RECORD_SWITCH);
	assert_int_equal(record.tid, 7);
	assert_int_equal(record.time, 100);
	assert_true(record.misc & PERF_RECORD_MISC_SWITCH_OUT);
	assert_int_equal(ring.time, 250);
	assert_int_equal(memory.page.data_tail, 0);
	perf_ring_free(&ring);
	assert_int_equal(memory.page.data_tail, 24);
	assert_true(perf_ring_take(&ring, &record));
	assert_int_equal(record.time, 250);
	assert_false(perf_ring_take(&ring, &record));
}

static void a_stack_is_read_without_the_marks_in_it(void **state)
{
	const uint64_t stack[] = {(uint64_t)PERF_CONTEXT_USER, 0x1000, 0x2000, 0, 0x3000};

	(void)state;
	/* At every place around the end, so that each field is cut in two once. */
	for (uint64_t at = SIZE - 80; at <= SIZE; at += 8) {
		begin(at);
		put_sample(9, 500, stack, 5);
		perf_ring_look(&ring);
		assert_int_equal(ring.time, 500);
		assert_true(perf_ring_take(&ring, &record));
		assert_int_equal(record.tid, 9);
		assert_int_equal(record.address_count, 3);
		assert_int_equal(record.addresses[0], 0x1000);
		assert_int_equal(record.addresses[1], 0x2000);
		assert_int_equal(record.addresses[2], 0x3000);
		assert_false(perf_ring_take(&ring, &record));
	}
}

static void a_stack_that_is_too_deep_is_cut(void **state)
{
	static uint64_t stack[400];

	(void)state;
	for (size_t i = 0; i < 400; i++)
		stack[i] = 0x1000 + i;
	begin(SIZE - 8);
	put_sample(9, 500, stack, 400);
	put_switch(9, 600, 0);
	perf_ring_look(&ring);
	assert_true(perf_ring_take(&ring, &record));
	assert_int_equal(record.address_count, PERF_STACK_MAX);
	assert_int_equal(record.addresses[PERF_STACK_MAX - 1],
			 0x1000 + PERF_STACK_MAX - 1);
	assert_true(perf_ring_take(&ring, &record));
	assert_int_equal(record.time, 600);
}

static void a_count_of_addresses_that_lies_is_not_believed(void **state)
{
	const uint64_t stack[] = {UINT64_MAX, 0x1000};

	(void)state;
	begin(0);
	put_header(PERF_RECORD_SAMPLE, 0, 40);
	put_id(9, 500);
	put(stack, sizeof(stack));
	perf_ring_look(&ring);
	assert_true(perf_ring_take(&ring, &record));
	assert_int_equal(record.address_count, 1);
}

static void what_is_lost_is_counted(void **state)
{
	(void)state;
	begin(SIZE - 16);
	put_lost(33, 700);
	perf_ring_look(&ring);
	assert_true(perf_ring_take(&ring, &record));
	assert_int_equal(record.kind, PERF_RECORD_LOST);
	assert_int_equal(record.lost, 33);
	assert_int_equal(record.time, 700);
}

static void a_size_that_cannot_be_ends_what_is_there(void **state)
{
	static const uint16_t sizes[] = {0, 8, 23, 48, 0xffff};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		begin(0);
		put_header(PERF_RECORD_SWITCH, 0, sizes[i]);
		put_id(7, 100);
		perf_ring_look(&ring);
		assert_int_equal(ring.time, 0);
		assert_true(perf_ring_take(&ring, &record));
		assert_int_equal(record.kind, 0);
		assert_false(perf_ring_take(&ring, &record));
		put_switch(7, 200, 0);
		perf_ring_look(&ring);
		assert_true(perf_ring_take(&ring, &record));
		assert_int_equal(record.time, 200);
	}
}

/* While it rested nobody read it; the kernel tells of that with the next record. */
static void losses_of_a_rest_are_not_counted(void **state)
{
	(void)state;
	begin(0);
	while (SIZE - memory.page.data_head >= 24)
		put_switch(7, 100, 0);
	perf_ring_skip(&ring);
	assert_int_equal(memory.page.data_tail, memory.page.data_head);
	put_lost(1000, 300);
	put_lost(3, 400);
	perf_ring_look(&ring);
	assert_true(perf_ring_take(&ring, &record));
	assert_int_equal(record.lost, 0);
	assert_true(perf_ring_take(&ring, &record));
	assert_int_equal(record.lost, 3);
}

static void losses_after_a_rest_that_had_room_are_counted(void **state)
{
	(void)state;
	begin(0);
	put_switch(7, 100, 0);
	perf_ring_skip(&ring);
	put_lost(3, 400);
	perf_ring_look(&ring);
	assert_true(perf_ring_take(&ring, &record));
	assert_int_equal(record.lost, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_ring_has_no_record),
		cmocka_unit_test(records_come_out_as_they_went_in),
		cmocka_unit_test(a_stack_is_read_without_the_marks_in_it),
		cmocka_unit_test(a_stack_that_is_too_deep_is_cut),
		cmocka_unit_test(a_count_of_addresses_that_lies_is_not_believed),
		cmocka_unit_test(what_is_lost_is_counted),
		cmocka_unit_test(a_size_that_cannot_be_ends_what_is_there),
		cmocka_unit_test(losses_of_a_rest_are_not_counted),
		cmocka_unit_test(losses_after_a_rest_that_had_room_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
