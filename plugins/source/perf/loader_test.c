/* SPDX-License-Identifier: BSD-3-Clause */
#include "loader.h"

#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

#define FORKS 300

static atomic_int looks, is_over;

static void *look(void *unused)
{
	while (!atomic_load(&is_over)) {
		perf_loader_unloads();
		atomic_fetch_add(&looks, 1);
	}
	return unused;
}

static int end(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)info, (void)size, (void)context;
	return 1;
}

static void a_child_may_ask_the_loader_whenever_it_was_forked(void **state)
{
	pthread_t thread;

	(void)state;
#if defined(HAS_THREAD_SANITIZER)
	skip_because("the thread sanitizer has locks of its own around forks");
#endif
	assert_int_equal(pthread_create(&thread, NULL, look, NULL), 0);
	for (int i = 0; i < FORKS; i++) {
		const int before = atomic_load(&looks);
		int status = -1;
		pid_t pid;

		while (atomic_load(&looks) == before)
			usleep(50);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			alarm(30);
			dl_iterate_phdr(end, NULL);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	atomic_store(&is_over, 1);
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_may_ask_the_loader_whenever_it_was_forked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
