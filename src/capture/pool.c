/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/pool.h"

#include <string.h>
#include <sys/mman.h>

#include "record/dictionary.h"

static uint32_t *state_of(struct ky_capture *capture, uint32_t index)
{
	return &capture->states[index];
}

static int take_in_state(struct ky_capture *capture, uint32_t index, uint32_t state)
{
	return __atomic_compare_exchange_n(state_of(capture, index), &state,
					   KY_CHUNK_LEASED, 0, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

/* A chunk given on with room for `lines`; index + 1, or 0. */
static uint32_t take_partial(struct ky_capture *capture, uint32_t lines)
{
	uint32_t left = capture->partial_count;

	for (uint32_t i = 0; left > 0 && i < capture->chunk_count; i++) {
		if (*state_of(capture, i) != KY_CHUNK_PARTIAL)
			continue;
		left--;
		if (KY_CHUNK_LINES - ky_capture_chunk_header(capture, i)->head < lines)
			continue;
		if (take_in_state(capture, i, KY_CHUNK_PARTIAL)) {
			capture->partial_count--;
			return i + 1;
		}
	}
	return 0;
}

/* The next chunk in that state, going round; index + 1, or 0. */
static uint32_t take_next(struct ky_capture *capture, uint32_t state)
{
	for (uint32_t n = 0; n < capture->chunk_count; n++) {
		uint32_t i = capture->next_chunk + n;

		if (i >= capture->chunk_count)
			i -= capture->chunk_count;
		if (__atomic_load_n(state_of(capture, i), __ATOMIC_RELAXED) == state &&
		    take_in_state(capture, i, state)) {
			capture->next_chunk = i + 1 == capture->chunk_count ? 0 : i + 1;
			return i + 1;
		}
	}
	return 0;
}

/*
 * Prepares the header of a chunk that is to be filled from its first line. A reader that
 * copies what was there before finds the sequence changed behind it.
 */
static void begin_chunk(struct ky_capture *capture, uint32_t index)
{
	struct ky_chunk_header *header = ky_capture_chunk_header(capture, index);

	__atomic_store_n(&header->sequence, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	__atomic_store_n(&header->head, 0, __ATOMIC_RELAXED);
	header->magic = KY_CHUNK_MAGIC;
	header->index = index;
	capture->order[index] = 0;
}

/* Makes this process's page tables know a fresh chunk: no fault while recording. */
static void populate(struct ky_capture *capture, uint32_t index)
{
#ifdef MADV_POPULATE_WRITE
	madvise(ky_capture_chunk(capture, index), KY_CHUNK_SIZE, MADV_POPULATE_WRITE);
#else
	(void)capture, (void)index;
#endif
}

/* ---- Overwriting ---- */

static uint32_t find_oldest(struct ky_capture *capture)
{
	uint64_t oldest = UINT64_MAX;
	uint32_t found = 0;

	for (uint32_t i = 0; i < capture->chunk_count; i++) {
		if (*state_of(capture, i) != KY_CHUNK_SEALED ||
		    capture->order[i] >= oldest)
			continue;
		oldest = capture->order[i];
		found = i + 1;
	}
	return found;
}

/* The source that a record is of; 0: not known. */
static uint32_t source_of(const struct kymo_record *record)
{
	const struct kymo_record_link *link = (const void *)record;

	return record->kind == KYMO_KIND_LINK ? link->source
					      : ky_dictionary_source_of(record->type);
}

/* Records in a chunk by source. */
static void count_records(const struct ky_capture *capture, uint32_t index,
			  uint32_t counts[KY_SOURCE_MAX])
{
	const struct ky_chunk_header *header = ky_capture_chunk_header(capture, index);
	const struct kymo_record *lines = (const void *)(header + 1);
	uint32_t head = header->head < KY_CHUNK_LINES ? header->head : KY_CHUNK_LINES;

	for (uint32_t at = 0; at < head; at += lines[at].lines ? lines[at].lines : 1) {
		uint32_t source;

		if (lines[at].kind == 0 || lines[at].kind >= KYMO_KIND_MORE ||
		    lines[at].kind == KYMO_KIND_LEASE)
			continue;
		source = source_of(&lines[at]);
		counts[source < KY_SOURCE_MAX ? source : 0]++;
	}
}

/*
 * The program may be killed at any step: the records are gone from the chunk before they
 * are counted as overwritten, so none is ever both; in between they are missing, which
 * the ledger finds out from the writers' counts.
 */
static uint32_t take_oldest(struct ky_capture *capture)
{
	uint32_t chunk = find_oldest(capture), counts[KY_SOURCE_MAX] = {0};

	if (!chunk || !take_in_state(capture, chunk - 1, KY_CHUNK_SEALED))
		return 0;
	count_records(capture, chunk - 1, counts);
	begin_chunk(capture, chunk - 1);
	for (uint32_t i = 0; i < KY_SOURCE_MAX; i++)
		if (counts[i] > 0)
			__atomic_fetch_add(&capture->sources[i].overwritten, counts[i],
					   __ATOMIC_RELAXED);
	return chunk;
}

/* ---- Chunks ---- */

static int is_overwriting(const struct ky_capture *capture)
{
	return capture->header->overflow == KY_OVERFLOW_OVERWRITE;
}

static uint32_t take_fresh(struct ky_capture *capture)
{
	uint32_t chunk = take_next(capture, KY_CHUNK_FREE);

	if (!chunk) {
		chunk = take_next(capture, KY_CHUNK_COLD);
		if (chunk)
			__atomic_fetch_add(&capture->header->cold_chunks, 1,
					   __ATOMIC_RELAXED);
	}
	if (chunk) {
		populate(capture, chunk - 1);
		begin_chunk(capture, chunk - 1);
	}
	return chunk;
}

uint32_t ky_pool_take(struct ky_capture *capture, uint32_t lines)
{
	uint32_t chunk;

	/* Before the search: what becomes FREE during it is noticed. */
	capture->freed_before =
		__atomic_load_n(&capture->header->chunks_freed, __ATOMIC_ACQUIRE);
	chunk = take_partial(capture, lines);
	if (!chunk)
		chunk = take_fresh(capture);
	if (!chunk && is_overwriting(capture))
		chunk = take_oldest(capture);
	return chunk;
}

void ky_pool_give(struct ky_capture *capture, uint32_t chunk, int has_room)
{
	capture->partial_count += has_room != 0;
	__atomic_store_n(state_of(capture, chunk - 1),
			 has_room ? KY_CHUNK_PARTIAL : KY_CHUNK_SEALED, __ATOMIC_RELEASE);
	if (has_room || is_overwriting(capture))
		__atomic_store_n(&capture->empty_at, 0, __ATOMIC_RELAXED);
}

void ky_pool_note_empty(struct ky_capture *capture)
{
	__atomic_store_n(&capture->empty_at, capture->freed_before + 1, __ATOMIC_RELAXED);
}

int ky_pool_is_empty(const struct ky_capture *capture)
{
	uint64_t empty_at = __atomic_load_n(&capture->empty_at, __ATOMIC_RELAXED);

	return empty_at != 0 &&
	       empty_at ==
		       __atomic_load_n(&capture->header->chunks_freed, __ATOMIC_RELAXED) +
			       1;
}

/* ---- Slots ---- */

struct ky_writer_slot *ky_pool_take_slot(struct ky_capture *capture)
{
	struct ky_writer_slot *slot;
	uint32_t index = capture->free_slot;

	if (index) {
		slot = &capture->slots[index - 1];
		/* A slot given back holds the next free one in `chunk`. */
		capture->free_slot = slot->chunk;
	} else {
		index = capture->header->writer_count;
		if (index >= capture->writer_capacity)
			return NULL;
		slot = &capture->slots[index];
		__atomic_store_n(&capture->header->writer_count, index + 1,
				 __ATOMIC_RELEASE);
	}
	slot->chunk = 0;
	__atomic_store_n(&slot->state, 1, __ATOMIC_RELEASE);
	return slot;
}

void ky_pool_give_slot(struct ky_capture *capture, struct ky_writer_slot *slot)
{
	slot->chunk = capture->free_slot;
	capture->free_slot = (uint32_t)(slot - capture->slots) + 1;
	__atomic_store_n(&slot->state, 0, __ATOMIC_RELEASE);
}
