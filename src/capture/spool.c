/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From memory to a .kymo file. What may change under us (chunks, dictionary, anchors) is
 * copied first and the copy is checked, summed and written. Names come before the lines
 * that use them: after a chunk is copied, the dictionary is written as far as it is
 * committed by then, and only then the chunk.
 *
 * Of each chunk it is remembered how many lines of which lease are in the file. So a
 * chunk that is written while it is being filled comes in parts, and a line comes once.
 */
#include "capture/spool_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "capture/shared.h"

/* What of a chunk is in the file. */
struct done {
	uint64_t sequence; /* of the chunk's first lease */
	uint32_t lines, reserved0;
};

struct ky_spool_capture {
	struct ky_spool *spool;
	struct ky_spool_capture *next;
	struct ky_capture *capture;
	uint64_t number;
	uint64_t dictionary_done; /* bytes */
	uint64_t anchors_done;
	struct done *done;               /* by chunk */
	uint32_t next_chunk;             /* where draining goes on */
	uint32_t has_counts, counts_sum; /* of those in the file */
};

void ky_spool_forget(struct ky_spool *spool)
{
	while (spool->captures) {
		struct ky_spool_capture *capture = spool->captures;

		spool->captures = capture->next;
		free(capture->done);
		free(capture);
	}
}

typedef uint64_t __attribute__((may_alias)) header_word;

KYMO_STATIC_ASSERT(sizeof(struct ky_capture_header) % sizeof(header_word) == 0);

/*
 * The header as it is now, word by word: some of them are being counted up. What does not
 * change comes from our copy: a stray write of the program must not cost the capture.
 */
static int32_t write_capture_header(struct ky_spool_capture *self,
				    struct kymo_error *error)
{
	const header_word *from = (const void *)self->capture->header;
	header_word *to = (void *)ky_spool_payload(self->spool);

	for (size_t i = 0; i < sizeof(struct ky_capture_header) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
	memcpy(to, self->capture->constants, sizeof(self->capture->constants));
	((struct ky_capture_header *)(void *)to)->capture = self->number;
	return ky_spool_write_block(self->spool, KY_BLOCK_CAPTURE,
				    sizeof(struct ky_capture_header), self->number, 0,
				    error);
}

int32_t ky_spool_add(struct ky_spool *spool, struct ky_capture *capture, uint64_t number,
		     struct ky_spool_capture **out, struct kymo_error *error)
{
	struct ky_spool_capture *self = calloc(1, sizeof(*self));
	int32_t status;

	*out = NULL;
	if (!self)
		return ky_error_no_memory(error);
	self->spool = spool;
	self->capture = capture;
	self->number = number;
	self->done = calloc((size_t)capture->chunk_count + 1, sizeof(*self->done));
	if (!self->done) {
		free(self);
		return ky_error_no_memory(error);
	}
	status = write_capture_header(self, error);
	if (status != KYMO_OK) {
		free(self->done);
		free(self);
		return status;
	}
	self->next = spool->captures;
	spool->captures = self;
	ky_spool_reserve(spool, spool->unended + 1);
	*out = self;
	return KYMO_OK;
}

int32_t ky_spool_names(struct ky_spool_capture *self, struct kymo_error *error)
{
	const struct ky_capture *capture = self->capture;
	uint64_t tail =
		__atomic_load_n(&capture->header->dictionary_tail, __ATOMIC_ACQUIRE);

	if (tail > capture->dictionary_size)
		tail = capture->dictionary_size;
	while (self->dictionary_done < tail) {
		uint64_t at = self->dictionary_done, size = tail - at;
		int32_t status;

		if (size > KY_PIECE_SIZE)
			size = KY_PIECE_SIZE;
		memcpy(ky_spool_payload(self->spool), capture->dictionary + at, size);
		status = ky_spool_write_block(self->spool, KY_BLOCK_DICTIONARY, size,
					      self->number, at, error);
		if (status != KYMO_OK)
			return status;
		self->dictionary_done += size;
	}
	return KYMO_OK;
}

/* Copies complete anchors that were not taken yet; how many. */
static size_t take_anchors(struct ky_spool_capture *self, struct ky_anchor *to,
			   size_t room, int skip_incomplete)
{
	const struct ky_capture *capture = self->capture;
	uint64_t tail = __atomic_load_n(&capture->header->anchor_tail, __ATOMIC_ACQUIRE);
	size_t taken = 0;

	if (tail < self->anchors_done) /* not by us: damaged */
		return 0;
	if (tail - self->anchors_done > capture->anchor_capacity)
		self->anchors_done = tail - capture->anchor_capacity;
	for (; self->anchors_done < tail && taken < room; self->anchors_done++) {
		const struct ky_anchor *from =
			&capture->anchors[self->anchors_done % capture->anchor_capacity];
		uint64_t sequence = __atomic_load_n(&from->sequence, __ATOMIC_ACQUIRE);

		if (sequence == self->anchors_done + 1) {
			ky_copy_shared(&to[taken], from, sizeof(*from));
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			/* Written over while we copied: another one's turn has come. */
			if (__atomic_load_n(&from->sequence, __ATOMIC_RELAXED) ==
			    sequence)
				taken++;
		} else if (sequence < self->anchors_done + 1 && !skip_incomplete) {
			break; /* its writer is not done */
		}
	}
	return taken;
}

static int32_t drain_anchors(struct ky_spool_capture *self, int skip_incomplete,
			     struct kymo_error *error)
{
	struct ky_anchor *to = (struct ky_anchor *)(void *)ky_spool_payload(self->spool);
	uint64_t before = self->anchors_done;
	size_t count =
		take_anchors(self, to, KY_PIECE_SIZE / sizeof(*to), skip_incomplete);
	int32_t status;

