/* SPDX-License-Identifier: BSD-3-Clause */
#include "decode.h"

#include <stdio.h>

#include "place.h"
#include "support/test.h"
#include "test_host.h"

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

/* A buffer in the making, and what CUPTI knows of it. */
static struct {
	uint8_t data[1 << 20];
	size_t size;
	size_t sizes[4096];
	uint32_t count;
} made;

static void add(size_t size, const void *record, size_t known)
{
	assert_true(made.count < 4096 && made.size + size <= sizeof(made.data));
	memset(made.data + made.size, 0, size);
	memcpy(made.data + made.size, record, known < size ? known : size);
	made.sizes[made.count++] = size;
	made.size += size;
}

#define ADD(size, record) add(size, &(record), sizeof(record))

/* Walks by the sizes that were put in, as CUPTI does by those that it knows. */
static int32_t next_record(uint8_t *buffer, size_t size, struct cupti_record **record)
{
	size_t at = 0;

	for (uint32_t i = 0; i < made.count; at += made.sizes[i], i++) {
		if (*record && (uint8_t *)*record >= buffer + at)
			continue;
		if (at + made.sizes[i] > size)
			return CUPTI_RC_INVALID_KIND;
		*record = (struct cupti_record *)(void *)(buffer + at);
		return CUPTI_RC_SUCCESS;
	}
	return CUPTI_RC_MAX_LIMIT_REACHED;
}

static int32_t stand_still(uint8_t *buffer, size_t size, struct cupti_record **record)
{
	(void)size;
	*record = (struct cupti_record *)(void *)buffer;
	return CUPTI_RC_SUCCESS;
}

static int32_t name_call(uint32_t domain, uint32_t cbid, const char **name)
{
	static const char *const runtime[] = {NULL, "cudaLaunchKernel_v7000",
					      "cudaEventRecord_v3020",
					      "cudaMalloc_v3020"};
	static const char *const driver[] = {NULL, "cuLaunchKernel", "cuMemAlloc_v2",
					     "cuLaunchHostFunc"};

	*name = cbid < 4 ? (domain == CUPTI_DOMAIN_RUNTIME ? runtime : driver)[cbid]
			 : NULL;
	return *name ? CUPTI_RC_SUCCESS : CUPTI_RC_INVALID_PARAMETER;
}

static void begin(uint32_t version)
{
	made.size = 0;
	made.count = 0;
	test_host.line_count = 0;
	ky_decode_begin(version, 1);
}

/* From memory of exactly that size, so that tools see what is read beyond it. */
static struct ky_decoded decode_some(size_t size)
{
	uint8_t *buffer = malloc(size);
	struct ky_decoded result;

	memcpy(buffer, made.data, size);
	result = ky_decode_buffer(buffer, size, 100, 1000000);
	free(buffer);
	return result;
}

/* Decodes what was made, in a session of this version that ends then. */
static struct ky_decoded decode(void)
{
	const struct ky_decoded result = decode_some(made.size);

	ky_decode_end();
	return result;
}

static const struct kymo_record *line(uint32_t index)
{
	assert_true(index < test_host.line_count);
	return &test_host.lines[index].record;
}

static struct cupti_kernel kernel_of(const char *name, uint32_t correlation)
{
	return (struct cupti_kernel){
		.kind = CUPTI_KIND_CONCURRENT_KERNEL,
		.registers_per_thread = 32,
		.start = 200,
		.end = 300,
		.context_id = 1,
		.stream_id = 7,
		.grid_x = 4,
		.grid_y = 2,
		.grid_z = 1,
		.block_x = 64,
		.block_y = 1,
		.block_z = 1,
		.static_shared = 100,
		.dynamic_shared = 28,
		.correlation_id = correlation,
		.name = name,
	};
}

static void add_kernel(const char *name, uint32_t correlation)
{
	const struct cupti_kernel kernel = kernel_of(name, correlation);

	ADD(216, kernel);
}

static struct cupti_api call_of(uint32_t kind, uint32_t cbid, uint32_t correlation)
{
	return (struct cupti_api){
		.kind = kind,
		.cbid = cbid,
		.start = 150,
		.end = 190,
		.thread_id = 5,
		.correlation_id = correlation,
	};
}

static void add_call(uint32_t kind, uint32_t cbid, uint32_t correlation)
{
	const struct cupti_api call = call_of(kind, cbid, correlation);

	ADD(40, call);
}

/* ---- Kernels ---- */

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
	static const uint64_t times[][2] = {{0, 0},    {10, 5},        {300, 200},
					    {50, 300}, {300, 2000000}, {UINT64_MAX, 400}};
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

/* ---- Calls ---- */

static void the_programs_call_is_the_launch_and_not_the_one_within(void **state)
{
	(void)state;
	begin(130001);
	add_call(CUPTI_KIND_DRIVER, 1, 11);
	add_call(CUPTI_KIND_RUNTIME, 1, 11);
	add_call(CUPTI_KIND_DRIVER, 1, 12);
	decode();
	assert_string_equal(test_name(line(0)), "cuLaunchKernel");
	assert_int_equal(line(0)->flags, 0);
	assert_string_equal(test_name(line(1)), "cudaLaunchKernel");
	assert_int_equal(line(1)->flags, KYMO_RECORD_ORIGIN);
	assert_int_equal(line(2)->flags, KYMO_RECORD_ORIGIN);
	assert_int_equal(line(2)->correlation, 12);
}

