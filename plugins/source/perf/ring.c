/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records end with thread and time, since `sample_id_all` is set; samples begin with
 * them.
 *
 *     SAMPLE    header, u32 pid, u32 tid, u64 time, u64 count, u64 address[count]
 *     LOST      header, u64 id, u64 lost,           u32 pid, u32 tid, u64 time
 *     others    header, ...,                        u32 pid, u32 tid, u64 time
 */
#include "ring.h"

#include <string.h>

#define HEADER_SIZE  sizeof(struct perf_event_header)
#define ID_SIZE      16u /* thread and time */
#define RECORD_LEAST (HEADER_SIZE + ID_SIZE)
#define NEARLY_FULL  4096u /* a record may have found no room: none is larger */

void perf_ring_init(struct perf_ring *ring, void *page, size_t page_size, size_t size)
{
	*ring = (struct perf_ring){
		.page = page,
		.data = (const uint8_t *)page + page_size,
		.size = size,
		.time = UINT64_MAX,
	};
}

static void copy_out(const struct perf_ring *ring, uint64_t at, void *to, size_t size)
{
	const size_t begin = (size_t)(at & (ring->size - 1));
	const size_t first = ring->size - begin < size ? ring->size - begin : size;

	memcpy(to, ring->data + begin, first);
	memcpy((uint8_t *)to + first, ring->data, size - first);
}

/* The header at the tail; a size that cannot be ends the reading of what is there. */
static int read_header(struct perf_ring *ring, struct perf_event_header *header)
{
	const uint64_t left = ring->head - ring->tail;

	if (left == 0)
		return 0;
	if (left >= RECORD_LEAST) {
		copy_out(ring, ring->tail, header, sizeof(*header));
		if (header->size >= RECORD_LEAST && header->size <= left)
			return 1;
	}
	*header = (struct perf_event_header){.type = 0, .size = 0};
	return 1;
}

static uint64_t id_place(const struct perf_ring *ring,
			 const struct perf_event_header *header)
{
	return header->type == PERF_RECORD_SAMPLE ? ring->tail + HEADER_SIZE
						  : ring->tail + header->size - ID_SIZE;
}

static void find_time(struct perf_ring *ring)
{
	struct perf_event_header header;

	ring->time = UINT64_MAX;
	if (!read_header(ring, &header))
		return;
	ring->time = 0; /* damage is told at once */
	if (header.size > 0)
		copy_out(ring, id_place(ring, &header) + 8, &ring->time, 8);
}

void perf_ring_look(struct perf_ring *ring)
{
	/* Pairs with the kernel's barrier before it stores the head. */
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	find_time(ring);
}

/* Marks like PERF_CONTEXT_USER stand between the addresses: they are the last 4095. */
static void read_stack(struct perf_record *record, size_t words)
{
	const uint64_t *from = record->bytes + 4;
	uint64_t *to = record->bytes + 4;
	uint64_t count = words > 4 ? record->bytes[3] : 0;

	if (count > words - 4)
		count = words - 4;
	for (uint64_t i = 0; i < count; i++)
		if (from[i] != 0 && from[i] < (uint64_t)PERF_CONTEXT_MAX)
			*to++ = from[i];
	record->addresses = from;
	record->address_count = (uint64_t)(to - from);
	if (record->address_count > PERF_STACK_MAX)
		record->address_count = PERF_STACK_MAX;
}

int perf_ring_take(struct perf_ring *ring, struct perf_record *out)
{
	struct perf_event_header header;
	uint32_t ids[4];
	size_t size;

	if (!read_header(ring, &header))
		return 0;
	out->kind = header.type;
	out->misc = header.misc;
	out->lost = out->address_count = 0;
	if (header.size == 0) { /* what follows cannot be found */
		ring->tail = ring->head;
		find_time(ring);
		return 1;
	}
	copy_out(ring, id_place(ring, &header), ids, sizeof(ids));
	out->tid = ids[1];
	memcpy(&out->time, &ids[2], sizeof(out->time));
	size = header.size < sizeof(out->bytes) ? header.size : sizeof(out->bytes);
	copy_out(ring, ring->tail, out->bytes, size);
	if (header.type == PERF_RECORD_SAMPLE)
		read_stack(out, size / sizeof(uint64_t));
	if (header.type == PERF_RECORD_LOST && size >= 3 * sizeof(uint64_t)) {
		out->lost = ring->is_count_stale ? 0 : out->bytes[2];
		ring->is_count_stale = 0;
	}
	ring->tail += header.size;
	find_time(ring);
	return 1;
}

void perf_ring_free(struct perf_ring *ring)
{
	/* Pairs with the kernel's reading of the tail: all copies have been made. */
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

void perf_ring_skip(struct perf_ring *ring)
{
	perf_ring_look(ring);
	ring->is_count_stale = ring->size - (ring->head - ring->tail) < NEARLY_FULL;
	ring->tail = ring->head;
	ring->time = UINT64_MAX;
	perf_ring_free(ring);
}
