/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring of blocks with three positions, each of which only grows: `filled` by the
 * caller, `taken` and `written` by the threads. A block belongs to the caller from
 * `written` to `filled`, then to the thread that takes it, which compresses it, waits for
 * its turn and writes it. The positions are under the lock; the blocks need none.
 */
#include "gzip.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ZLIB_CONST
#include <zlib.h>

#define BLOCK_SIZE      (512u << 10)
#define DICTIONARY_SIZE (32u << 10) /* as far as deflate looks back */
#define BLOCKS          4u /* one in each thread's hands, one ahead, one to fill */

/*
 * What can't be compressed is stored, with 5 bytes for each 16 KiB or so: room to spare.
 */
#define PACKED_SIZE (BLOCK_SIZE + BLOCK_SIZE / 64)

/*
 * Measured on a trace of kernels and calls, MB of JSON per second and ratio: level 1
 * gives 338 and 7.2, level 2 342 and 7.5, level 3 289 and 7.7, level 6 129 and 9.1.
 */
#define DEFLATE_LEVEL  2
#define DEFLATE_MEMORY 8     /* zlib's default; 9 is slower and no smaller here */
#define RAW_WINDOW     (-15) /* the largest, without zlib's own header and checksum */

struct block {
	size_t size;
	bool is_last;
	size_t packed_size;
	uLong checksum;
	unsigned char text[DICTIONARY_SIZE + BLOCK_SIZE]; /* behind its dictionary */
	unsigned char packed[PACKED_SIZE];
};

struct worker {
	struct ky_gzip *gzip;
	z_stream stream;
	bool has_stream;
	pthread_t thread;
};

struct ky_gzip {
	int32_t (*write)(void *context, const void *data, size_t size);
	void *context;
	struct worker workers[KY_GZIP_THREADS];
	unsigned wanted_threads, threads;
	size_t size; /* of what is in the block that is being filled */

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	uint64_t filled, taken, written;
	bool is_closed;    /* no more blocks will come */
	bool is_abandoned; /* nothing more is to be written */
	int32_t status;

	/* Of what has been written: by turns, so by one thread at a time. */
	uLong checksum;
	uint64_t text_size;

	struct block blocks[BLOCKS];
};

static struct block *block_of(struct ky_gzip *gzip, uint64_t number)
{
	return &gzip->blocks[number % BLOCKS];
}

/* ---- One block, in any thread ---- */

static int32_t compress_block(z_stream *stream, struct block *block, bool is_first)
{
	const unsigned char *text = block->text + DICTIONARY_SIZE;
	int result = deflateReset(stream);

	if (result == Z_OK && !is_first)
		result = deflateSetDictionary(stream, block->text, DICTIONARY_SIZE);
	if (result != Z_OK)
		return KYMO_ERROR_IO;
	stream->next_in = text;
	stream->avail_in = (uInt)block->size;
	stream->next_out = block->packed;
	stream->avail_out = PACKED_SIZE;
	result = deflate(stream, block->is_last ? Z_FINISH : Z_SYNC_FLUSH);
	if (result != (block->is_last ? Z_STREAM_END : Z_OK) || stream->avail_in > 0 ||
	    stream->avail_out == 0)
		return KYMO_ERROR_IO;
	block->packed_size = PACKED_SIZE - stream->avail_out;
	block->checksum = crc32(0, text, (uInt)block->size);
	return KYMO_OK;
}

static int32_t write_block(struct ky_gzip *gzip, const struct block *block, bool is_first)
{
	/* Deflate, no name, no time (so equal traces are equal files), fastest, Unix. */
	static const unsigned char head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3};
	int32_t status = KYMO_OK;

	if (is_first)
		status = gzip->write(gzip->context, head, sizeof(head));
	if (status == KYMO_OK)
		status = gzip->write(gzip->context, block->packed, block->packed_size);
	gzip->checksum =
		crc32_combine(gzip->checksum, block->checksum, (z_off_t)block->size);
	gzip->text_size += block->size;
	return status;
}

/* Called and left with the lock held. False if there is nothing left to do. */
static bool do_block(struct worker *worker)
{
	struct ky_gzip *gzip = worker->gzip;
	struct block *block;
	uint64_t number;
	int32_t status;

	while (gzip->taken == gzip->filled && !gzip->is_closed)
		pthread_cond_wait(&gzip->changed, &gzip->lock);
	if (gzip->taken == gzip->filled || gzip->is_abandoned)
		return false;
	number = gzip->taken++;
	block = block_of(gzip, number);
	pthread_mutex_unlock(&gzip->lock);
	status = compress_block(&worker->stream, block, number == 0);
	pthread_mutex_lock(&gzip->lock);
	while (gzip->written != number)
		pthread_cond_wait(&gzip->changed, &gzip->lock);
	if (gzip->status == KYMO_OK && !gzip->is_abandoned) {
		pthread_mutex_unlock(&gzip->lock);
		if (status == KYMO_OK)
			status = write_block(gzip, block, number == 0);
		pthread_mutex_lock(&gzip->lock);
		gzip->status = status;
	}
	gzip->written++;
	pthread_cond_broadcast(&gzip->changed);
	return true;
}

