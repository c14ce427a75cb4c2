/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread serves the timers of all sources. It is there only while a timer may tick,
 * and blocks every signal, so that the program's handlers never run on it. The timers lie
 * on the wiped page: a forked child has none, and no thread, until a source asks again.
 *
 * A timer ticks while it is open: from the end of its source's start to the beginning of
 * its stop, where whoever closes it waits for a tick that is under way. So a tick never
 * overlaps an operation, without either knowing of the other.
 */
#include "session/host.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/thread.h"
#include "capture/lease.h"

#define PERIOD_MIN_NS 10000u /* 10 us: below it the thread would do nothing else */
#define PERIOD_MAX_NS ((uint64_t)INT64_MAX / 2) /* can be added to the time of now */

static uint32_t own_tid(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static int may_tick(const struct ky_timer *timer)
{
	return timer->host && timer->is_open && timer->period_ns != 0;
}

/* The timer that is due first, or NULL if none is to tick. */
static struct ky_timer *find_first(struct ky_session_page *page)
{
	struct ky_timer *first = NULL;

	for (uint32_t i = 0; i < KY_SOURCES_MAX; i++) {
		struct ky_timer *timer = &page->timers[i];

		if (may_tick(timer) && (!first || timer->due_ns < first->due_ns))
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

static void serve_timers(void *context)
{
	struct ky_session_page *page = ky_session_page();

	(void)context;
	ky_lock(&page->timer_lock);
	page->timer_tid = own_tid();
	for (;;) {
		struct ky_timer *first = find_first(page), timer;
		uint32_t seen = __atomic_load_n(&page->timer_change, __ATOMIC_RELAXED);
		uint64_t now = ky_monotonic_ns();

		if (!first)
			break;
		timer = *first;
		if (timer.due_ns > now) {
			ky_unlock(&page->timer_lock);
			ky_wait_for_change(&page->timer_change, seen, timer.due_ns);
			ky_lock(&page->timer_lock);
			continue;
		}
		set_next(first, now);
		page->ticking = timer.host;
		ky_unlock(&page->timer_lock);
		timer.tick(timer.source, ky_ticks());
		ky_lock(&page->timer_lock);
		page->ticking = NULL;
		ky_tell_change(&page->tick_ends);
	}
	page->timer_tid = 0;
	page->timer_runs = 0;
	ky_unlock(&page->timer_lock);
}

/* timer_lock held. */
static int32_t start_thread(struct ky_session_page *page)
{
	int32_t status = KYMO_OK;

	if (!page->timer_runs)
		status = ky_thread_start(serve_timers, NULL);
	page->timer_runs = status == KYMO_OK;
	return status;
}

/* Begins to count its period, if it is to tick. timer_lock held. */
static int32_t arm(struct ky_session_page *page, struct ky_timer *timer)
{
	if (!may_tick(timer))
		return KYMO_OK;
	timer->due_ns = ky_monotonic_ns() + timer->period_ns;
	return start_thread(page);
}

/*
 * Waits for a tick of the source that is under way, unless it is the caller; false if it
 * has not ended by then. timer_lock held, but for the waiting.
 */
static int wait_for_tick(struct ky_session_page *page,
			 const struct kymo_source_host *host, uint64_t deadline_ns)
{
	while (page->ticking == host && page->timer_tid != own_tid()) {
		uint32_t seen = __atomic_load_n(&page->tick_ends, __ATOMIC_RELAXED);

		if (ky_monotonic_ns() >= deadline_ns)
			return 0;
		ky_unlock(&page->timer_lock);
		ky_wait_for_change(&page->tick_ends, seen, deadline_ns);
		ky_lock(&page->timer_lock);
	}
	return 1;
}

/* The source's timer, a free place made its own, or NULL. timer_lock held. */
static struct ky_timer *find_place(struct ky_session_page *page,
				   struct kymo_source_host *host)
{
	struct ky_timer *place = NULL;

	for (uint32_t i = 0; i < KY_SOURCES_MAX; i++) {
		if (page->timers[i].host == host)
			return &page->timers[i];
		if (!page->timers[i].host && !place)
			place = &page->timers[i];
	}
	if (place)
		*place = (struct ky_timer){.host = host};
	return place;
}

int32_t ky_host_timer(struct kymo_source_host *host, uint64_t period_ns,
		      kymo_tick_fn tick, void *source)
{
	struct ky_session_page *page = ky_session_page();
	int32_t status = KYMO_ERROR_NO_MEMORY;
	struct ky_timer *timer;
	int kept = errno;

	if (period_ns != 0 &&
	    (!tick || period_ns < PERIOD_MIN_NS || period_ns > PERIOD_MAX_NS))
		return KYMO_ERROR_INVALID;
	ky_lock(&page->timer_lock);
	timer = find_place(page, host);
	if (timer) {
		timer->period_ns = period_ns;
		timer->tick = tick;
		timer->source = source;
		status = arm(page, timer);
		if (status != KYMO_OK)
			timer->period_ns = 0;
		ky_tell_change(&page->timer_change);
		if (period_ns == 0)
			wait_for_tick(page, host, UINT64_MAX);
	}
	ky_unlock(&page->timer_lock);
	errno = kept;
	return status;
}

int32_t ky_host_open_timer(struct kymo_source_host *host)
{
	struct ky_session_page *page = ky_session_page();
	int32_t status = KYMO_ERROR_NO_MEMORY;
	struct ky_timer *timer;

	ky_lock(&page->timer_lock);
	timer = find_place(page, host);
	if (timer) {
		timer->is_open = 1;
		status = arm(page, timer);
		ky_tell_change(&page->timer_change);
	}
	ky_unlock(&page->timer_lock);
	return status;
}

int ky_host_close_timer(struct kymo_source_host *host, uint64_t deadline_ns)
{
	struct ky_session_page *page = ky_session_page();
	struct ky_timer *timer;
	int has_ended;

	ky_lock(&page->timer_lock);
	timer = find_place(page, host);
	if (timer) {
		timer->is_open = 0;
		ky_tell_change(&page->timer_change);
	}
	has_ended = wait_for_tick(page, host, deadline_ns);
	ky_unlock(&page->timer_lock);
	return has_ended;
}