	if (count == 0)
		return KYMO_OK;
	status = ky_spool_write_block(self->spool, KY_BLOCK_ANCHORS, count * sizeof(*to),
				      self->number, 0, error);
	if (status)
		self->anchors_done = before;
	return status;
}

/*
 * Copies what of a chunk is committed and not in the file yet, as a CHUNK block without
 * its header; the bytes, or 0: nothing is new, or the program has begun to write another
 * lease over it meanwhile. That counts what it overwrites.
 */
static size_t copy_chunk(const struct ky_spool_capture *self, uint32_t index,
			 struct ky_chunk_header *header)
{
	const uint8_t *from = ky_capture_chunk(self->capture, index);
	const struct ky_chunk_header *live = (const void *)from;
	const struct done *done = &self->done[index];
	uint8_t *to = self->spool->chunk + sizeof(struct ky_block_header);
	size_t size;

	*header = (struct ky_chunk_header){.magic = KY_CHUNK_MAGIC, .index = index};
	header->sequence = __atomic_load_n(&live->sequence, __ATOMIC_ACQUIRE);
	header->head = __atomic_load_n(&live->head, __ATOMIC_ACQUIRE);
	header->writer = __atomic_load_n(&live->writer, __ATOMIC_RELAXED);
	if (header->sequence == done->sequence)
		header->first = done->lines;
	if (header->sequence == 0 || header->head > KY_CHUNK_LINES ||
	    header->head <= header->first)
		return 0;
	size = (size_t)(header->head - header->first) * KYMO_LINE_SIZE;
	memcpy(to + sizeof(*header),
	       from + sizeof(*header) + (size_t)header->first * KYMO_LINE_SIZE, size);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&live->sequence, __ATOMIC_RELAXED) != header->sequence)
		return 0;
	header->crc32c = ky_crc32c(0, to + sizeof(*header), size);
	memcpy(to, header, sizeof(*header));
	return sizeof(*header) + size;
}

/* Writes the committed lines of one chunk that are not in the file yet. */
static int32_t write_chunk(struct ky_spool_capture *self, uint32_t index,
			   struct kymo_error *error)
{
	struct ky_chunk_header header;
	struct ky_block_header block = {.kind = KY_BLOCK_CHUNK, .capture = self->number};
	int32_t status;

	block.size = copy_chunk(self, index, &header);
	if (block.size == 0)
		return KYMO_OK;
	block.sequence = header.sequence;
	status = ky_spool_names(self, error);
	if (status == KYMO_OK)
		status = ky_spool_write_prepared(self->spool, self->spool->chunk, block,
						 error);
	if (status == KYMO_OK)
		self->done[index] =
			(struct done){.sequence = header.sequence, .lines = header.head};
	return status;
}

static uint32_t state_of(const struct ky_capture *capture, uint32_t index)
{
	return __atomic_load_n(&capture->states[index], __ATOMIC_ACQUIRE);
}

/* Gives a written chunk back to the program. */
static void reuse_chunk(struct ky_capture *capture, uint32_t index)
{
	struct ky_chunk_header *header =
		(struct ky_chunk_header *)(void *)ky_capture_chunk(capture, index);

	__atomic_store_n(&header->head, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&capture->states[index], KY_CHUNK_FREE, __ATOMIC_RELEASE);
	__atomic_fetch_add(&capture->header->chunks_freed, 1, __ATOMIC_RELEASE);
}

int32_t ky_spool_anchors(struct ky_spool_capture *self, struct kymo_error *error)
{
	return drain_anchors(self, 0, error);
}

int32_t ky_spool_drain(struct ky_spool_capture *self, uint32_t *freed,
		       struct kymo_error *error)
{
	struct ky_capture *capture = self->capture;
	const uint32_t enough = *freed + KY_DRAIN_MAX;
	int32_t status = drain_anchors(self, 0, error);

