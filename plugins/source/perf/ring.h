/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One ring in which the kernel writes records of its events, read in the order of time.
 * It has no idea where the memory comes from.
 */
#ifndef KYMO_PLUGINS_SOURCE_PERF_RING_H
#define KYMO_PLUGINS_SOURCE_PERF_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_STACK_MAX                                                  \
	127u /* addresses: the kernel's own limit, unless it was raised \
	      */

struct perf_ring {
	struct perf_event_mmap_page *page; /* NULL: none */
	const uint8_t *data;               /* `size` bytes, a power of two */
	uint64_t size, head, tail;
	uint64_t time; /* of the next record; UINT64_MAX: there is none */
	/* The first count of lost records is of before it was skipped. */
	uint32_t is_count_stale;
};

/* A record, as much of it as the source knows. */
struct perf_record {
	uint32_t kind; /* PERF_RECORD_*; 0: what is no record */
	uint32_t misc;
	uint32_t tid;
	uint64_t time;                        /* ns of CLOCK_MONOTONIC */
	uint64_t lost;                        /* LOST: how many */
	uint64_t address_count;               /* SAMPLE: user mode, the innermost first */
	const uint64_t *addresses;            /* in `bytes` */
	uint64_t bytes[PERF_STACK_MAX + 16u]; /* the record as it came, cut to fit */
};

/* `page` has `size` bytes of data behind it. */
void perf_ring_init(struct perf_ring *ring, void *page, size_t page_size, size_t size);

/* What the kernel has written until now becomes visible. */
void perf_ring_look(struct perf_ring *ring);

/* Takes the next record out; false: there is none. */
int perf_ring_take(struct perf_ring *ring, struct perf_record *out);

/* Gives the kernel the room of what was taken. */
void perf_ring_free(struct perf_ring *ring);

/* Takes and gives all at once: nobody wants it, and its losses neither. */
void perf_ring_skip(struct perf_ring *ring);

#endif
