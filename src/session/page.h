/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What of sources and sessions must be as new in a forked child: it lies behind
 * struct ky_gate_page on the page that the kernel wipes there. So a child has no timer,
 * no drain at exit, no session and no held lock, until it asks for one itself.
 */
#ifndef KYMO_SESSION_PAGE_H
#define KYMO_SESSION_PAGE_H

#include "base/gate_page.h"

#include <kymo/plugin.h>

#define KY_SOURCES_MAX 32u /* instances in one process */
#define KY_DRAINS_MAX  48u /* at exit, of all sources */

struct kymo_session;

struct ky_timer {
	struct kymo_source_host *host; /* NULL: free */
	uint64_t period_ns, due_ns;    /* a period of 0: it is not set */
	kymo_tick_fn tick;
	void *source;
	uint32_t is_open; /* its source is between start and stop */
	uint32_t reserved0;
};

struct ky_drain {
	struct kymo_source_host *host;
	kymo_drain_fn drain;
	void *source;
};

struct ky_session_page {
	uint32_t host_lock;    /* registrations of all hosts, and their buffers */
	uint32_t mark_lock;    /* keys of marks */
	uint32_t range_lock;   /* which range is to be recorded */
	uint32_t stage_lock;   /* stages that observers are to be told of */
	uint32_t stage_holder; /* the thread whose notes wait until it lets go, or 0 */
	uint32_t timer_lock;   /* timers, timer_runs, timer_tid and ticking */
	uint32_t timer_change; /* futex of the timer thread */
	uint32_t timer_runs;   /* 1: there is a timer thread */
	uint32_t timer_tid;    /* its number */
	uint32_t tick_ends;    /* futex of whoever waits for the end of a tick */
	uint32_t drain_lock;   /* drains, drain_count and exit_deadline_ns */
	uint32_t drain_count;

	uint32_t sources_known;  /* 1: this process has told its sources that it is new */
	uint32_t sources_active; /* 1: between ky_sources_begin and ky_sources_end */
	uint32_t sources_epoch;  /* this and the next: read without the lock, too */
	uint32_t sources_paused; /* 1: those that can are to rest */
	uint32_t sources_left;   /* 1: the process exits, and nobody enters them */
	uint32_t types_lock;     /* the list of wanted activity types */
	uint32_t source_change;  /* futex of whoever waits for a source to be left */
	uint64_t sources_deadline_ns;
	uint64_t exit_deadline_ns;              /* of all drains; 0: none has run */
	const struct kymo_source_host *ticking; /* whose tick is under way, or NULL */

	struct kymo_session
		*session; /* the program's own that is prepared or recording */
	struct kymo_session *mirrored; /* whose capture the dictionary is copied into */

	uint32_t client_lock;    /* its registration */
	uint32_t client_is_busy; /* 1: with a snapshot of its memory */
	uint32_t session_change; /* futex of whoever waits for the users of a session */
	uint32_t save_change;    /* futex of whoever waits for a save */
	uint32_t request_lock;   /* the request under way, and those that ended */
	uint32_t request_change; /* futex of whoever waits for it to go on */
	uint32_t request_runs;   /* 1: there is a thread for it */
	uint32_t request_tid;    /* its number */
	uint32_t request_exits;  /* 1: an exit handler is there for it; 2: it has run */
	uint32_t request_steps;  /* 1: it goes by iterations, and waits for one */
	uint64_t iterations;     /* that the program has told of */

	uint64_t recorder_start_time;
	uint32_t recorder; /* process that records this one from outside; 0: not known */
	uint32_t reserved0;

	struct ky_timer timers[KY_SOURCES_MAX];
	struct ky_drain drains[KY_DRAINS_MAX]; /* the last registered last */
};

#define KY_SESSION_PAGE_OFFSET 1024

KYMO_STATIC_ASSERT(sizeof(struct ky_gate_page) <= KY_SESSION_PAGE_OFFSET);
KYMO_STATIC_ASSERT(KY_SESSION_PAGE_OFFSET + sizeof(struct ky_session_page) <=
		   KYMO_GATE_SIZE);

static inline struct ky_session_page *ky_session_page(void)
{
	return (struct ky_session_page
			*)(void *)&ky_gate_memory[KY_SESSION_PAGE_OFFSET / 4];
}

#endif
