/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Under pool_lock, where no chunk changes hands, it is noted which lines of which lease
 * each chunk has, and what the counts are: that is the snapshot. Then the chunks are
 * copied without the lock, oldest first, since those go first. One whose sequence is not
 * the noted one any more has been overwritten: what was in it is neither in the copy nor
 * among the counts of that moment, so it is counted here.
 *
 * A record that its thread has counted but not committed at that moment is in no chunk:
 * at most one a thread, which the ledger finds out as cut.
 *
 * Not handled: a capture under a recorder, whose chunks somebody else takes out.
 */
#include "capture/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/lock.h"
#include "capture/gate.h"
#include "capture/shared.h"
#include "capture/spool_file.h"

/*
 * Looks at the counts of a thread until it is not just changing them. It is so for some
 * nanoseconds of each record, so this is more than any thread needs.
 */
#define LOOKS_MAX 1000

struct noted_chunk {
	uint64_t sequence;
	uint32_t index, lines;
};

struct ky_snapshot {
	struct ky_capture *capture;
	struct noted_chunk *chunks;
	size_t chunk_count;
	struct ky_writer_slot *slots;
	size_t slot_count;
	struct ky_source_counts sources[KY_SOURCE_MAX];
	uint64_t records;    /* in what was copied */
	uint64_t lost_lines; /* in what was overwritten first */
};

/* ---- What there is; pool_lock held ---- */

static void note_chunk(struct ky_snapshot *snapshot, uint32_t index)
{
	const struct ky_chunk_header *header =
		ky_capture_chunk_header(snapshot->capture, index);
	struct noted_chunk chunk = {
		.sequence = __atomic_load_n(&header->sequence, __ATOMIC_ACQUIRE),
		.index = index,
		.lines = __atomic_load_n(&header->head, __ATOMIC_ACQUIRE),
	};

	if (chunk.sequence != 0 && chunk.lines > 0 && chunk.lines <= KY_CHUNK_LINES)
		snapshot->chunks[snapshot->chunk_count++] = chunk;
}

/* The counts of a thread, and the chunk that it is writing, as of one moment. */
static void note_writer(struct ky_snapshot *snapshot, struct ky_writer_slot *slot)
{
	struct ky_writer_slot *out = &snapshot->slots[snapshot->slot_count++];
	const size_t before = snapshot->chunk_count;
	struct ky_writer_slot again;
	uint32_t chunk = 0;

	if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == 1)
		chunk = slot->chunk;
	ky_copy_shared(&again, slot, sizeof(again));
	for (int i = 0; i < LOOKS_MAX; i++) {
		*out = again;
		snapshot->chunk_count = before;
		if (chunk != 0 && chunk <= snapshot->capture->chunk_count)
			note_chunk(snapshot, chunk - 1);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		ky_copy_shared(&again, slot, sizeof(again));
		if (memcmp(out, &again, sizeof(again)) == 0)
			return;
	}
}

/* Chunks that a thread writes come with the thread. */
static void note_all(struct ky_snapshot *snapshot)
{
	struct ky_capture *capture = snapshot->capture;
	const uint32_t writers =
		__atomic_load_n(&capture->header->writer_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < capture->chunk_count; i++) {
		const uint32_t state =
			__atomic_load_n(&capture->states[i], __ATOMIC_ACQUIRE);

		if (state == KY_CHUNK_PARTIAL || state == KY_CHUNK_SEALED)
			note_chunk(snapshot, i);
	}
	for (uint32_t i = 0; i < writers && i < capture->writer_capacity; i++)
		note_writer(snapshot, &capture->slots[i]);
	ky_copy_shared(snapshot->sources, capture->sources, sizeof(snapshot->sources));
}

/* ---- Copying ---- */

