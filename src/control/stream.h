/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a keeper may stream: until the file has reached its limit or its disk is
 * nearly full. What is recorded after that stays in memory, drops what is new once that
 * is full, and is written when its process has ended.
 */
#ifndef KYMO_CONTROL_STREAM_H
#define KYMO_CONTROL_STREAM_H

#include "capture/spool.h"

struct ky_stream {
	const struct ky_spool *spool;
	uint64_t limit;        /* bytes of the file */
	uint64_t reserve;      /* bytes of the disk that stay free */
	uint64_t held;         /* bytes in memory that are to be written in the end */
	uint64_t checked_size; /* of the file, when the disk was looked at last */
	uint64_t checked_ns;
	uint32_t stopped; /* KY_STREAM_* */
	uint32_t reserved0;
	int64_t stopped_ns; /* CLOCK_MONOTONIC */
};

/* `limit` 0: half of what is free, with what the file has already. */
void ky_stream_open(struct ky_stream *out, const struct ky_spool *spool, uint64_t limit);

/*
 * KYMO_ERROR_INVALID if a process's memory, which is written in the end, would leave
 * nothing to stream into. No more than the default is always taken: who has asked for
 * nothing gets what there is.
 */
int32_t ky_stream_check_room(const struct ky_stream *stream, uint64_t memory,
			     struct kymo_error *error);

/* Looks again; whether it goes on. */
int ky_stream_goes_on(struct ky_stream *stream);

/* Ends it for the reason, unless it has ended; the capture's header says so then. */
void ky_stream_stop(struct ky_stream *stream, uint32_t reason);
void ky_stream_mark(const struct ky_stream *stream, struct ky_capture *capture);

#endif
