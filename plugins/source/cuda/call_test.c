/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"
#include "test_record.h"

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

static void a_call_that_waits_is_handed_over_when_it_ended_long_ago(void **state)
{
	(void)state;
	begin(130001);
	add_call(CUPTI_KIND_DRIVER, 1, 11);
	decode_some(made.size);
	ky_decode_settle(189);
	assert_int_equal(test_host.line_count, 0);
	ky_decode_settle(190);
	assert_int_equal(test_host.line_count, 1);
	assert_int_equal(line(0)->flags, KYMO_RECORD_ORIGIN);
	ky_decode_end();
	assert_int_equal(test_host.line_count, 1);
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

static void a_context_that_nobody_told_of_is_on_the_device_of_its_work(void **state)
{
	struct cupti_kernel kernel = kernel_of("k", 1);
	const struct cupti_memset fill = {.kind = CUPTI_KIND_MEMSET,
					  .start = 200,
					  .end = 300,
					  .device_id = 4,
					  .context_id = 10};

	(void)state;
	kernel.device_id = 3;
	kernel.context_id = 9;
	begin(18);
	ADD(144, kernel);
	ADD(88, fill);
	decode();
	assert_int_equal(ky_place_context_device(9), 3);
	assert_int_equal(ky_place_context_device(10), 4);
	assert_int_equal(ky_place_context_device(11), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_programs_call_is_the_launch_and_not_the_one_within),
		cmocka_unit_test(a_call_that_waits_is_handed_over_when_it_ended_long_ago),
		cmocka_unit_test(only_calls_that_launch_are_launches),
		cmocka_unit_test(a_call_that_failed_has_its_error),
		cmocka_unit_test(an_event_has_the_time_of_the_call_that_recorded_it),
		cmocka_unit_test(a_wait_says_where_its_event_was_recorded),
		cmocka_unit_test(
			a_context_that_nobody_told_of_is_on_the_device_of_its_work),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
