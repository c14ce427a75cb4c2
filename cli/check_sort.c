/* SPDX-License-Identifier: BSD-3-Clause */
#include "check_sort.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "say.h"

/* A sorted piece of the file while it is merged. */
struct run {
	uint64_t offset; /* of what is not yet read */
	size_t left;     /* records not yet read */
	char *buffer;    /* part of the sorter's */
	size_t at, count;
};

struct ky_sorter {
	size_t record_size, capacity; /* of the buffer, in records */
	ky_sort_compare_fn compare;
	char *buffer;
	size_t count, at;
	int fd; /* -1: all is in the buffer */
	uint64_t file_size;
	struct run *runs;
	size_t run_count;
	size_t *heap; /* run numbers, the one with the lowest record first */
	size_t heap_count;
	char *record; /* the one handed out */
	int is_reading;
};

static const char *folder(void)
{
	const char *named = secure_getenv("TMPDIR");

	return named && *named ? named : "/var/tmp";
}

static void fail(const char *what, int number)
{
	exit(ky_say_error(KY_EXIT_USAGE,
			  "cannot %s a temporary file in \"%s\": %s; name another "
			  "folder by TMPDIR",
			  what, folder(), strerror(number)));
}

static void append(struct ky_sorter *sorter, const char *data, size_t size)
{
	int number;

	if (sorter->fd < 0)
		sorter->fd = ky_open_nameless(folder());
	if (sorter->fd < 0)
		fail("make", -sorter->fd);
	number = ky_write_all(sorter->fd, data, size);
	if (number != 0)
		fail("write", number);
	sorter->file_size += size;
}

static void put_run(struct ky_sorter *sorter)
{
	struct run *run;

	qsort(sorter->buffer, sorter->count, sorter->record_size, sorter->compare);
	if ((sorter->run_count & (sorter->run_count - 1)) == 0)
		sorter->runs = ky_must_grow(sorter->runs,
					    sorter->run_count ? 2 * sorter->run_count : 1,
					    sizeof(*sorter->runs));
	run = &sorter->runs[sorter->run_count++];
	*run = (struct run){.offset = sorter->file_size, .left = sorter->count};
	append(sorter, sorter->buffer, sorter->count * sorter->record_size);
	sorter->count = 0;
}

/* False where the run is at its end. */
static int refill(struct ky_sorter *sorter, struct run *run, size_t capacity)
{
	size_t size, got;
	int number;

	run->count = run->left < capacity ? run->left : capacity;
	run->at = 0;
	size = run->count * sorter->record_size;
	number = ky_pread_all(sorter->fd, run->buffer, size, run->offset, &got);
	if (number != 0 || got != size)
		fail("read", number ? number : EIO);
	run->offset += size;
	run->left -= run->count;
	return run->count > 0;
}

static const char *head(const struct ky_sorter *sorter, size_t number)
{
	const struct run *run = &sorter->runs[number];

	return run->buffer + run->at * sorter->record_size;
}

static int is_before(const struct ky_sorter *sorter, size_t a, size_t b)
{
	const int order = sorter->compare(head(sorter, a), head(sorter, b));

	return order ? order < 0 : a < b;
}

static void sink_down(struct ky_sorter *sorter, size_t i)
{
	for (;;) {
		size_t child = 2 * i + 1, moved = sorter->heap[i];

		if (child >= sorter->heap_count)
			return;
		if (child + 1 < sorter->heap_count &&
		    is_before(sorter, sorter->heap[child + 1], sorter->heap[child]))
			child++;
		if (!is_before(sorter, sorter->heap[child], moved))
			return;
		sorter->heap[i] = sorter->heap[child];
		sorter->heap[child] = moved;
		i = child;
	}
}

static size_t share(const struct ky_sorter *sorter)
{
	return sorter->capacity / (sorter->run_count ? sorter->run_count : 1);
}

/* The buffer is cut into one part for each run; there is room, see ky_sorter_add. */
static void begin_merge(struct ky_sorter *sorter)
{
	size_t i;

	put_run(sorter);
	sorter->heap = ky_must_grow(NULL, sorter->run_count, sizeof(*sorter->heap));
	for (i = 0; i < sorter->run_count; i++) {
		sorter->runs[i].buffer =
			sorter->buffer + i * share(sorter) * sorter->record_size;
		if (refill(sorter, &sorter->runs[i], share(sorter)))
			sorter->heap[sorter->heap_count++] = i;
	}
	for (i = sorter->heap_count / 2; i-- > 0;)
		sink_down(sorter, i);
}

static const void *next_of_runs(struct ky_sorter *sorter)
{
	struct run *run;

	if (sorter->heap_count == 0)
		return NULL;
	run = &sorter->runs[sorter->heap[0]];
	memcpy(sorter->record, head(sorter, sorter->heap[0]), sorter->record_size);
	run->at++;
	if (run->at == run->count && !refill(sorter, run, share(sorter)))
		sorter->heap[0] = sorter->heap[--sorter->heap_count];
	sink_down(sorter, 0);
	return sorter->record;
}

const void *ky_sorter_next(struct ky_sorter *sorter)
{
	if (!sorter->is_reading) {
		sorter->is_reading = 1;
		if (sorter->fd < 0)
			qsort(sorter->buffer, sorter->count, sorter->record_size,
			      sorter->compare);
		else
			begin_merge(sorter);
	}
	if (sorter->fd >= 0)
		return next_of_runs(sorter);
	if (sorter->at == sorter->count)
		return NULL;
	return sorter->buffer + sorter->at++ * sorter->record_size;
}

void ky_sorter_add(struct ky_sorter *sorter, const void *record)
{
	/* As many runs as records in the buffer: that is beyond any disk. */
	if (sorter->count == sorter->capacity) {
		if (sorter->run_count + 1 >= sorter->capacity)
			exit(ky_say_error(KY_EXIT_USAGE, "too many events to sort"));
		put_run(sorter);
	}
	memcpy(sorter->buffer + sorter->count * sorter->record_size, record,
	       sorter->record_size);
	sorter->count++;
}

void ky_sorter_destroy(struct ky_sorter *sorter)
{
	if (!sorter)
		return;
	if (sorter->fd >= 0)
		close(sorter->fd);
	free(sorter->buffer);
	free(sorter->runs);
	free(sorter->heap);
	free(sorter->record);
	free(sorter);
}

struct ky_sorter *ky_sorter_create(size_t record_size, size_t memory,
				   ky_sort_compare_fn compare)
{
	struct ky_sorter *sorter = ky_must_grow(NULL, 1, sizeof(*sorter));

	*sorter = (struct ky_sorter){
		.record_size = record_size,
		.capacity = memory / record_size,
		.compare = compare,
		.fd = -1,
	};
	/* Pages that are never used are never there. */
	sorter->buffer = ky_must_grow(NULL, sorter->capacity, record_size);
	sorter->record = ky_must_grow(NULL, 1, record_size);
	return sorter;
}
