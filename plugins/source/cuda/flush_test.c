/* SPDX-License-Identifier: BSD-3-Clause */
#include "flush.h"

#include <time.h>
#include <unistd.h>

#include "support/test.h"

/* What the library's function is to do; it is still in it where it hangs. */
enum behaviour { AT_ONCE, WITH_ERROR, SLOWLY };

static atomic_int behaviour;
static atomic_uint has_begun, may_end, calls;

static int32_t flush(uint32_t flags)
{
	switch (atomic_load(&behaviour)) {
	case WITH_ERROR:
		return CUPTI_RC_UNKNOWN;
	case SLOWLY:
		atomic_store(&has_begun, 1);
		while (!atomic_load(&may_end))
			usleep(1000);
		return CUPTI_RC_SUCCESS;
	default:
		atomic_fetch_add(&calls, 1 + flags);
		return CUPTI_RC_SUCCESS;
	}
}

static int32_t get_timestamp(uint64_t *time)
{
	*time = 1;
	return CUPTI_RC_SUCCESS;
}

static uint64_t in_ms(uint64_t ms)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + ms * 1000000u;
}

static void a_flush_is_made_with_its_flags(void **state)
{
	(void)state;
	atomic_store(&behaviour, AT_ONCE);
	assert_int_equal(ky_flush(CUPTI_FLUSH_FORCED, in_ms(10000)), KYMO_OK);
	assert_int_equal(atomic_load(&calls), 2);
	/* Even where the deadline is over; a busy machine may not see its end in time. */
	ky_flush(0, 0);
	assert_int_equal(ky_flush(0, in_ms(10000)), KYMO_OK);
	assert_int_equal(atomic_load(&calls), 4);
}

static void an_error_is_told(void **state)
{
	(void)state;
	atomic_store(&behaviour, WITH_ERROR);
	assert_int_equal(ky_flush(0, in_ms(10000)), KYMO_ERROR_IO);
}

static void one_that_does_not_return_is_given_up_and_the_next_waits_for_it(void **state)
{
	(void)state;
	atomic_store(&behaviour, SLOWLY);
	assert_int_equal(ky_flush(0, in_ms(30)), KYMO_ERROR_BUSY);
	assert_true(ky_flush_is_hung());
	while (!atomic_load(&has_begun))
		usleep(1000);
	atomic_store(&behaviour, AT_ONCE);
	assert_int_equal(ky_flush(0, in_ms(30)), KYMO_ERROR_BUSY);
	assert_int_equal(atomic_load(&calls), 4);
	atomic_store(&may_end, 1);
	assert_int_equal(ky_flush(0, in_ms(10000)), KYMO_OK);
}

static void a_tick_flushes_when_it_is_due_and_waits_for_nothing(void **state)
{
	unsigned before;

	(void)state;
	atomic_store(&behaviour, AT_ONCE);
	assert_int_equal(ky_flush(0, in_ms(10000)), KYMO_OK);
	before = atomic_load(&calls);
	ky_flush_when_due(0);
	ky_flush_when_due(60000000000u);
	assert_int_equal(atomic_load(&calls), before);
	ky_flush_when_due(1);
	while (atomic_load(&calls) == before)
		usleep(1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_flush_is_made_with_its_flags),
		cmocka_unit_test(an_error_is_told),
		cmocka_unit_test(
			one_that_does_not_return_is_given_up_and_the_next_waits_for_it),
		cmocka_unit_test(a_tick_flushes_when_it_is_due_and_waits_for_nothing),
	};

	ky_source.library.ActivityFlushAll = flush;
	ky_source.library.GetTimestamp = get_timestamp;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
