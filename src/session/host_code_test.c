/* SPDX-License-Identifier: BSD-3-Clause */
/* Not for the thread sanitizer, which uses dl_iterate_phdr before it is ready itself. */
#include "session/host.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

typedef int (*visit_fn)(struct dl_phdr_info *info, size_t size, void *context);

static int is_tested, is_inside, may_leave, has_forked;

static int load(const int *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void store(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/* In the place of libc's: a thread can be in there for as long as the test likes. */
int dl_iterate_phdr(visit_fn visit, void *context)
{
	int (*next)(visit_fn, void *);

	*(void **)&next = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	if (load(&is_tested)) {
		store(&is_inside, 1);
		while (!load(&may_leave))
			usleep(1000);
	}
	return next ? next(visit, context) : 0;
}

static void *look_up(void *data)
{
	ky_host_code(NULL, data);
	return NULL;
}

static void *fork_once(void *data)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	store(&has_forked, 1);
	return waitpid(pid, &status, 0) == pid && status == 0 ? data : NULL;
}

static void a_fork_waits_while_a_thread_looks_up_an_address(void **state)
{
	pthread_t looks, forks;
	void *done = NULL;

	(void)state;
	store(&is_tested, 1);
	assert_int_equal(pthread_create(&looks, NULL, look_up, &is_tested), 0);
	while (!load(&is_inside))
		usleep(1000);
	assert_int_equal(pthread_create(&forks, NULL, fork_once, &is_tested), 0);
	usleep(50000);
	assert_int_equal(load(&has_forked), 0);
	store(&may_leave, 1);
	pthread_join(looks, NULL);
	pthread_join(forks, &done);
	assert_non_null(done);
	store(&is_tested, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fork_waits_while_a_thread_looks_up_an_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