static void *work(void *context)
{
	struct worker *worker = context;

	pthread_setname_np(pthread_self(), "kymo-gzip");
	pthread_mutex_lock(&worker->gzip->lock);
	while (do_block(worker))
		;
	pthread_mutex_unlock(&worker->gzip->lock);
	return NULL;
}

/* ---- Threads ---- */

/* The process may be anybody's: its signals are not for our threads to handle. */
static void start_threads(struct ky_gzip *gzip)
{
	sigset_t all, before;

	sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
		return;
	while (gzip->threads < gzip->wanted_threads) {
		struct worker *worker = &gzip->workers[gzip->threads];

		if (pthread_create(&worker->thread, NULL, work, worker) != 0)
			break;
		gzip->threads++;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void end_threads(struct ky_gzip *gzip, bool abandon)
{
	pthread_mutex_lock(&gzip->lock);
	gzip->is_closed = true;
	gzip->is_abandoned |= abandon;
	pthread_cond_broadcast(&gzip->changed);
	pthread_mutex_unlock(&gzip->lock);
	while (gzip->threads > 0)
		pthread_join(gzip->workers[--gzip->threads].thread, NULL);
}

/* ---- The caller's side ---- */

void ky_gzip_destroy(struct ky_gzip *gzip)
{
	unsigned i;

	if (!gzip)
		return;
	end_threads(gzip, true);
	for (i = 0; i < KY_GZIP_THREADS; i++) {
		if (gzip->workers[i].has_stream)
			deflateEnd(&gzip->workers[i].stream);
	}
	pthread_cond_destroy(&gzip->changed);
	pthread_mutex_destroy(&gzip->lock);
	free(gzip);
}

struct ky_gzip *ky_gzip_create(unsigned threads,
			       int32_t (*write)(void *context, const void *data,
						size_t size),
			       void *context)
{
	struct ky_gzip *gzip = malloc(sizeof(*gzip));
	unsigned i;

	if (!gzip)
		return NULL;
	memset(gzip, 0, offsetof(struct ky_gzip, blocks));
	pthread_mutex_init(&gzip->lock, NULL);
	pthread_cond_init(&gzip->changed, NULL);
	gzip->write = write;
	gzip->context = context;
	gzip->wanted_threads = threads < KY_GZIP_THREADS ? threads : KY_GZIP_THREADS;
	for (i = 0; i < KY_GZIP_THREADS; i++) {
		struct worker *worker = &gzip->workers[i];

		worker->gzip = gzip;
		worker->has_stream = deflateInit2(&worker->stream, DEFLATE_LEVEL,
						  Z_DEFLATED, RAW_WINDOW, DEFLATE_MEMORY,
						  Z_DEFAULT_STRATEGY) == Z_OK;
		if (!worker->has_stream) {
			ky_gzip_destroy(gzip);
			return NULL;
		}
	}
	return gzip;
}

/* Hands the block on; without threads its work is done here. */
static void submit(struct ky_gzip *gzip, bool is_last)
{
	struct block *block = block_of(gzip, gzip->filled);

	block->size = gzip->size;
	block->is_last = is_last;
	gzip->size = 0;
	if (gzip->filled == 0 && !is_last)
		start_threads(gzip);
	pthread_mutex_lock(&gzip->lock);
	gzip->filled++;
	pthread_cond_broadcast(&gzip->changed);
	if (gzip->threads == 0)
		do_block(&gzip->workers[0]);
	pthread_mutex_unlock(&gzip->lock);
}

/* Waits until the next block is free, and gives it its dictionary. */
static int32_t begin_block(struct ky_gzip *gzip)
{
	int32_t status;

	pthread_mutex_lock(&gzip->lock);
	while (gzip->filled - gzip->written == BLOCKS)
		pthread_cond_wait(&gzip->changed, &gzip->lock);
	status = gzip->status;
	pthread_mutex_unlock(&gzip->lock);
	if (gzip->filled > 0)
		memcpy(block_of(gzip, gzip->filled)->text,
		       block_of(gzip, gzip->filled - 1)->text + BLOCK_SIZE,
		       DICTIONARY_SIZE);
	return status;
}

int32_t ky_gzip_write(struct ky_gzip *gzip, const char *data, size_t size)
{
	while (size > 0) {
		size_t piece = BLOCK_SIZE - gzip->size;
		int32_t status = gzip->size == 0 ? begin_block(gzip) : KYMO_OK;

		if (status != KYMO_OK)
			return status;
		piece = size < piece ? size : piece;
		memcpy(block_of(gzip, gzip->filled)->text + DICTIONARY_SIZE + gzip->size,
		       data, piece);
		gzip->size += piece;
		data += piece;
		size -= piece;
		if (gzip->size == BLOCK_SIZE)
			submit(gzip, false);
	}
	return KYMO_OK;
}

static void put_le32(unsigned char *at, uint64_t value)
{
	int i;

	for (i = 0; i < 4; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

int32_t ky_gzip_finish(struct ky_gzip *gzip)
{
	unsigned char end[8];
	int32_t status = gzip->size == 0 ? begin_block(gzip) : KYMO_OK;

	if (status == KYMO_OK)
		submit(gzip, true);
	end_threads(gzip, false);
	if (gzip->status != KYMO_OK)
		return gzip->status;
	put_le32(end, gzip->checksum);
	put_le32(end + 4, gzip->text_size);
	return gzip->write(gzip->context, end, sizeof(end));
}
