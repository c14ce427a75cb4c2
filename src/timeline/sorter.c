/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A batch that fills the memory is sorted and written out as one run; the runs are merged
 * on reading. While everything fits, there is no file at all.
 */
#include "timeline/sorter.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/env.h"
#include "base/error.h"
#include "base/fs.h"
#include "timeline/share.h"

#define RUN_BUFFER_MIN 4096u

/* A sorted run in the file. */
struct run {
	uint64_t offset, left; /* items in the file not yet in the buffer */
	uint64_t begin, count; /* all of it, to read it again */
	uint8_t *buffer;
	size_t at, filled; /* items in the buffer */
	int64_t key;       /* of the item at `at` */
};

struct ky_sorter {
	struct ky_batch batch;
	size_t memory_size; /* that it takes if there is as much */
	uint64_t count;

	int fd;
	uint64_t file_size;
	struct run *runs;
	uint32_t run_count, run_capacity;
	uint8_t *buffers;
	size_t buffer_items;
	uint32_t *heap; /* of runs, the smallest head first */
	uint32_t heap_count;
	int advance;     /* the heap's first run has been handed out */
	size_t position; /* without runs: how many of the sorted batch were handed out */
	int is_finished;
};

static int32_t no_memory(struct kymo_error *error)
{
	return ky_error_set(error, KYMO_ERROR_NO_MEMORY, "no memory to sort records");
}

static uint8_t *item_at(const struct ky_sorter *sorter, uint8_t *items, size_t index)
{
	return items + index * sorter->batch.item_size;
}

/* ---- Runs in the file ---- */

static const char *temporary_folder(void)
{
	const char *folder = ky_env_get("TMPDIR");

	return folder && folder[0] == '/' ? folder : "/tmp";
}

static int32_t add_run(struct ky_sorter *sorter)
{
	if (sorter->run_count == sorter->run_capacity) {
		uint32_t capacity = sorter->run_capacity * 2 + 4;
		struct run *runs = realloc(sorter->runs, capacity * sizeof(*runs));

		if (!runs)
			return KYMO_ERROR_NO_MEMORY;
		sorter->runs = runs;
		sorter->run_capacity = capacity;
	}
	sorter->runs[sorter->run_count++] =
		(struct run){.begin = sorter->file_size, .count = sorter->batch.count};
	return KYMO_OK;
}

static int32_t spill(struct ky_sorter *sorter, struct kymo_error *error)
{
	struct ky_batch *batch = &sorter->batch;
	size_t size = batch->count * batch->item_size;
	int number;

	if (ky_batch_sort(batch) != KYMO_OK || add_run(sorter) != KYMO_OK)
		return no_memory(error);
	if (sorter->fd < 0)
		sorter->fd = ky_open_nameless(temporary_folder());
	number = sorter->fd < 0 ? -sorter->fd
				: ky_write_all(sorter->fd, batch->sorted, size);
	if (number != 0)
		return ky_error_set_errno(error, number,
					  "cannot write the temporary file for sorting "
					  "in %s, which TMPDIR can move elsewhere",
					  temporary_folder());
	sorter->file_size += size;
	ky_batch_empty(batch);
	return KYMO_OK;
}

static int32_t fill(struct ky_sorter *sorter, struct run *run, struct kymo_error *error)
{
	size_t items = run->left < sorter->buffer_items ? (size_t)run->left
							: sorter->buffer_items;
	size_t size = items * sorter->batch.item_size, got = 0;
	int number = ky_pread_all(sorter->fd, run->buffer, size, run->offset, &got);

	if (number != 0 || got != size)
		return ky_error_set_errno(error, number ? number : EIO,
					  "cannot read the temporary file for sorting");
	run->offset += size;
	run->left -= items;
	run->at = 0;
	run->filled = items;
	run->key = ky_item_key(run->buffer);
	return KYMO_OK;
}

static int run_before(const struct ky_sorter *sorter, uint32_t a, uint32_t b)
{
	const struct run *left = &sorter->runs[a], *right = &sorter->runs[b];
	int order;

	if (left->key != right->key)
		return left->key < right->key;
	order = sorter->batch.compare(item_at(sorter, left->buffer, left->at),
				      item_at(sorter, right->buffer, right->at));
	return order != 0 ? order < 0 : a < b;
}

static void sift_run(struct ky_sorter *sorter, uint32_t at)
{
	uint32_t moved = sorter->heap[at], count = sorter->heap_count;

	for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count &&
		    run_before(sorter, sorter->heap[child + 1], sorter->heap[child]))
			child++;
		if (!run_before(sorter, sorter->heap[child], moved))
			break;
		sorter->heap[at] = sorter->heap[child];
		at = child;
	}
	sorter->heap[at] = moved;
}

/* The batch's memory is not needed any more and becomes the runs' buffers. */
static int32_t make_buffers(struct ky_sorter *sorter, struct kymo_error *error)
{
	size_t memory = sorter->batch.capacity_max * sorter->batch.item_size * 2;
	size_t size = memory / sorter->run_count;

	ky_batch_clear(&sorter->batch);
	if (size < RUN_BUFFER_MIN)
		size = RUN_BUFFER_MIN;
	sorter->buffer_items = size / sorter->batch.item_size;
	size = sorter->buffer_items * sorter->batch.item_size;
	sorter->buffers = malloc(size * sorter->run_count);
	sorter->heap = malloc(sorter->run_count * sizeof(*sorter->heap));
	if (!sorter->buffers || !sorter->heap)
		return no_memory(error);
	for (uint32_t i = 0; i < sorter->run_count; i++)
		sorter->runs[i].buffer = sorter->buffers + i * size;
	return KYMO_OK;
}