static int compare_age(const void *left, const void *right)
{
	const struct noted_chunk *a = left, *b = right;

	return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static uint64_t count_records(const struct kymo_record *lines, uint32_t count)
{
	uint64_t records = 0;

	for (uint32_t at = 0; at < count; at += lines[at].lines ? lines[at].lines : 1)
		records += lines[at].kind != 0 && lines[at].kind < KYMO_KIND_MORE &&
			   lines[at].kind != KYMO_KIND_LEASE;
	return records;
}

/* Its lines as they were noted, as a CHUNK block; 0: it has been overwritten. */
static size_t copy_chunk(struct ky_snapshot *snapshot, const struct noted_chunk *chunk,
			 uint8_t *to)
{
	const struct ky_chunk_header *live =
		ky_capture_chunk_header(snapshot->capture, chunk->index);
	const size_t size = (size_t)chunk->lines * KYMO_LINE_SIZE;
	struct ky_chunk_header header = {
		.magic = KY_CHUNK_MAGIC,
		.index = chunk->index,
		.sequence = chunk->sequence,
		.head = chunk->lines,
	};

	if (__atomic_load_n(&live->sequence, __ATOMIC_ACQUIRE) == chunk->sequence) {
		ky_copy_shared(to + sizeof(header), live + 1, size);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	}
	if (__atomic_load_n(&live->sequence, __ATOMIC_RELAXED) != chunk->sequence)
		return 0;
	header.crc32c = ky_crc32c(0, to + sizeof(header), size);
	memcpy(to, &header, sizeof(header));
	return sizeof(header) + size;
}

static int32_t write_chunk(struct ky_snapshot *snapshot, struct ky_spool *spool,
			   const struct noted_chunk *chunk, struct kymo_error *error)
{
	uint8_t *payload = spool->chunk + sizeof(struct ky_block_header);
	const struct ky_block_header block = {
		.kind = KY_BLOCK_CHUNK,
		.size = copy_chunk(snapshot, chunk, payload),
		.capture = 1,
		.sequence = chunk->sequence,
	};

	if (block.size == 0) {
		/* But for the LEASE line. */
		snapshot->lost_lines += chunk->lines - 1;
		return KYMO_OK;
	}
	snapshot->records += count_records(
		(const void *)(payload + sizeof(struct ky_chunk_header)), chunk->lines);
	return ky_spool_write_prepared(spool, spool->chunk, block, error);
}

static int32_t write_chunks(struct ky_snapshot *snapshot, struct ky_spool *spool,
			    struct kymo_error *error)
{
	int32_t status = KYMO_OK;

	for (size_t i = 0; status == KYMO_OK && i < snapshot->chunk_count; i++)
		status = write_chunk(snapshot, spool, &snapshot->chunks[i], error);
	return status;
}

/* What threads had committed by then, and is neither copied nor counted as lost. */
static void count_overwritten(struct ky_snapshot *snapshot)
{
	uint64_t written = 0, known = snapshot->records, missing;

	for (size_t i = 0; i < snapshot->slot_count; i++)
		written += snapshot->slots[i].written;
	for (size_t i = 0; i < KY_SOURCE_MAX; i++)
		known += snapshot->sources[i].overwritten;
	missing = written > known ? written - known : 0;
	snapshot->sources[0].overwritten +=
		missing < snapshot->lost_lines ? missing : snapshot->lost_lines;
}

static int32_t write_piece(struct ky_spool *spool, uint32_t kind, const void *data,
			   size_t size, struct kymo_error *error)
{
	memcpy(ky_spool_payload(spool), data, size);
	return ky_spool_write_block(spool, kind, size, 1, 0, error);
}

static int32_t write_rest(const struct ky_snapshot *snapshot, struct ky_spool *spool,
			  struct ky_spool_capture *part, struct kymo_error *error)
{
	const struct ky_end_block end = {
		.reason = KY_END_CUT,
		.end_monotonic_ns = (int64_t)ky_monotonic_ns(),
		.end_realtime_ns = (int64_t)ky_realtime_ns(),
	};
	int32_t status = ky_spool_names(part, error);

	if (status == KYMO_OK)
		status = ky_spool_anchors(part, error);
	if (status == KYMO_OK)
		status = write_piece(spool, KY_BLOCK_WRITERS, snapshot->slots,
				     snapshot->slot_count * sizeof(*snapshot->slots),
				     error);
	if (status == KYMO_OK)
		status = write_piece(spool, KY_BLOCK_SOURCES, snapshot->sources,
				     sizeof(snapshot->sources), error);
	if (status == KYMO_OK)
		status = write_piece(spool, KY_BLOCK_END, &end, sizeof(end), error);
	return status;
}

KYMO_STATIC_ASSERT(KY_WRITER_MAX * sizeof(struct ky_writer_slot) <= KY_PIECE_SIZE);

void ky_snapshot_destroy(struct ky_snapshot *snapshot)
{
	if (!snapshot)
		return;
	free(snapshot->chunks);
	free(snapshot->slots);
	free(snapshot);
}

int32_t ky_snapshot_take(struct ky_snapshot **out, struct ky_capture *capture,
			 struct kymo_error *error)
{
	struct ky_snapshot *snapshot = calloc(1, sizeof(*snapshot));

	*out = NULL;
	if (snapshot) {
		snapshot->capture = capture;
		snapshot->chunks =
			calloc((size_t)capture->chunk_count + capture->writer_capacity,
			       sizeof(*snapshot->chunks));
		snapshot->slots =
			calloc(capture->writer_capacity, sizeof(*snapshot->slots));
	}
	if (!snapshot || !snapshot->chunks || !snapshot->slots) {
		ky_snapshot_destroy(snapshot);
		return ky_error_no_memory(error);
	}
	/* Behind the last record, so that its time needs no guess. */
	ky_capture_host_anchor(capture);
	ky_lock(&ky_gate()->pool_lock);
	note_all(snapshot);
	ky_unlock(&ky_gate()->pool_lock);
	qsort(snapshot->chunks, snapshot->chunk_count, sizeof(*snapshot->chunks),
	      compare_age);
	*out = snapshot;
	return KYMO_OK;
}

int32_t ky_snapshot_write(struct ky_snapshot *snapshot, struct ky_spool *spool,
			  struct kymo_error *error)
{
	struct ky_spool_capture *part = NULL;
	int32_t status = ky_spool_add(spool, snapshot->capture, 1, &part, error);

	if (status == KYMO_OK)
		status = write_chunks(snapshot, spool, error);
	if (status != KYMO_OK)
		return status;
	count_overwritten(snapshot);
	return write_rest(snapshot, spool, part, error);
}
