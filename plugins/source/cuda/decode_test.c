/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"
#include "test_record.h"

static int32_t stand_still(uint8_t *buffer, size_t size, struct cupti_record **record)
{
	(void)size;
	*record = (struct cupti_record *)(void *)buffer;
	return CUPTI_RC_SUCCESS;
}

/* ---- Buffers that are not what they should be ---- */

static void a_record_that_does_not_fit_ends_the_buffer(void **state)
{
	struct cupti_kernel short_one;
	struct ky_decoded result;

	(void)state;
	begin(130001);
	add_kernel("k", 1);
	add_kernel("k", 2);
	result = decode_some(made.size - 8);
	assert_int_equal(result.records, 1);
	assert_true(result.is_broken);
	/* One that CUPTI says is there, and that is too short for its kind. */
	begin(130001);
	add_kernel("k", 1);
	short_one = kernel_of("k", 2);
	ADD(48, short_one);
	result = decode();
	assert_int_equal(result.records, 1);
	assert_true(result.is_broken);
}

static void a_walk_that_stands_still_is_ended(void **state)
{
	struct ky_decoded result;

	(void)state;
	begin(130001);
	add_kernel("k", 1);
	ky_source.library.ActivityGetNextRecord = stand_still;
	result = decode();
	ky_source.library.ActivityGetNextRecord = next_record;
	assert_int_equal(result.records, 1);
	assert_true(result.is_broken);
}

static void a_kind_that_is_not_known_is_passed_over(void **state)
{
	const struct cupti_record strange = {63}, stranger = {70000};
	struct ky_decoded result;

	(void)state;
	begin(130001);
	ADD(8, strange);
	ADD(24, stranger);
	add_kernel("k", 1);
	result = decode();
	assert_int_equal(result.records, 3);
	assert_int_equal(result.unknown, 70000);
	assert_int_equal(test_host.line_count, 1);
}

/* ---- Copies ---- */

static void copies_are_named_by_where_they_go(void **state)
{
	const struct cupti_memcpy copy = {
		.kind = CUPTI_KIND_MEMCPY,
		.copy_kind = CUPTI_COPY_HTOD,
		.src_kind = CUPTI_MEMORY_PINNED,
		.dst_kind = CUPTI_MEMORY_DEVICE,
		.bytes = 400,
		.start = 200,
		.end = 300,
	};
	struct cupti_memcpy strange = copy;
	const double four = 4;

	(void)state;
	strange.copy_kind = strange.src_kind = strange.dst_kind = 255;
	begin(18);
	ADD(88, copy);
	ADD(88, strange);
	decode();
	assert_string_equal(test_name(line(0)), "Memcpy HtoD (Pinned -> Device)");
	assert_int_equal(test_value(line(0), KY_KEY_BYTES), 400);
	assert_memory_equal(&line(0)->value[1], &four, sizeof(four));
	assert_string_equal(test_name(line(1)), "Memcpy Unknown (Unknown -> Unknown)");
}

static void a_copy_between_devices_has_both_of_them(void **state)
{
	const struct cupti_memcpy_peer copy = {
		.kind = CUPTI_KIND_MEMCPY_PEER,
		.copy_kind = CUPTI_COPY_PTOP,
		.src_kind = CUPTI_MEMORY_DEVICE,
		.dst_kind = CUPTI_MEMORY_DEVICE,
		.bytes = 1,
		.start = 200,
		.end = 200,
		.src_device_id = 1,
		.dst_device_id = 2,
		.src_context_id = 3,
		.dst_context_id = 4,
	};

	(void)state;
	begin(18);
	ADD(96, copy);
	decode();
	assert_string_equal(test_name(line(0)), "Memcpy PtoP (Device -> Device)");
	assert_int_equal(test_value(line(0), KY_KEY_FROM_DEVICE), 1);
	assert_int_equal(test_value(line(0), KY_KEY_TO_DEVICE), 2);
	assert_int_equal(test_value(line(0), KY_KEY_FROM_CONTEXT), 3);
	assert_int_equal(test_value(line(0), KY_KEY_TO_CONTEXT), 4);
	assert_int_equal(line(0)->key[1], 0); /* no rate of nothing */
}

/* ---- Unified memory ---- */

static struct cupti_unified unified_of(uint32_t counter_kind, uint32_t source)
{
	return (struct cupti_unified){
		.kind = CUPTI_KIND_UNIFIED_MEMORY_COUNTER,
		.counter_kind = counter_kind,
		.value = 4096,
		.start = 200,
		.end = 300,
		.src_id = source,
		.stream_id = 12345, /* which the vendor says is not valid */
	};
}

static void unified_memory_is_read_as_the_vendor_says(void **state)
{
	const struct cupti_unified fault = unified_of(CUPTI_UVM_GPU_PAGE_FAULT, 1),
				   thrashing = unified_of(CUPTI_UVM_THRASHING, 0x6),
				   map = unified_of(CUPTI_UVM_REMOTE_MAP, 2);

	(void)state;
	begin(18);
	ADD(72, fault);
	ADD(72, thrashing);
	ADD(72, map);
	decode();
	assert_int_equal(line(0)->kind, KYMO_KIND_SPAN);
	assert_int_equal(line(0)->end, 300);
	assert_int_equal(line(1)->kind, KYMO_KIND_INSTANT);
	assert_int_equal(line(1)->end, 200);
	assert_int_equal(line(2)->kind, KYMO_KIND_INSTANT);
	/* All of a device on one row, and no device is made of two that fight. */
	assert_int_equal(line(1)->track, line(0)->track);
	assert_false(ky_place_knows(6));
	assert_int_equal(test_value(line(1), KY_KEY_VALUE), 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_that_does_not_fit_ends_the_buffer),
		cmocka_unit_test(a_walk_that_stands_still_is_ended),
		cmocka_unit_test(a_kind_that_is_not_known_is_passed_over),
		cmocka_unit_test(copies_are_named_by_where_they_go),
		cmocka_unit_test(a_copy_between_devices_has_both_of_them),
		cmocka_unit_test(unified_memory_is_read_as_the_vendor_says),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
