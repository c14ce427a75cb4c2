/* SPDX-License-Identifier: BSD-3-Clause */
/* What PM sampling loses, and what it makes of a library that is broken. */
#include "support/test.h"

#include <sys/wait.h>
#include <unistd.h>

#include "pm_test_session.h"

/* ---- What is lost ---- */

static void an_overflow_counts_what_is_missing_between_the_samples(void **state)
{
	(void)state;
	begin_sampling();
	pm_fake_add_samples(4);
	pm_tick();
	pm_fake_lose_samples(25);
	pm_fake_add_samples(3);
	pm_tick();
	end_session();
	assert_int_equal(seen.records, 6);
	assert_int_equal(seen.lost[KYMO_LOST_VENDOR_AT_LEAST], 25);
	assert_string_equal(seen.reason,
			    "PM sampling of GPU 0: at least 25 of 31 samples are lost; 1 "
			    "overflows of its memory, 0 samples that could not be "
			    "evaluated, 0 not decoded in time");
	assert_non_null(strstr(seen.remedy, "pm_interval"));
	assert_int_equal(seen.metadata[LOST], 25);
	assert_int_equal(seen.metadata[OVERFLOWS], 1);
}

static void an_overflow_at_the_end_counts_one_at_least(void **state)
{
	(void)state;
	begin_sampling();
	pm_fake_add_samples(4);
	pm_tick();
	pm_fake_lose_samples(25);
	end_session();
	assert_int_equal(seen.lost[KYMO_LOST_VENDOR_AT_LEAST], 1);
}

static void a_full_memory_of_the_oldest_is_begun_again(void **state)
{
	(void)state;
	pm_fake.chip = "TU102";
	begin_sampling();
	assert_int_equal(pm_fake.append, PM_KEEP_OLDEST);
	pm_fake_add_samples(4);
	pm_fake.is_memory_full = 1;
	pm_tick();
	assert_int_equal(pm_fake.starts, 2);
	pm_fake_lose_samples(6);
	pm_fake.has_overflown = 0; /* it was told already */
	pm_fake_add_samples(4);
	pm_tick();
	end_session();
	assert_int_equal(seen.records, 7);
	assert_int_equal(seen.lost[KYMO_LOST_VENDOR_AT_LEAST], 6);
}

static void samples_without_usable_times_are_flagged(void **state)
{
	(void)state;
	begin_sampling();
	pm_fake_add_samples(3);
	pm_tick();
	pm_fake.zero_times = 1;
	pm_fake_add_samples(2);
	end_session();
	assert_int_equal(seen.records, 4);
	assert_int_equal(seen.untimed, 1);
}

static void what_cannot_be_evaluated_is_counted(void **state)
{
	(void)state;
	begin_sampling();
	pm_fake_add_samples(10);
	pm_fake.failing = "host_evaluate";
	pm_fake.rc = 999;
	pm_fake.fails_only = 3;
	pm_tick();
	end_session();
	assert_int_equal(seen.records, 6); /* three of ten, and the first */
	assert_int_equal(seen.lost[KYMO_LOST_VENDOR], 3);
	assert_non_null(strstr(seen.reason, "3 samples that could not be evaluated"));
	assert_string_equal(seen.remedy, "");
}

static void a_decoding_that_fails_ends_the_device_alone(void **state)
{
	(void)state;
	begin_sampling();
	pm_seen(1);
	pm_tick();
	pm_fake.failing = "decode";
	pm_fake.rc = 999;
	pm_fake.fails_only = 1;
	pm_tick();
	assert_non_null(strstr(seen.reason, "the end of PM sampling of GPU 0: "
					    "cuptiPmSamplingDecodeData failed"));
	assert_int_equal(seen.lost[KYMO_LOST_VENDOR_AT_LEAST], 1);
	pm_fake_add_samples(4);
	end_session();
	assert_int_equal(seen.records, 3);
	assert_int_equal(seen.told, 1);
}

static void more_than_one_image_holds_is_decoded_in_rounds(void **state)
{
	(void)state;
	begin_sampling();
	pm_fake_add_samples(10000); /* an image has 4096 */
	end_session();
	assert_int_equal(seen.records, 9999);
}

