/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leases: how a thread comes to a chunk and appends to it without a lock.
 *
 * A thread has at most one writer, found through one initial-exec thread-local pointer;
 * the writer holds the lease of at most one chunk. While `busy` is set the writer is the
 * thread's alone; a signal handler that finds it set counts its record as nested and goes
 * away. Each record is committed by one release store to the chunk's head, which a reader
 * in any process pairs with an acquire load.
 *
 * Getting a lease, changing chunks and giving one back take pool_lock; nothing else does.
 * Whoever holds the lock may take the lease of a thread that is not inside (revoke.c).
 */
#ifndef KYMO_CAPTURE_LEASE_H
#define KYMO_CAPTURE_LEASE_H

#include <kymo/record.h>

#include "base/clock.h"
#include "capture/capture.h"
#include "capture/gate.h"

/*
 * The epoch of a writer without a lease: never the gate's, not even of one that is off
 * (0), so that nobody looks at a lease that is being taken from him.
 */
#define KY_EPOCH_NONE UINT32_MAX

/*
 * What the thread has open that its launches belong to: stacks of numbers, the innermost
 * one last, whose meaning is the session's. The thread's own alone.
 */
#define KY_REGION_STACKS 2u
#define KY_REGIONS_MAX   32u /* of a stack that are kept */

struct ky_regions {
	uint32_t count; /* of all stacks */
	uint32_t depth[KY_REGION_STACKS];
	uint64_t number[KY_REGION_STACKS][KY_REGIONS_MAX];
};

struct ky_writer {
	uint32_t busy;  /* set while the owner is inside; read by the cut */
	uint32_t epoch; /* of the lease; stale unless it is the gate's */
	struct kymo_record *cursor, *limit; /* next free line, end of the chunk */
	struct kymo_record *first;   /* line 0 of the chunk: head = cursor - first */
	uint32_t *head;              /* of the chunk: lines committed */
	struct ky_writer_slot *slot; /* counts, where the recorder sees them */
	uint32_t chunk;              /* index + 1, 0: none */
	uint32_t track, tid;
	uint32_t next_free; /* index + 1 among the writers of ended threads */
	/* When idle threads were looked for: how far this one had come. */
	uint32_t seen_chunk, seen_head;
	uint32_t marked_epoch; /* that it had when its lease was being revoked, or 0 */
	struct ky_regions regions;
};

/* The calling thread's writer, KY_WRITER_MAKING while it is being made, or NULL. */
#define KY_WRITER_MAKING ((struct ky_writer *)1)
extern __thread struct ky_writer *ky_writer_self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The cut finds everything done that was done before this. */
static inline void ky_writer_leave(struct ky_writer *writer)
{
	__atomic_store_n(&writer->busy, 0, __ATOMIC_RELEASE);
}

/*
 * For ky_writer_begin_or only: no writer, or inside it already; a new lease is needed.
 * They set `*is_off`, if it is not NULL, where nothing is recorded and so nothing was
 * counted.
 */
struct kymo_record *ky_writer_without(uint32_t lines, int *is_off);
struct kymo_record *ky_writer_refill(struct ky_writer *writer, uint32_t lines,
				     int *is_off);

/*
 * Begins a record of `lines` lines (1 to 255): where to write them, or NULL when nothing
 * is recorded, which sets `*is_off`, or the loss was counted. After non-NULL,
 * ky_writer_commit must follow on the same thread, with nothing but stores in between.
 */
static inline struct kymo_record *ky_writer_begin_or(uint32_t lines, int *is_off)
{
	struct ky_writer *writer = ky_writer_self;

	if (KYMO_UNLIKELY((uintptr_t)writer <= 1 ||
			  __atomic_load_n(&writer->busy, __ATOMIC_RELAXED)))
		return ky_writer_without(lines, is_off);
	__atomic_store_n(&writer->busy, 1, __ATOMIC_RELAXED);
	/*
	 * A handler on this thread must see busy before any line changes. The cut closes
	 * the gate, lets every core pass a barrier and only then looks at busy: so either
	 * it sees us inside, or we see that the epoch is over.
	 */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* Acquire: limit and cursor are ours to look at only if the epoch is. */
	if (KYMO_UNLIKELY(__atomic_load_n(&writer->epoch, __ATOMIC_ACQUIRE) !=
				  __atomic_load_n(&ky_gate()->epoch, __ATOMIC_RELAXED) ||
			  (size_t)(writer->limit - writer->cursor) < lines))
		return ky_writer_refill(writer, lines, is_off);
	return writer->cursor;
}

static inline struct kymo_record *ky_writer_begin(uint32_t lines)
{
	return ky_writer_begin_or(lines, NULL);
}

/* Commits `records` activities in the `lines` lines begun. */
static inline void ky_writer_commit(uint32_t lines, uint32_t records)
{
	struct ky_writer *writer = ky_writer_self;

	writer->cursor += lines;
	writer->slot->accepted += records;
	writer->slot->written += records;
	/* Pairs with the acquire load of whoever reads the chunk. */
	__atomic_store_n(writer->head, (uint32_t)(writer->cursor - writer->first),
			 __ATOMIC_RELEASE);
	ky_writer_leave(writer);
}

/* The calling thread's writer; NULL if it has none and is to have none, or can't. */
struct ky_writer *ky_writer_of_thread(int is_made);

/*
 * Counts an activity of the calling thread that a filter left out (also for its source),
 * that cannot fit, or that came while the thread was in the library itself. False: there
 * is no recording any more that it could be counted for.
 */
int ky_writer_filtered(uint32_t source);
void ky_writer_too_big(void);
void ky_writer_nested(void);

/* The calling thread's track in the current capture, made if need be; 0 if none. */
uint32_t ky_thread_track(void);

/* Host ticks as the current capture reads them. */
static inline uint64_t ky_ticks(void)
{
	return ky_ticks_of(__atomic_load_n(&ky_gate()->ticks, __ATOMIC_RELAXED));
}

/*
 * Ends the recording into `capture`: closes the gate, waits until no writer is inside (at
 * most 10 ms; a writer that is still busy then is quarantined, with its chunk) and seals
 * all chunks. What is below the heads is the capture. Its memory may be unmapped
 * afterwards unless capture->quarantined says that somebody is still in there.
 */
void ky_capture_cut(struct ky_capture *capture);

/* In a forked child, before its first lease: the other threads' writers are gone. */
void ky_lease_forked(void);

#endif
