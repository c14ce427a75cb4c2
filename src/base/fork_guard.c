/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/fork_guard.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/lock.h"

#define NAP_NS    1000000
#define NAPS_MOST 1000

static uint32_t lock;
static pid_t forking; /* the thread that holds it for its fork, or 0; atomic */

static pid_t this_thread(void)
{
	return (pid_t)syscall(SYS_gettid);
}

/*
 * Not for ever: a fork from a signal handler may wait for its own thread. It goes on then
 * as without us.
 */
static void wait_for_all(void)
{
	const int kept = errno;

	/* Twice if a fork has torn the registration of these handlers. */
	if (__atomic_load_n(&forking, __ATOMIC_RELAXED) == this_thread())
		return;
	for (int i = 0; i < NAPS_MOST; i++) {
		if (ky_try_lock(&lock)) {
			__atomic_store_n(&forking, this_thread(), __ATOMIC_RELAXED);
			break;
		}
		nanosleep(&(struct timespec){0, NAP_NS}, NULL);
	}
	errno = kept;
}

static void let_go(void)
{
	if (__atomic_load_n(&forking, __ATOMIC_RELAXED) != this_thread())
		return;
	__atomic_store_n(&forking, 0, __ATOMIC_RELAXED);
	ky_unlock(&lock);
}

/* Whoever holds it, in the child he does not exist. */
static void begin_in_child(void)
{
	__atomic_store_n(&forking, 0, __ATOMIC_RELAXED);
	ky_unlock(&lock);
}

static void guard_forks(void)
{
	pthread_atfork(wait_for_all, let_go, begin_in_child);
}

void ky_fork_guard_enter(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, guard_forks);
	ky_lock(&lock);
}

void ky_fork_guard_leave(void)
{
	ky_unlock(&lock);
}

int ky_at_exit(void (*handler)(void))
{
	int failed;

	ky_fork_guard_enter();
	failed = atexit(handler);
	ky_fork_guard_leave();
	return failed;
}
