/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of sources, from create to flush. */
#include "session/source.h"

#include "support/test.h"

#include "session/test_npu.h"

static uint32_t last_state(void)
{
	size_t count;
	const struct ky_state_entry *entry = last_entry(KY_ENTRY_STATE, &count);

	assert_non_null(entry);
	assert_int_equal(entry->source, npu.host->number);
	return entry->state;
}

static const char *last_reason(void)
{
	size_t count;
	const struct ky_state_entry *entry = last_entry(KY_ENTRY_STATE, &count);

	return text_of(entry->reason);
}

/* The first: the source is added, and fails to be created. */
static void a_source_that_cannot_be_created_is_left_out(void **state)
{
	(void)state;
	assert_int_equal(ky_sources_add(&npu_plugin, NULL), KYMO_OK);
	assert_int_equal(ky_sources_add(&npu_plugin, NULL), KYMO_OK);
	assert_string_equal(npu.story, "");
	npu.create_status = KYMO_ERROR_NOT_FOUND;
	begin("");
	assert_string_equal(npu.story, "c");
	assert_int_equal(last_state(), KYMO_STATE_ABSENT);
	assert_string_equal(last_reason(), "no device");
	end();
	assert_string_equal(npu.story, "c");
}

/* Those of clocks that a source has registered. */
static size_t count_anchors(void)
{
	size_t count = 0;

	for (uint64_t i = 0; i < recording->capture.header->anchor_tail; i++)
		count += recording->capture.anchors[i].clock != 0;
	return count;
}

static void a_source_lives_from_create_to_flush(void **state)
{
	(void)state;
	begin("npu");
	assert_string_equal(npu.story, "cps");
	assert_int_equal(npu.epoch, ky_gate()->epoch);
	assert_int_equal(npu.types_wanted, 1);
	assert_int_equal(last_state(), KYMO_STATE_RECORDING);
	ky_sources_end(FAR_NS);
	assert_string_equal(npu.story, "cpsxf");
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, NULL), 2);
	assert_int_equal(count_anchors(), 2); /* of its clock: at its begin and end */
	emit_one();
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, NULL), 2);
	assert_int_equal(ky_gate()->counts[npu.host->number].lost[KYMO_LOST_LATE], 1);
	end_recording();
}

static void a_source_is_created_once(void **state)
{
	(void)state;
	begin("");
	end();
	begin("");
	end();
	assert_string_equal(npu.story, "psxfpsxf");
}

static void what_is_not_wanted_stays_asleep(void **state)
{
	(void)state;
	begin("something,else");
	end();
	assert_string_equal(npu.story, "");
}

static void a_source_that_fails_is_left_out_of_that_session_only(void **state)
{
	(void)state;
	npu.prepare_status = KYMO_ERROR_PERMISSION;
	begin("");
	assert_int_equal(last_state(), KYMO_STATE_DENIED);
	assert_string_equal(last_reason(), "prepare failed: not permitted");
	end();
	assert_string_equal(npu.story, "p");
	npu.prepare_status = KYMO_OK;
	npu.start_status = KYMO_ERROR_BUSY;
	begin("");
	assert_int_equal(last_state(), KYMO_STATE_BUSY);
	emit_one();
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, NULL), 0);
	end();
	assert_string_equal(npu.story, "pps");
	npu.start_status = KYMO_OK;
	begin("");
	end();
	assert_string_equal(npu.story, "ppspsxf");
}

static void what_a_source_says_of_itself_is_not_overwritten(void **state)
{
	(void)state;
	npu.explains = 1;
	npu.start_status = KYMO_ERROR_IO;
	begin("");
	assert_int_equal(last_state(), KYMO_STATE_BUSY);
	assert_string_equal(last_reason(), "taken");
	end();
}

static void a_late_stop_is_waited_for(void **state)
{
	(void)state;
	npu.stop_status = KYMO_AGAIN;
	npu.answers_late = 1;
	begin("");
	ky_sources_end(FAR_NS);
	assert_string_equal(npu.story, "psxf");
	assert_int_equal(last_state(), KYMO_STATE_RECORDING);
	assert_int_equal(count_lines_of_kind(KYMO_KIND_SPAN, NULL), 3);
	pthread_join(npu.thread, NULL);
	end_recording();
}

static void a_stop_that_never_ends_is_not_and_the_source_has_failed(void **state)
{
	uint64_t before;

	(void)state;
	npu.stop_status = KYMO_AGAIN;
	begin("");
	before = ky_monotonic_ns();
	ky_sources_end(before + 50000000u);
	assert_true(ky_monotonic_ns() - before >= 50000000u);
	assert_int_equal(last_state(), KYMO_STATE_FAILED);
	emit_one();
	assert_int_equal(ky_gate()->counts[npu.host->number].lost[KYMO_LOST_LATE], 1);
	end_recording();
}

#define TEST(name) cmocka_unit_test_setup(name, clear_story)

int main(void)
{
	/* In this order: the process has its sources for ever. */
	const struct CMUnitTest tests[] = {
		TEST(a_source_that_cannot_be_created_is_left_out),
		TEST(a_source_lives_from_create_to_flush),
		TEST(a_source_is_created_once),
		TEST(what_is_not_wanted_stays_asleep),
		TEST(a_source_that_fails_is_left_out_of_that_session_only),
		TEST(what_a_source_says_of_itself_is_not_overwritten),
		TEST(a_late_stop_is_waited_for),
		TEST(a_stop_that_never_ends_is_not_and_the_source_has_failed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