static void only_calls_that_launch_are_launches(void **state)
{
	(void)state;
	begin(130001);
	add_call(CUPTI_KIND_RUNTIME, 3, 1);
	add_call(CUPTI_KIND_DRIVER, 3, 2);
	add_call(CUPTI_KIND_RUNTIME, 999, 3);
	decode();
	assert_string_equal(test_name(line(0)), "cudaMalloc");
	assert_string_equal(test_name(line(1)), "cuLaunchHostFunc");
	assert_string_equal(test_name(line(2)), "runtime call 999");
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(line(i)->flags, 0);
		assert_int_equal(line(i)->correlation, i + 1);
		assert_int_equal(line(i)->track, 2005);
	}
}

static void a_call_that_failed_has_its_error(void **state)
{
	struct cupti_api call = call_of(CUPTI_KIND_RUNTIME, 1, 1);

	(void)state;
	call.return_value = 700;
	begin(130001);
	ADD(40, call);
	decode();
	assert_true(line(0)->flags & KYMO_RECORD_ERROR);
	assert_int_equal(test_value(line(0), KY_KEY_ERROR), 700);
	assert_int_equal(test_value(line(0), KY_KEY_CBID), 1);
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

/* ---- Events and waits ---- */

static void an_event_has_the_time_of_the_call_that_recorded_it(void **state)
{
	const struct cupti_event event = {.kind = CUPTI_KIND_CUDA_EVENT,
					  .correlation_id = 21,
					  .context_id = 1,
					  .stream_id = 7,
					  .event_id = 5};
	const struct cupti_event alone = {.kind = CUPTI_KIND_CUDA_EVENT,
					  .correlation_id = 22,
					  .context_id = 1,
					  .stream_id = 7,
					  .event_id = 6};

	(void)state;
	begin(18);
	ADD(24, event);
	ADD(24, alone);
	add_call(CUPTI_KIND_RUNTIME, 2, 21);
	decode();
	assert_string_equal(test_name(line(0)), "cudaEventRecord");
	assert_int_equal(line(1)->kind, KYMO_KIND_INSTANT);
	assert_int_equal(line(1)->begin, 190);
	assert_int_equal(test_value(line(1), KY_KEY_EVENT), 5);
	assert_true(line(2)->flags & KYMO_RECORD_UNTIMED);
	assert_int_equal(test_value(line(2), KY_KEY_EVENT), 6);
}

static void a_wait_says_where_its_event_was_recorded(void **state)
{
	const struct cupti_event event = {.kind = CUPTI_KIND_CUDA_EVENT,
					  .correlation_id = 21,
					  .context_id = 1,
					  .stream_id = 7,
					  .event_id = 5};
	struct cupti_sync wait = {.kind = CUPTI_KIND_SYNCHRONIZATION,
				  .type = CUPTI_SYNC_STREAM_WAIT,
				  .start = 200,
				  .end = 210,
				  .correlation_id = 30,
				  .context_id = 1,
				  .stream_id = 8,
				  .event_id = 5};
	const struct kymo_record *unknown;

	(void)state;
	begin(18);
	ADD(24, event);
	ADD(48, wait);
	wait.event_id = 99;
	ADD(48, wait);
	decode();
	assert_string_equal(test_name(line(0)), "Stream Wait Event");
	assert_int_equal(test_value(line(0), KY_KEY_WAIT_STREAM), 7);
	assert_int_equal(test_value(line(0), KY_KEY_WAIT_CORRELATION), 21);
	unknown = line(line(0)->lines);
	assert_true(test_value(unknown, KY_KEY_WAIT_CORRELATION) == UINT64_MAX);
}

static int set_up(void **state)
{
	(void)state;
	test_host_begin();
	ky_source.library.ActivityGetNextRecord = next_record;
	ky_source.library.GetCallbackName = name_call;
	ky_kernel_forget();
	ky_copy_forget();
	ky_place_forget();
	return 0;
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
		cmocka_unit_test(a_record_that_does_not_fit_ends_the_buffer),
		cmocka_unit_test(a_walk_that_stands_still_is_ended),
		cmocka_unit_test(a_kind_that_is_not_known_is_passed_over),
		cmocka_unit_test(the_programs_call_is_the_launch_and_not_the_one_within),
		cmocka_unit_test(only_calls_that_launch_are_launches),
		cmocka_unit_test(a_call_that_failed_has_its_error),
		cmocka_unit_test(copies_are_named_by_where_they_go),
		cmocka_unit_test(a_copy_between_devices_has_both_of_them),
		cmocka_unit_test(an_event_has_the_time_of_the_call_that_recorded_it),
		cmocka_unit_test(a_wait_says_where_its_event_was_recorded),
		/* The last: it uses up what sets there may be. */
		cmocka_unit_test(endless_shapes_do_not_fill_the_dictionary),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
