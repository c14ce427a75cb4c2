/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"
#include "test_record.h"

/* What each version has as the size of a kernel's record. */
static const struct {
	uint32_t version, size;
} kernels[] = {
	{CUPTI_SINCE_11_0, 160},
	{CUPTI_SINCE_11_1, 160},
	{CUPTI_SINCE_11_2, 168},
	{CUPTI_SINCE_11_6, 176},
	{CUPTI_SINCE_11_8, 200},
	{CUPTI_SINCE_12_0, 208},
	{28, 208},
	{130001, 216},
	{CUPTI_SINCE_13_1, 224},
	{130500, 248},
};

#define KERNELS (sizeof(kernels) / sizeof(kernels[0]))

static void a_kernel_of_any_version_is_read_as_far_as_it_goes(void **state)
{
	(void)state;
	for (size_t i = 0; i < KERNELS; i++) {
		struct cupti_kernel kernel = kernel_of("k", 9);
		const struct kymo_record *record;

		kernel.graph_node_id = 77;
		kernel.graph_id = 5;
		kernel.channel_id = 3;
		kernel.channel_type = CUPTI_CHANNEL_COMPUTE;
		kernel.cluster_x = 2;
		kernel.priority = -1;
		kernel.registers_per_thread = (uint16_t)(32 + i); /* a set of its own */
		begin(kernels[i].version);
		ADD(kernels[i].size, kernel);
		assert_int_equal(decode().records, 1);
		record = line(0);
		assert_string_equal(test_name(record), "k");
		assert_int_equal(record->begin, 200);
		assert_int_equal(record->end, 300);
		assert_int_equal(record->correlation, 9);
		assert_int_equal(record->flags, KYMO_RECORD_TARGET);
		assert_int_equal(record->track, 1007);
		assert_int_equal(test_value(record, KY_KEY_GRAPH_NODE), 77);
		assert_int_equal(test_value(record, KY_KEY_SHARED), 128);
		if (kernels[i].version >= CUPTI_SINCE_11_1)
			assert_int_equal(test_value(record, KY_KEY_GRAPH), 5);
		assert_int_equal(test_set_has(record, KY_KEY_CHANNEL),
				 kernels[i].version >= CUPTI_SINCE_11_6);
		assert_int_equal(test_set_has(record, KY_KEY_CLUSTER),
				 kernels[i].version >= CUPTI_SINCE_11_8);
		assert_int_equal(test_set_has(record, KY_KEY_PRIORITY),
				 kernels[i].version >= CUPTI_SINCE_13_1);
	}
}

static void a_launch_that_repeats_has_the_set_of_the_first(void **state)
{
	uint32_t sets;

	(void)state;
	begin(130001);
	sets = test_host.set_count;
	for (uint32_t i = 1; i <= 3; i++) {
		struct cupti_kernel kernel = kernel_of("k", i);

		kernel.registers_per_thread = 200;
		ADD(216, kernel);
	}
	decode();
	assert_int_equal(test_host.set_count, sets + 1);
	assert_int_equal(line(0)->attributes, line(2)->attributes);
	assert_int_equal(line(0)->lines, 1);
}

static void a_name_pointer_that_comes_again_for_another_kernel_is_seen(void **state)
{
	char name[16] = "first";

	(void)state;
	begin(130001);
	add_kernel(name, 1);
	decode_some(made.size);
	strcpy(name, "second");
	decode_some(made.size);
	assert_string_equal(test_name(line(0)), "first");
	assert_string_equal(test_name(line(1)), "second");
}

static void a_kernel_without_a_name_is_kept(void **state)
{
	(void)state;
	begin(130001);
	add_kernel(NULL, 1);
	decode();
	assert_string_equal(test_name(line(0)), "unnamed kernel");
}

static void times_that_cannot_be_are_marked_and_kept(void **state)
{
	static const uint64_t times[][2] = {
		{0, 0},    {10, 5},           {300, 200},
		{50, 300}, {300, 3000000000}, {UINT64_MAX, 400}};
	const size_t count = sizeof(times) / sizeof(times[0]);

	(void)state;
	begin(130001);
	for (size_t i = 0; i < count; i++) {
		struct cupti_kernel kernel = kernel_of("k", 1);

		kernel.start = times[i][0];
		kernel.end = times[i][1];
		ADD(216, kernel);
	}
	decode();
	for (uint32_t i = 0; i < count; i++) {
		assert_true(line(i)->flags & KYMO_RECORD_UNTIMED);
		assert_int_equal(line(i)->begin, times[i][0]);
	}
}

static void a_kernel_that_has_not_ended_ran_until_now(void **state)
{
	struct cupti_kernel kernel = kernel_of("k", 1);

	(void)state;
	kernel.end = 0;
	begin(130001);
	ADD(216, kernel);
	decode();
	assert_int_equal(line(0)->flags, KYMO_RECORD_TARGET | KYMO_RECORD_UNFINISHED);
	assert_int_equal(line(0)->end, 1000000);
}

static void endless_shapes_do_not_fill_the_dictionary(void **state)
{
	const struct cupti_device device = {.kind = CUPTI_KIND_DEVICE,
					    .compute_major = 9,
					    .multiprocessors = 2,
					    .threads_per_warp = 32,
					    .max_warps_per_sm = 64,
					    .max_blocks_per_sm = 32,
					    .max_registers_per_sm = 65536,
					    .max_registers_per_block = 65536,
					    .max_shared_per_sm = 233472,
					    .max_threads_per_block = 1024,
					    .name = "d"};
	const struct kymo_record *last;
	uint32_t sets;
	int64_t grid[3];

	(void)state;
	for (int32_t round = 0; round < 5; round++) {
		begin(130001);
		ADD(184, device);
		for (int32_t i = 0; i < 3000; i++) {
			struct cupti_kernel kernel = kernel_of("k", 1);

			kernel.grid_y = 100 + round * 3000 + i;
			ADD(216, kernel);
		}
		if (round == 4)
			sets = test_host.set_count;
		decode();
	}
	assert_int_equal(test_host.set_count, sets);
	last = line(test_host.line_count - 3);
	assert_int_equal(last->lines, 3);
	memcpy(grid, test_host.lines[test_host.line_count - 1].bytes.byte, sizeof(grid));
	assert_int_equal(grid[0], 4);
	assert_int_equal(grid[1], 100 + 14999);
	assert_int_equal(test_value(last, KY_KEY_REGISTERS), 32);
	assert_int_equal(test_value(last, KY_KEY_OCCUPANCY_PERCENT), 100);
	assert_false(test_set_has(last, KY_KEY_GRID));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_of_any_version_is_read_as_far_as_it_goes),
		cmocka_unit_test(a_launch_that_repeats_has_the_set_of_the_first),
		cmocka_unit_test(
			a_name_pointer_that_comes_again_for_another_kernel_is_seen),
		cmocka_unit_test(a_kernel_without_a_name_is_kept),
		cmocka_unit_test(times_that_cannot_be_are_marked_and_kept),
		cmocka_unit_test(a_kernel_that_has_not_ended_ran_until_now),
		/* The last: it uses up what sets there may be. */
		cmocka_unit_test(endless_shapes_do_not_fill_the_dictionary),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