static void a_stop_ends_at_its_deadline_and_counts_the_rest(void **state)
{
	uint64_t begin_ns;

	(void)state;
	begin_sampling();
	pm_fake_add_samples(100);
	pm_fake.is_endless = 1;
	begin_ns = ky_monotonic_ns();
	pm_stop(begin_ns + SECOND / 50);
	assert_true(ky_monotonic_ns() - begin_ns >= SECOND / 50);
	assert_true(seen.lost[KYMO_LOST_PENDING] >= 1);
}

static void a_stop_gives_up_on_a_device_that_does_not_get_on(void **state)
{
	(void)state;
	begin_sampling();
	pm_fake_add_samples(5);
	pm_fake.stops_early = 1;
	pm_stop(UINT64_MAX);
	assert_int_equal(seen.records, 4);
	assert_true(seen.lost[KYMO_LOST_PENDING] >= 1);
	assert_int_equal(seen.metadata[EARLY_ENDS], 2);
}

static void a_pause_throws_samples_away_and_counts_none(void **state)
{
	(void)state;
	begin_sampling();
	pm_fake_add_samples(5);
	pm_pause(1);
	pm_fake_add_samples(50);
	pm_tick();
	pm_fake_lose_samples(50);
	pm_fake_add_samples(1);
	pm_pause(0);
	pm_fake_add_samples(5);
	end_session();
	assert_int_equal(seen.records, 9);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(seen.lost[i], 0);
}

/* ---- What may come of a library that is broken ---- */

static void sizes_beyond_reason_are_refused(void **state)
{
	static const char *const calls[] = {"availability", "host_image_size",
					    "data_size"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		begin_test(NULL);
		pm_fake.huge = calls[i];
		begin_session();
		pm_seen(0);
		pm_tick();
		assert_int_equal(seen.told, 1);
		assert_int_equal(pm_fake.running, 0);
		assert_int_equal(end_test(NULL), 0);
	}
}

static void an_image_that_does_not_fit_holds_fewer_samples(void **state)
{
	(void)state;
	pm_fake.sample_size = 64 << 10;
	begin_sampling();
	assert_int_equal(pm_fake.max_samples, 512); /* 32 MiB */
	end_session();
}

static void more_samples_than_the_image_has_are_not_believed(void **state)
{
	(void)state;
	begin_sampling();
	pm_fake.claims = SIZE_MAX;
	pm_tick();
	assert_int_equal(seen.records, 4095);
	pm_fake.claims = 0;
	end_session();
}

static int is_silent_in_a_child(void)
{
	pm_fake.calls = 0;
	pm_forked();
	pm_tick();
	pm_stop(0);
	pm_release();
	return pm_fake.calls == 0 && pm_period() == 0;
}

static void a_forked_child_inherits_nothing_and_calls_nobody(void **state)
{
	int status = -1;
	pid_t child;

	(void)state;
	begin_sampling();
	child = fork();
	if (child == 0)
		_exit(is_silent_in_a_child() ? 0 : 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	end_session();
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_overflow_counts_what_is_missing_between_the_samples),
		CASE(an_overflow_at_the_end_counts_one_at_least),
		CASE(a_full_memory_of_the_oldest_is_begun_again),
		CASE(samples_without_usable_times_are_flagged),
		CASE(what_cannot_be_evaluated_is_counted),
		CASE(a_decoding_that_fails_ends_the_device_alone),
		CASE(more_than_one_image_holds_is_decoded_in_rounds),
		CASE(a_stop_ends_at_its_deadline_and_counts_the_rest),
		CASE(a_stop_gives_up_on_a_device_that_does_not_get_on),
		CASE(a_pause_throws_samples_away_and_counts_none),
		CASE(sizes_beyond_reason_are_refused),
		CASE(an_image_that_does_not_fit_holds_fewer_samples),
		CASE(more_samples_than_the_image_has_are_not_believed),
		CASE(a_forked_child_inherits_nothing_and_calls_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
