/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything of this process that must be as new in a forked child, on one page. The
 * kernel is asked to give children a page of zeros in its place (MADV_WIPEONFORK), so a
 * child finds its gate undecided and all locks of the library open, whoever held them in
 * the parent, without any handler.
 *
 * The same is done to kymo_gate (<kymo/mark.h>), which has the word for programs to look
 * at. Where a process has several copies of this library, each with a page and a decision
 * of its own, they may share that one: it is off only if none of them records.
 */
#ifndef KYMO_BASE_GATE_PAGE_H
#define KYMO_BASE_GATE_PAGE_H

#include <kymo/mark.h>

struct ky_capture;
struct ky_source_counts;

struct ky_gate_page {
	uint32_t word;  /* KYMO_GATE_*; ky_gate_set_word changes it */
	uint32_t epoch; /* of what is recorded, new for each; 0 while nothing is taken */
	uint32_t ticks; /* KY_TICKS_* of the capture; relaxed loads */
	uint32_t decide_owner; /* tid of the thread that decides */

	uint32_t decide_lock;        /* one thread decides */
	uint32_t pool_lock;          /* chunks and writers of the capture */
	uint32_t dictionary_lock;    /* the dictionary's tail and index */
	uint32_t source_lock;        /* the list of sources and their life cycle */
	uint32_t session_lock;       /* the program's own session */
	uint32_t dictionary_adopted; /* its index and mirror are this process's own */
	uint32_t is_protected;       /* the kernel was asked to wipe it in children */
	uint32_t paused_epoch;       /* what `epoch` is while it goes on, or 0 */
	uint32_t log_lock;           /* whom kymo_log_to() has set */
	uint32_t type_lock;          /* the table of activity types */
	uint32_t types_frozen; /* the program may not add types: its session goes on */
	uint32_t reserved0;

	struct ky_capture *capture; /* what is recorded into, or NULL */
	/*
	 * Where sources count losses: of that, or, when it is over, still there; or NULL.
	 */
	struct ky_source_counts *counts;
};

/* The page's memory, KYMO_GATE_SIZE bytes. */
extern uint32_t ky_gate_memory[] __attribute__((visibility("hidden")));

/* The page of this process. */
static inline struct ky_gate_page *ky_gate(void)
{
	return (struct ky_gate_page *)(void *)&ky_gate_memory[0];
}

/*
 * Asks the kernel to wipe both pages in children, once; 0 or an errno. Every lock on the
 * page does so before it is taken, since a child might be forked while it is held.
 */
int ky_gate_protect(void);

/* Decides, for this copy of the library and, as far as it can alone, for programs. */
void ky_gate_set_word(uint32_t word);

static inline uint32_t ky_gate_word(void)
{
	return __atomic_load_n(&ky_gate()->word, __ATOMIC_RELAXED);
}

/* What is recorded into at the moment, or NULL. */
static inline struct ky_capture *ky_gate_capture(void)
{
	return __atomic_load_n(&ky_gate()->capture, __ATOMIC_ACQUIRE);
}

/* The epoch of what is recorded, 0 while nothing is taken: before, at rest, after. */
static inline uint32_t ky_gate_epoch(void)
{
	return __atomic_load_n(&ky_gate()->epoch, __ATOMIC_ACQUIRE);
}

#endif
