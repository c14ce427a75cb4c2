/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each thread has: the constructs that are open in it, innermost last, and whether
 * it is inside of a callback. OMPT tells begin and end apart; a record is written at the
 * end.
 *
 * Only the thread itself changes its constructs, without a lock. Who ends a recording
 * first lowers the flag `recording` and then waits until no thread is inside; from then
 * on the open ones are his, and he closes them.
 */
#ifndef KYMO_PLUGINS_SOURCE_OPENMP_THREAD_H
#define KYMO_PLUGINS_SOURCE_OPENMP_THREAD_H

#include <stdatomic.h>
#include <stdint.h>

#include "state.h"

/* A construct that has begun. */
struct ky_open {
	uint64_t begin;
	uint64_t word; /* of a task or a region (code.h), else 0 */
	uint64_t value[2];
	uint32_t name;
	uint16_t key[2];
	uint16_t flags; /* KYMO_RECORD_* */
	uint8_t type;   /* enum ky_type */
	uint8_t kind;   /* OMPT's, of work and synchronization; of a task: see below */
};

/* The kind of a task's first part, where its creation was recorded. */
#define KY_TASK_IS_FIRST 1u

/* The values of an implicit task. */
#define KY_IMPLICIT_REGION 0
#define KY_IMPLICIT_THREAD 1

struct ky_thread {
	atomic_uint is_inside; /* a callback of this thread may change what follows */
	uint32_t epoch;        /* of the session in which the open ones were opened */
	uint32_t depth, capacity;
	struct ky_open *open;
	uint64_t last_end;    /* of what was closed last */
	struct ky_open spare; /* stands in where there is no memory for one more */
	uint64_t next_number; /* of tasks */
	atomic_ullong
		identity; /* KY_OMPT_THREAD_* (0: not told) << 32 | kernel's number */
	struct ky_open acquire; /* the mutex that is waited for; begin 0: none */
	atomic_uint is_used;
	struct ky_thread *next; /* of the list of all */
};

static inline uint32_t ky_thread_role(const struct ky_thread *thread)
{
	return (uint32_t)(atomic_load(&thread->identity) >> 32);
}

static inline uint32_t ky_thread_tid(const struct ky_thread *thread)
{
	return (uint32_t)atomic_load(&thread->identity);
}

/*
 * Opens every callback: the calling thread's, or NULL where nothing is to be recorded, or
 * there is no memory. What was opened before this session is forgotten. Keeps errno.
 */
struct ky_thread *ky_thread_go_in(void);

static inline struct ky_thread *ky_thread_enter(void)
{
	if (!kymo_host_is_on(ky_state.host) ||
	    !atomic_load_explicit(&ky_state.recording, memory_order_relaxed))
		return NULL;
	return ky_thread_go_in();
}

void ky_thread_leave(struct ky_thread *thread);

/* The thread tells what it is, and that it ends: what is open is closed by rule. */
void ky_thread_begin(uint32_t role);
void ky_thread_end(void);

/* A number for a task, never the same twice. */
uint64_t ky_thread_number(struct ky_thread *thread);

/* Opens a construct, now. It has room for values until the next call. */
struct ky_open *ky_thread_open(struct ky_thread *thread, enum ky_type type,
			       uint32_t name);

/*
 * The depth of the innermost construct of the type, in the innermost task (or, of a task
 * or a region, in all), counted from 1; 0: there is none. `word` 0 stands for any.
 */
uint32_t ky_thread_find(const struct ky_thread *thread, enum ky_type type, uint64_t word);

/* The depth of the innermost task, explicit or implicit; 0: none. */
uint32_t ky_thread_task(const struct ky_thread *thread);

/*
 * Closes the construct at `depth`, now. What is open in it has missed its end: it is
 * closed as well, as END_BY_RULE.
 */
void ky_thread_close(struct ky_thread *thread, uint32_t depth);

/*
 * The same, but the construct itself is not recorded: it is handed out, with its end, for
 * the caller to do so. What it was opened in is open still.
 */
struct ky_open ky_thread_take(struct ky_thread *thread, uint32_t depth, uint64_t *end);

/* Lets the host know what each thread is. */
void ky_thread_tell_roles(void);

/*
 * Emits all that is open in any thread as UNFINISHED, and forgets it. `recording` must be
 * 0. A thread that is still inside of a callback at the deadline is left alone.
 */
void ky_thread_close_all(uint64_t deadline_ns);

/* CLOCK_MONOTONIC, which deadlines are of. */
uint64_t ky_thread_monotonic_ns(void);

/* Before the first callback: how it is seen whether a thread is inside. */
void ky_thread_prepare(void);

/* In a forked child. */
void ky_thread_forked(void);

#endif
