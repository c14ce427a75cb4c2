/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture's memory: making, mapping and checking it, and the pool of its chunks.
 *
 * Whoever records makes the memory and formats it: a recorder in a memfd that it keeps,
 * a program for its own session in private memory. The program then opens it and writes.
 * A recorder maps the same memory to warm its chunks and to take out what is committed.
 */
#ifndef KYMO_CAPTURE_CAPTURE_H
#define KYMO_CAPTURE_CAPTURE_H

#include <sys/types.h>

#include <kymo/base.h>

#include "record/layout.h"

/* Bytes of the header that whoever formats it fills and nobody changes. */
#define KY_CAPTURE_CONSTANTS offsetof(struct ky_capture_header, pid)

/* The parts of one capture in this process. Plain data; the memory is the caller's. */
struct ky_capture {
	struct ky_capture_header *header;
	size_t size;
	struct ky_anchor *anchors;
	struct ky_writer_slot *slots;
	struct ky_source_counts *sources;
	uint32_t *states; /* of chunks */
	uint64_t *order;  /* of chunks: their sequences, to find the oldest */
	uint8_t *dictionary;
	uint8_t *chunks;
	/* Copies of what must not change under us. */
	size_t dictionary_size;
	uint32_t anchor_capacity, writer_capacity, source_capacity, chunk_count, ticks;
	uint8_t constants[KY_CAPTURE_CONSTANTS]; /* the header's begin */
	/* The pool's own: program side only, under pool_lock. */
	uint32_t next_chunk;    /* where the search for a free chunk goes on */
	uint32_t partial_count; /* chunks given on with room left */
	uint32_t free_slot;     /* index + 1 of a slot given back, 0: none */
	uint32_t quarantined;   /* writers that were still inside at the cut */
	uint64_t empty_at;     /* chunks_freed + 1 when no chunk was left; 0: not empty */
	uint64_t freed_before; /* chunks_freed when the last search began */
	uint64_t in_vain_ns;   /* when idle threads were looked for last in vain */
	uint64_t anchor_ns;    /* when host ticks were last anchored */
};

struct ky_capture_setup {
	uint64_t budget; /* bytes in all; 0: KY_BUDGET_DEFAULT */
	uint32_t ticks, overflow, flags;
	uint64_t session, capture;
};

/* Whether there can be a capture of this budget; the error names the limits. */
int32_t ky_budget_check(uint64_t budget, struct kymo_error *error);

/* Bytes that a capture of this budget takes: the budget, rounded up to 2 MiB. */
size_t ky_capture_size(uint64_t budget);

/*
 * Makes memory of that size and formats it. `make_fd`: a sealed memfd, kept close-on-exec
 * by the caller, mapped shared. `make_private`: anonymous, 2 MiB aligned, huge pages
 * asked for. Both fill `*out`; undo with ky_capture_unmap (and close).
 */
int32_t ky_capture_make_fd(const struct ky_capture_setup *setup, struct ky_capture *out,
			   int *fd, struct kymo_error *error);
int32_t ky_capture_make_private(const struct ky_capture_setup *setup,
				struct ky_capture *out, struct kymo_error *error);

/* Maps a memfd somebody else made; checks size, seals and every offset of the header. */
int32_t ky_capture_map(int fd, struct ky_capture *out, struct kymo_error *error);
/*
 * The same for whoever made it: nothing is taken from the memory, into which a program
 * may have written anything meanwhile.
 */
int32_t ky_capture_map_made(int fd, const struct ky_capture_setup *setup,
			    struct ky_capture *out, struct kymo_error *error);
void ky_capture_unmap(struct ky_capture *capture);

/*
 * Writes identity (pid, host, exe, arguments) into the header: the program, at attach.
 * `pid` 0: of the calling process; else of another one, as far as that can be seen.
 */
void ky_capture_identify(struct ky_capture *capture, pid_t pid);

/* Touches every page of a COLD chunk and makes it FREE; how many were warmed. */
uint32_t ky_capture_warm(struct ky_capture *capture, uint32_t ahead);

static inline uint8_t *ky_capture_chunk(const struct ky_capture *capture, uint32_t index)
{
	return capture->chunks + (size_t)index * KY_CHUNK_SIZE;
}

static inline struct ky_chunk_header *
ky_capture_chunk_header(const struct ky_capture *capture, uint32_t index)
{
	return (struct ky_chunk_header *)(void *)ky_capture_chunk(capture, index);
}

/* Adds a bound to the ring; program or recorder side, any thread. */
void ky_capture_anchor(struct ky_capture *capture, uint32_t clock, uint64_t device,
		       uint64_t host_lo, uint64_t host_hi, uint64_t realtime);

/* An anchor of host ticks, taken now. */
void ky_capture_host_anchor(struct ky_capture *capture);

/* The warm-up is over: what ends before now is not of the recording. */
void ky_capture_begin(struct ky_capture *capture);

#endif