static int32_t begin_merge(struct ky_sorter *sorter, struct kymo_error *error)
{
	sorter->heap_count = sorter->run_count;
	for (uint32_t i = 0; i < sorter->run_count; i++) {
		struct run *run = &sorter->runs[i];
		int32_t status;

		run->offset = run->begin;
		run->left = run->count;
		status = fill(sorter, run, error);
		if (status != KYMO_OK)
			return status;
		sorter->heap[i] = i;
	}
	for (uint32_t i = sorter->heap_count / 2; i-- > 0;)
		sift_run(sorter, i);
	return KYMO_OK;
}

/* Runs follow each other in time, mostly, so the first one of the heap stays there. */
static int stays_first(const struct ky_sorter *sorter)
{
	int64_t key = sorter->runs[sorter->heap[0]].key;

	return sorter->heap_count < 2 ||
	       (key < sorter->runs[sorter->heap[1]].key &&
		(sorter->heap_count < 3 || key < sorter->runs[sorter->heap[2]].key));
}

/* Steps past the item handed out last. */
static int32_t advance_merge(struct ky_sorter *sorter, struct kymo_error *error)
{
	struct run *run = &sorter->runs[sorter->heap[0]];

	if (++run->at == run->filled) {
		if (run->left > 0) {
			int32_t status = fill(sorter, run, error);

			if (status != KYMO_OK)
				return status;
		} else {
			sorter->heap[0] = sorter->heap[--sorter->heap_count];
		}
	} else {
		run->key = ky_item_key(item_at(sorter, run->buffer, run->at));
	}
	if (!stays_first(sorter))
		sift_run(sorter, 0);
	return KYMO_OK;
}

int32_t ky_sorter_push(struct ky_sorter *sorter, const void *item,
		       struct kymo_error *error)
{
	int32_t status;

	if (sorter->is_finished)
		return ky_error_set(error, KYMO_ERROR_STATE, "sorting has ended already");
	/* Not before: a small one need not ask, and others may have taken it since. */
	if (ky_batch_is_to_grow(&sorter->batch))
		ky_batch_limit(&sorter->batch, ky_memory_share(sorter->memory_size));
	status = ky_batch_push(&sorter->batch, item);
	if (status == KYMO_AGAIN) {
		status = spill(sorter, error);
		if (status != KYMO_OK)
			return status;
		status = ky_batch_push(&sorter->batch, item);
	}
	if (status != KYMO_OK)
		return no_memory(error);
	sorter->count++;
	return KYMO_OK;
}

/* ---- Reading ---- */

static int32_t end_pushing(struct ky_sorter *sorter, struct kymo_error *error)
{
	int32_t status = KYMO_OK;

	if (sorter->run_count > 0 && sorter->batch.count > 0)
		status = spill(sorter, error);
	else if (ky_batch_sort(&sorter->batch) != KYMO_OK)
		return no_memory(error);
	if (status == KYMO_OK && sorter->run_count > 0)
		status = make_buffers(sorter, error);
	return status;
}

int32_t ky_sorter_finish(struct ky_sorter *sorter, struct kymo_error *error)
{
	if (!sorter->is_finished) {
		int32_t status = end_pushing(sorter, error);

		if (status != KYMO_OK)
			return status;
		sorter->is_finished = 1;
	}
	sorter->advance = 0;
	if (sorter->run_count > 0)
		return begin_merge(sorter, error);
	sorter->position = 0;
	return KYMO_OK;
}

int32_t ky_sorter_next(struct ky_sorter *sorter, const void **item,
		       struct kymo_error *error)
{
	const struct run *run;

	if (sorter->run_count == 0) {
		if (sorter->position == sorter->batch.count)
			return KYMO_END;
		*item = item_at(sorter, sorter->batch.sorted, sorter->position++);
		return KYMO_OK;
	}
	if (sorter->advance) {
		int32_t status = advance_merge(sorter, error);

		if (status != KYMO_OK)
			return status;
	}
	sorter->advance = sorter->heap_count > 0;
	if (sorter->heap_count == 0)
		return KYMO_END;
	run = &sorter->runs[sorter->heap[0]];
	*item = item_at(sorter, run->buffer, run->at);
	return KYMO_OK;
}

uint64_t ky_sorter_count(const struct ky_sorter *sorter)
{
	return sorter->count;
}

void ky_sorter_destroy(struct ky_sorter *sorter)
{
	if (!sorter)
		return;
	ky_batch_clear(&sorter->batch);
	free(sorter->runs);
	free(sorter->buffers);
	free(sorter->heap);
	if (sorter->fd >= 0)
		close(sorter->fd);
	free(sorter);
}

int32_t ky_sorter_create(struct ky_sorter **out, size_t item_size, ky_compare_fn compare,
			 size_t memory_size, struct kymo_error *error)
{
	struct ky_sorter *sorter = calloc(1, sizeof(*sorter));

	*out = NULL;
	if (!sorter)
		return no_memory(error);
	ky_batch_init(&sorter->batch, item_size, compare, memory_size);
	sorter->memory_size = memory_size;
	sorter->fd = -1;
	*out = sorter;
	return KYMO_OK;
}
