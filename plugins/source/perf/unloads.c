/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loader tells it under a lock that a forked child inherits as it is: one that is
 * forked while we are in there waits in its own dlopen for ever. We look a hundred times
 * a second, so forks wait for us, and we do not look while there is one.
 */
#include "unloads.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define NAP_NS    100000
#define NAPS_MOST 1000

static uint32_t count;
static atomic_uint forks, is_looking;

/* Not for ever: who forks may hold that lock. */
static void wait_for_look(void)
{
	const int kept = errno;

	atomic_fetch_add(&forks, 1);
	for (int i = 0; i < NAPS_MOST && atomic_load(&is_looking); i++)
		nanosleep(&(struct timespec){0, NAP_NS}, NULL);
	errno = kept;
}

static void go_on(void)
{
	atomic_fetch_sub(&forks, 1);
}

static void begin_in_child(void)
{
	atomic_store(&forks, 0);
	atomic_store(&is_looking, 0);
}

static void guard_forks(void)
{
	pthread_atfork(wait_for_look, go_on, begin_in_child);
}

static int take(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size, (void)context;
	count = (uint32_t)info->dlpi_subs;
	return 1;
}

uint32_t perf_unloads(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, guard_forks);
	atomic_store(&is_looking, 1);
	if (atomic_load(&forks) == 0)
		dl_iterate_phdr(take, NULL);
	atomic_store(&is_looking, 0);
	return count;
}
