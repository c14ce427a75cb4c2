/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread serves the timers of all sources. It is there only while a timer is set, and
 * blocks every signal, so that the program's handlers never run on it. The timers lie on
 * the wiped page: a forked child has none, and no thread, until a source asks again.
 *
 * A tick may still be under way in that thread when its timer is stopped elsewhere: to
 * wait for it would lock up a source that stops the timer under a lock which the tick
 * takes as well.
 */
#include "session/host.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "capture/lease.h"

#define PERIOD_MIN_NS 10000u /* 10 us: below it the thread would do nothing else */

/* Waits until `due_ns` or until the timers change. */
static void wait_for(uint32_t *change, uint32_t seen, uint64_t due_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(due_ns / 1000000000u),
		.tv_nsec = (long)(due_ns % 1000000000u),
	};

	/* FUTEX_WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC. */
	syscall(SYS_futex, change, FUTEX_WAIT_BITSET_PRIVATE, seen, &until, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

/* The timer that is due first, or NULL if none is set. */
static struct ky_timer *find_first(struct ky_session_page *page)
{
	struct ky_timer *first = NULL;

	for (uint32_t i = 0; i < KY_SOURCES_MAX; i++) {
		struct ky_timer *timer = &page->timers[i];

		if (timer->host && (!first || timer->due_ns < first->due_ns))
			first = timer;
	}
	return first;
}

/* One that is late ticks once, not as often as it missed. */
static void set_next(struct ky_timer *timer, uint64_t now)
{
	timer->due_ns += timer->period_ns;
	if (timer->due_ns <= now)
		timer->due_ns = now + timer->period_ns;
}

static void *serve_timers(void *context)
{
	struct ky_session_page *page = ky_session_page();

	(void)context;
	pthread_setname_np(pthread_self(), "kymo");
	ky_lock(&page->timer_lock);
	for (;;) {
		struct ky_timer *first = find_first(page), timer;
		uint32_t seen = page->timer_change;
		uint64_t now = ky_monotonic_ns();

		if (!first)
			break;
		timer = *first;
		if (timer.due_ns <= now)
			set_next(first, now);
		ky_unlock(&page->timer_lock);
		if (timer.due_ns <= now)
			timer.tick(timer.source, ky_ticks());
		else
			wait_for(&page->timer_change, seen, timer.due_ns);
		ky_lock(&page->timer_lock);
	}
	page->timer_runs = 0;
	ky_unlock(&page->timer_lock);
	return NULL;
}

static int32_t start_thread(void)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int number = pthread_attr_init(&attributes);

	if (number != 0)
		return KYMO_ERROR_NO_MEMORY;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	/* The new thread inherits the mask, so no signal can come in between. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	number = pthread_create(&thread, &attributes, serve_timers, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return number == 0 ? KYMO_OK : KYMO_ERROR_NO_MEMORY;
}

/* The source's timer, or a free place for it, or NULL. */
static struct ky_timer *find_place(struct ky_session_page *page,
				   const struct kymo_source_host *host)
{
	struct ky_timer *place = NULL;

	for (uint32_t i = 0; i < KY_SOURCES_MAX; i++) {
		if (page->timers[i].host == host)
			return &page->timers[i];
		if (!page->timers[i].host && !place)
			place = &page->timers[i];
	}
	return place;
}

int32_t ky_host_timer(struct kymo_source_host *host, uint64_t period_ns,
		      void (*tick)(void *source, uint64_t now), void *source)
{
	struct ky_session_page *page = ky_session_page();
	struct ky_timer *timer;
	int32_t status = KYMO_OK;
	int kept = errno;

	if (period_ns != 0 && (!tick || period_ns < PERIOD_MIN_NS))
		return KYMO_ERROR_INVALID;
	ky_lock(&page->timer_lock);
	timer = find_place(page, host);
	if (!timer) {
		status = KYMO_ERROR_NO_MEMORY;
	} else if (period_ns == 0) {
		*timer = (struct ky_timer){.host = NULL};
	} else {
		*timer = (struct ky_timer){
			.host = host,
			.period_ns = period_ns,
			.due_ns = ky_monotonic_ns() + period_ns,
			.tick = tick,
			.source = source,
		};
		if (!page->timer_runs)
			status = start_thread();
		if (status == KYMO_OK)
			page->timer_runs = 1;
		else
			*timer = (struct ky_timer){.host = NULL};
	}
	page->timer_change++;
	syscall(SYS_futex, &page->timer_change, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	ky_unlock(&page->timer_lock);
	errno = kept;
	return status;
}
