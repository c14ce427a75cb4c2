/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/stream.h"

#include "base/clock.h"
#include "base/error.h"

#define RESERVE_PART    20u        /* of the disk */
#define RESERVE_MAX     (1u << 30) /* is enough for anybody */
#define RESERVE_MIN     (16u << 20)
#define CHECK_SIZE      (8u << 20) /* written, after which the disk is looked at again */
#define CHECK_PERIOD_NS 100000000u /* others write too */

static uint64_t within(uint64_t value, uint64_t least, uint64_t most)
{
	if (value < least)
		return least;
	return value < most ? value : most;
}

void ky_stream_open(struct ky_stream *out, const struct ky_spool *spool, uint64_t limit)
{
	uint64_t total = 0, available = 0, size = ky_spool_size(spool);

	*out = (struct ky_stream){.spool = spool, .limit = limit};
	/* A file system that cannot tell has a limit only if one is given. */
	if (ky_spool_disk(spool, &total, &available) != 0) {
		if (limit == 0)
			out->limit = UINT64_MAX;
		return;
	}
	out->reserve = within(total / RESERVE_PART, RESERVE_MIN, RESERVE_MAX);
	if (limit == 0)
		out->limit = (size + available) / 2;
}

int32_t ky_stream_check_room(const struct ky_stream *stream, uint64_t memory,
			     struct kymo_error *error)
{
	uint64_t total, available;

	if (memory <= KY_BUDGET_DEFAULT || stream->reserve == 0 ||
	    ky_spool_disk(stream->spool, &total, &available) != 0 ||
	    (available > stream->reserve && memory <= available - stream->reserve))
		return KYMO_OK;
	return ky_error_set(
		error, KYMO_ERROR_INVALID,
		"a buffer of %llu MiB is more than the disk of the output has "
		"room for (%llu MiB free, of which %llu stay so): ask for a "
		"smaller one, or name an output on another disk",
		(unsigned long long)(memory >> 20), (unsigned long long)(available >> 20),
		(unsigned long long)(stream->reserve >> 20));
}

void ky_stream_stop(struct ky_stream *stream, uint32_t reason)
{
	if (stream->stopped)
		return;
	stream->stopped = reason;
	stream->stopped_ns = (int64_t)ky_monotonic_ns();
}

void ky_stream_mark(const struct ky_stream *stream, struct ky_capture *capture)
{
	struct ky_capture_header *header = capture->header;

	if (!stream->stopped ||
	    __atomic_load_n(&header->stream_stopped, __ATOMIC_RELAXED) != 0)
		return;
	header->stream_stopped_ns = stream->stopped_ns;
	__atomic_store_n(&header->stream_stopped, stream->stopped, __ATOMIC_RELEASE);
}

static void look_at_disk(struct ky_stream *stream, uint64_t size)
{
	uint64_t now = ky_monotonic_ns(), total, available;

	if (size - stream->checked_size < CHECK_SIZE &&
	    now - stream->checked_ns < CHECK_PERIOD_NS)
		return;
	stream->checked_size = size;
	stream->checked_ns = now;
	if (stream->reserve > 0 &&
	    ky_spool_disk(stream->spool, &total, &available) == 0 &&
	    available < stream->reserve + stream->held)
		ky_stream_stop(stream, KY_STREAM_SPACE);
}

int ky_stream_goes_on(struct ky_stream *stream)
{
	uint64_t size = ky_spool_size(stream->spool);

	if (!stream->stopped && size >= stream->limit)
		ky_stream_stop(stream, KY_STREAM_LIMIT);
	if (!stream->stopped)
		look_at_disk(stream, size);
	return !stream->stopped;
}
