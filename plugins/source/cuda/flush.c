/* SPDX-License-Identifier: BSD-3-Clause */
#include "flush.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "buffer.h"
#include "clock.h"

/* A call of the runtime ends as soon as the driver's in it has. */
#define SETTLED_NS 10000000u

#define LEAST_NS 10000000u /* also where no time is left: most flushes take less */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* what stands below */
static pthread_cond_t done;
static int has_condition, is_running;
static uint32_t wanted_flags;
static int32_t result;
static uint64_t last_ns; /* when the last one began */

static void *run(void *data)
{
	int32_t rc = ky_source.library.ActivityFlushAll(wanted_flags);

	(void)data;
	ky_buffer_settle(SETTLED_NS);
	pthread_mutex_lock(&lock);
	result = rc;
	is_running = 0;
	pthread_cond_broadcast(&done);
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Deaf to the program's signals. */
static int start_thread(void)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	failed = pthread_create(&thread, &attributes, run, NULL);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !failed;
}

static void make_condition(void)
{
	pthread_condattr_t attributes;

	if (has_condition)
		return;
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&done, &attributes);
	pthread_condattr_destroy(&attributes);
	has_condition = 1;
}

static struct timespec not_before(uint64_t deadline_ns)
{
	const uint64_t least = ky_monotonic_ns() + LEAST_NS;

	if (deadline_ns < least)
		deadline_ns = least;
	return (struct timespec){(time_t)(deadline_ns / 1000000000u),
				 (long)(deadline_ns % 1000000000u)};
}

/* `lock` held; whether no flush is under way when it returns. */
static int wait_for_end(const struct timespec *until)
{
	while (is_running)
		if (pthread_cond_timedwait(&done, &lock, until) != 0)
			break;
	return !is_running;
}

/* `lock` held, and none is under way. */
static int begin(uint32_t flags)
{
	make_condition();
	wanted_flags = flags;
	last_ns = ky_monotonic_ns();
	is_running = 1;
	if (!start_thread())
		is_running = 0;
	return is_running;
}

int32_t ky_flush(uint32_t flags, uint64_t deadline_ns)
{
	const struct timespec until = not_before(deadline_ns);
	int32_t status = KYMO_ERROR_BUSY;

	pthread_mutex_lock(&lock);
	if (!wait_for_end(&until))
		goto out;
	if (!begin(flags)) {
		status = KYMO_ERROR_NO_MEMORY;
		goto out;
	}
	if (wait_for_end(&until))
		status = result == CUPTI_RC_SUCCESS ? KYMO_OK : KYMO_ERROR_IO;
out:
	pthread_mutex_unlock(&lock);
	return status;
}

void ky_flush_when_due(uint64_t period_ns)
{
	pthread_mutex_lock(&lock);
	if (period_ns > 0 && !is_running && ky_monotonic_ns() - last_ns >= period_ns)
		begin(0);
	pthread_mutex_unlock(&lock);
}

int32_t ky_flush_result(void)
{
	int32_t answer;

	pthread_mutex_lock(&lock);
	answer = result;
	pthread_mutex_unlock(&lock);
	return answer;
}

int ky_flush_is_hung(void)
{
	int answer;

	pthread_mutex_lock(&lock);
	answer = is_running;
	pthread_mutex_unlock(&lock);
	return answer;
}

void ky_flush_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	has_condition = is_running = 0;
}
