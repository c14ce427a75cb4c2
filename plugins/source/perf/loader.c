/* SPDX-License-Identifier: BSD-3-Clause */
#include "loader.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* Nobody waits for ever: who forks may hold the loader's lock, or be who asks. */
#define NAP_NS    100000
#define NAPS_MOST 1000

static atomic_uint forks, is_within;

static void nap(void)
{
	nanosleep(&(struct timespec){0, NAP_NS}, NULL);
}

static void begin_fork(void)
{
	const int kept = errno;

	atomic_fetch_add(&forks, 1);
	for (int i = 0; i < NAPS_MOST && atomic_load(&is_within); i++)
		nap();
	errno = kept;
}

static void end_fork(void)
{
	atomic_fetch_sub(&forks, 1);
}

static void begin_in_child(void)
{
	atomic_store(&forks, 0);
	atomic_store(&is_within, 0);
}

static void guard_forks(void)
{
	pthread_atfork(begin_fork, end_fork, begin_in_child);
}

void perf_loader_enter(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, guard_forks);
	atomic_store(&is_within, 1);
	for (int i = 0; i < NAPS_MOST && atomic_load(&forks) > 0; i++) {
		atomic_store(&is_within, 0);
		nap();
		atomic_store(&is_within, 1);
	}
}

void perf_loader_leave(void)
{
	atomic_store(&is_within, 0);
}

static int take_unloads(struct dl_phdr_info *info, size_t size, void *unloads)
{
	(void)size;
	*(uint32_t *)unloads = (uint32_t)info->dlpi_subs;
	return 1;
}

uint32_t perf_loader_unloads(void)
{
	uint32_t unloads = 0;

	perf_loader_enter();
	dl_iterate_phdr(take_unloads, &unloads);
	perf_loader_leave();
	return unloads;
}
