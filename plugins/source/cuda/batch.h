/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines on their way to the host, many in one call. What belongs to one vendor's buffer
 * goes here; there is one, under the decoder's lock.
 */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_BATCH_H
#define KYMO_PLUGINS_SOURCE_CUDA_BATCH_H

#include <string.h>

#include "source.h"

#define KY_BATCH_LINES      64u
#define KY_BATCH_LINES_EACH 3u /* of one record, at most */

/* How far a time may be off before it is not believed: CUPTI interpolates. */
#define KY_SLACK_NS 1000000000u

struct ky_batch {
	uint32_t version;       /* of the library: which fields records have */
	uint32_t buffer;        /* number of the buffer that is being read */
	uint64_t earliest, now; /* by CUPTI's clock: what can be true, and what it is */
	uint32_t used;          /* lines */
	union kymo_line lines[KY_BATCH_LINES];
};

static inline void ky_batch_emit(struct ky_batch *batch)
{
	if (batch->used > 0)
		ky_source.host->emit(ky_source.self, batch->lines, batch->used);
	batch->used = 0;
}

/* The next record, to be filled in; values are added before the next call. */
static inline struct kymo_record *ky_batch_add(struct ky_batch *batch)
{
	if (batch->used + KY_BATCH_LINES_EACH > KY_BATCH_LINES)
		ky_batch_emit(batch);
	return &batch->lines[batch->used++].record;
}

/* Adds a value to the record that was added last: two go into its own line. */
static inline void ky_batch_value(struct ky_batch *batch, struct kymo_record *record,
				  enum ky_key key, uint64_t value)
{
	struct kymo_record_more *more;

	for (unsigned i = 0; i < 2; i++) {
		if (record->key[i] == 0) {
			record->key[i] = ky_key_number(key);
			record->value[i] = value;
			return;
		}
	}
	more = &batch->lines[batch->used - 1].more;
	if (record->lines == 1 || more->used == 6) {
		more = &batch->lines[batch->used++].more;
		memset(more, 0, sizeof(*more));
		more->kind = KYMO_KIND_MORE;
		record->lines++;
	}
	more->key[more->used] = ky_key_number(key);
	more->value[more->used] = value;
	more->used++;
}

/* Adds three integers to the record that was added last; nothing may be added then. */
static inline void ky_batch_triple(struct ky_batch *batch, struct kymo_record *record,
				   enum ky_key key, const int64_t numbers[3])
{
	struct kymo_record_bytes *bytes = &batch->lines[batch->used++].bytes;

	*bytes = (struct kymo_record_bytes){
		.kind = KYMO_KIND_BYTES,
		.used = 3 * sizeof(numbers[0]),
		.key = ky_key_number(key),
		.total = 3 * sizeof(numbers[0]),
	};
	memcpy(bytes->byte, numbers, 3 * sizeof(numbers[0]));
	record->lines++;
}

/* CUPTI says 0 for "not collected", and some versions say what cannot be. */
static inline uint16_t ky_batch_time_flags(const struct ky_batch *batch, uint64_t begin,
					   uint64_t end)
{
	return begin == 0 || end < begin || begin < batch->earliest ||
			       end > batch->now + KY_SLACK_NS
		       ? KYMO_RECORD_UNTIMED
		       : 0;
}

#endif
