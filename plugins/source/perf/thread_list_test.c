/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The threads that are followed, in children, since a process has one main thread only.
 */
#include "thread_list.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

static int main_ends;
static pid_t another; /* atomic: a thread of the program that waits */

static void *wait_for_ever(void *unused)
{
	__atomic_store_n(&another, gettid(), __ATOMIC_RELEASE);
	pause();
	return unused;
}

static int has_main_ended(void)
{
	char text[256] = "";
	const int fd = open("/proc/self/stat", O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		_exit(3);
	close(fd);
	return strstr(text, ") Z ") != NULL;
}

/* As the thread of the host that starts a source. */
static void *list_as_host(void *unused)
{
	struct perf_threads threads;
	pid_t first = getpid();

	(void)unused;
	pthread_setname_np(pthread_self(), "kymo");
	while (!__atomic_load_n(&another, __ATOMIC_ACQUIRE) ||
	       (main_ends && !has_main_ended()))
		usleep(1000);
	if (main_ends)
		first = another;
	perf_threads_list(&threads);
	for (uint32_t i = 0; i < threads.count; i++)
		if (threads.tid[i] == gettid())
			_exit(2);
	_exit(threads.count == 2u - (unsigned)main_ends &&
			      threads.total == threads.count && threads.tid[0] == first
		      ? 0
		      : 1);
}

static void run(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0 ||
	    pthread_create(&thread, NULL, list_as_host, NULL) != 0)
		_exit(4);
	if (main_ends)
		pthread_exit(NULL);
	pause();
}

static void a_main_thread_that_has_ended_is_not_listed(void **state)
{
	int status;

	(void)state;
#if defined(HAS_THREAD_SANITIZER)
	skip_because("the thread sanitizer ends children that start threads");
#endif
	for (main_ends = 0; main_ends < 2; main_ends++) {
		const pid_t pid = fork();

		assert_true(pid >= 0);
		if (pid == 0)
			run();
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

static void the_calling_thread_is_the_first(void **state)
{
	struct perf_threads threads;

	(void)state;
	perf_threads_list(&threads);
	assert_int_equal(threads.count, 1);
	assert_int_equal(threads.tid[0], gettid());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_calling_thread_is_the_first),
		cmocka_unit_test(a_main_thread_that_has_ended_is_not_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
