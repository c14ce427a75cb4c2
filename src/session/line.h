/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of one line, in the case that nearly all of them are: the thread holds a lease
 * with room. Where that is not so ky_line_begin gives up without having changed anything,
 * and the caller goes the slow way in a function of its own. So the quick function calls
 * nothing, and saves no register.
 */
#ifndef KYMO_SESSION_LINE_H
#define KYMO_SESSION_LINE_H

#include "capture/lease.h"

/* As ky_writer_begin(1), whose comment says what the order of steps is for. */
static inline int ky_line_begin(struct ky_writer *writer)
{
	if ((uintptr_t)writer <= 1 || __atomic_load_n(&writer->busy, __ATOMIC_RELAXED))
		return 0;
	__atomic_store_n(&writer->busy, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (__atomic_load_n(&writer->epoch, __ATOMIC_ACQUIRE) ==
		    __atomic_load_n(&ky_gate()->epoch, __ATOMIC_RELAXED) &&
	    writer->cursor != writer->limit)
		return 1;
	ky_writer_leave(writer);
	return 0;
}

/* As ky_writer_commit(1, 1), without looking for the writer again. */
static inline void ky_line_commit(struct ky_writer *writer)
{
	writer->cursor++;
	writer->slot->accepted++;
	writer->slot->written++;
	__atomic_store_n(writer->head, (uint32_t)(writer->cursor - writer->first),
			 __ATOMIC_RELEASE);
	ky_writer_leave(writer);
}

/* Host ticks where reading them is one instruction: of which kind, and the reading. */
#if defined(__x86_64__)
#define KY_TICKS_QUICK KY_CLOCK_TSC
#elif defined(__aarch64__)
#define KY_TICKS_QUICK KY_CLOCK_CNTVCT
#else
#define KY_TICKS_QUICK 0u
#endif

static inline int ky_ticks_are_quick(void)
{
	uint32_t kind = __atomic_load_n(&ky_gate()->ticks, __ATOMIC_RELAXED);

	return KY_TICKS_QUICK != 0 && kind == KY_TICKS_QUICK;
}

static inline uint64_t ky_ticks_quick(void)
{
	return ky_ticks_of(KY_TICKS_QUICK);
}

#endif