	for (uint32_t n = 0; n < capture->chunk_count && *freed < enough; n++) {
		uint32_t index = self->next_chunk;

		if (status == KYMO_OK && state_of(capture, index) == KY_CHUNK_SEALED) {
			status = write_chunk(self, index, error);
			if (status == KYMO_OK) {
				reuse_chunk(capture, index);
				++*freed;
			}
		}
		if (status != KYMO_OK)
			return status;
		self->next_chunk = index + 1 < capture->chunk_count ? index + 1 : 0;
	}
	return status;
}

/* Writes whatever is committed and not in the file yet. */
static int32_t write_chunks(struct ky_spool_capture *self, struct kymo_error *error)
{
	struct ky_capture *capture = self->capture;
	int32_t status = KYMO_OK;

	for (uint32_t i = 0; status == KYMO_OK && i < capture->chunk_count; i++) {
		uint32_t state = state_of(capture, i);

		if (state != KY_CHUNK_COLD && state != KY_CHUNK_FREE)
			status = write_chunk(self, i, error);
	}
	return status;
}

static uint32_t slot_count(const struct ky_capture *capture)
{
	uint32_t count =
		__atomic_load_n(&capture->header->writer_count, __ATOMIC_ACQUIRE);

	return count < capture->writer_capacity ? count : capture->writer_capacity;
}

/* Counts that change nothing are left out at the end. */
static uint32_t source_count(const struct ky_capture *capture)
{
	static const struct ky_source_counts none;
	uint32_t count = capture->source_capacity;

	while (count > 0 &&
	       memcmp(&capture->sources[count - 1], &none, sizeof(none)) == 0)
		count--;
	return count;
}

static int32_t write_array(struct ky_spool_capture *self, uint32_t kind,
			   const void *items, size_t size, struct kymo_error *error)
{
	if (size > KY_PIECE_SIZE)
		size = KY_PIECE_SIZE;
	memcpy(ky_spool_payload(self->spool), items, size);
	return ky_spool_write_block(self->spool, kind, size, self->number, 0, error);
}

/* Header and counts, if they say anything new. */
static int32_t write_counts(struct ky_spool_capture *self, struct kymo_error *error)
{
	const struct ky_capture *capture = self->capture;
	size_t slots = slot_count(capture) * sizeof(struct ky_writer_slot);
	size_t sources = source_count(capture) * sizeof(struct ky_source_counts);
	uint32_t sum = ky_crc32c(0, capture->slots, slots);
	int32_t status;

	sum = ky_crc32c(sum, capture->sources, sources);
	sum = ky_crc32c(sum, &capture->header->dictionary_tail, sizeof(uint64_t));
	if (self->has_counts && sum == self->counts_sum)
		return KYMO_OK;
	status = write_array(self, KY_BLOCK_WRITERS, capture->slots, slots, error);
	if (status == KYMO_OK && sources > 0)
		status = write_array(self, KY_BLOCK_SOURCES, capture->sources, sources,
				     error);
	if (status == KYMO_OK)
		status = write_capture_header(self, error);
	self->has_counts = status == KYMO_OK;
	self->counts_sum = sum;
	return status;
}

static int32_t write_end(struct ky_spool_capture *self, uint32_t reason,
			 struct kymo_error *error)
{
	struct ky_end_block end = {
		.reason = reason,
		.end_monotonic_ns = (int64_t)ky_monotonic_ns(),
		.end_realtime_ns = (int64_t)ky_realtime_ns(),
	};

	memcpy(ky_spool_payload(self->spool), &end, sizeof(end));
	return ky_spool_write_block(self->spool, KY_BLOCK_END, sizeof(end), self->number,
				    0, error);
}

/* Everything but the counts. */
static int32_t write_records(struct ky_spool_capture *self, int skip_incomplete,
			     struct kymo_error *error)
{
	int32_t status = drain_anchors(self, skip_incomplete, error);

	if (status == KYMO_OK)
		status = write_chunks(self, error);
	return status == KYMO_OK ? ky_spool_names(self, error) : status;
}

/* Counts come last: so they have at least what the lines before them make up. */
int32_t ky_spool_snapshot(struct ky_spool_capture *self, struct kymo_error *error)
{
	int32_t status = write_records(self, 0, error);

	return status == KYMO_OK ? write_counts(self, error) : status;
}

/* Also where no more records could be written: counts tell how many that are. */
int32_t ky_spool_finish(struct ky_spool_capture *self, uint32_t end_reason,
			struct kymo_error *error)
{
	int32_t status = write_records(self, 1, error), ended;

	if (status != KYMO_OK)
		error = NULL; /* it says what was first */
	self->has_counts = 0;
	ended = write_counts(self, error);
	if (ended == KYMO_OK)
		ended = write_end(self, end_reason, error);
	if (ended == KYMO_OK && self->spool->unended > 0)
		ky_spool_reserve(self->spool, self->spool->unended - 1);
	return status == KYMO_OK ? ended : status;
}
