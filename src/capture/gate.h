/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who may record in this process: the gate's one decision, and its opening and closing.
 *
 * The gate is a word on the page of base/gate_page.h. It is undecided when the process
 * begins and, since the page is wiped, when it was forked; the first point that finds it
 * so calls ky_gate_decide().
 */
#ifndef KYMO_CAPTURE_GATE_H
#define KYMO_CAPTURE_GATE_H

#include "base/gate_page.h"
#include "record/layout.h"

/*
 * What the gate says, after deciding it if need be: attaches to the recorder that
 * KYMO_SESSION names, in a forked child only if that recorder follows forks; else closes
 * it. Any thread; takes system calls, but no memory from malloc.
 */
uint32_t ky_gate_decide(void);

/*
 * Makes `capture` the one to record into, which must stay until the gate is closed;
 * nothing is recorded before ky_gate_resume(). Refused with KYMO_ERROR_UNSUPPORTED where
 * the kernel would not wipe the page in children: they would go on writing into their
 * parent's capture.
 */
int32_t ky_gate_prepare(struct ky_capture *capture);
/* The same in the middle of the decision, for whose end other threads go on waiting. */
int32_t ky_gate_take(struct ky_capture *capture);
/* The same, and resumed. */
int32_t ky_gate_open(struct ky_capture *capture);

/*
 * Nothing is recorded between the two, and the epoch stays what it was: leases are gone
 * on with.
 */
void ky_gate_pause(void);
void ky_gate_resume(void);

/*
 * The end of what is recorded: points find the gate off. What was begun before, and what
 * sources still hand in of it, is taken until ky_gate_close(). Not for handlers; one
 * store decides for all threads.
 */
void ky_gate_shut(void);
void ky_gate_close(void);
static inline int ky_gate_is_paused(void)
{
	return __atomic_load_n(&ky_gate()->paused_epoch, __ATOMIC_RELAXED) != 0;
}

/*
 * Where the counts of a source, by its number, lie: that a recorder finds them, whatever
 * becomes of this process. NULL: nowhere. Any thread adds to them.
 */
static inline struct ky_source_counts *ky_gate_counts(uint32_t source)
{
	struct ky_source_counts *counts =
		__atomic_load_n(&ky_gate()->counts, __ATOMIC_ACQUIRE);

	if (!counts)
		return NULL;
	return &counts[source < KY_SOURCE_MAX ? source : 0];
}

/*
 * After the recording sources still count in the capture what comes late. Before its
 * memory goes: no more of that.
 */
void ky_gate_forget(const struct ky_capture *capture);

/*
 * Implemented by the agent (control/agent.c), called once per process by ky_gate_decide
 * with decide_lock held: opens the gate or leaves it alone.
 */
void ky_agent_decide(void);

#endif
