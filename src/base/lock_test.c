/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/test.h"

#include <errno.h>
#include <pthread.h>

#include "base/lock.h"

#define THREADS 8
#define ROUNDS  20000

static uint32_t word;
static uint64_t counter;

static void *add(void *context)
{
	for (int i = 0; i < ROUNDS; i++) {
		ky_lock(&word);
		counter++;
		ky_unlock(&word);
	}
	return context;
}

static void only_one_thread_is_inside(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(counter, THREADS * ROUNDS);
	assert_int_equal(word, 0);
}

static void errno_is_kept(void **state)
{
	(void)state;
	errno = ERANGE;
	ky_lock(&word);
	ky_unlock(&word);
	assert_int_equal(errno, ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_one_thread_is_inside),
		cmocka_unit_test(errno_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
