/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From CUPTI's records to lines of 64 bytes. All of this is called with the decoder's
 * lock held, from whatever thread CUPTI hands buffers over in.
 */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_DECODE_H
#define KYMO_PLUGINS_SOURCE_CUDA_DECODE_H

#include "batch.h"

/* What became of a buffer. */
struct ky_decoded {
	uint32_t records;
	uint32_t is_broken; /* it ended in what is no record */
	uint32_t unknown;   /* a kind that was skipped, the last one; 0: none */
};

/* A session begins: which fields records have, and that nothing is known of pointers. */
void ky_decode_begin(uint32_t version, int threads_are_system);
/* Emits the calls that ended by then, and wait for one that they may be part of. */
void ky_decode_settle(uint64_t until);
/* Emits all that has waited for something that has not come. */
void ky_decode_end(void);

/* Times before `earliest`, or well after `now`, are taken to mean nothing. */
struct ky_decoded ky_decode_buffer(uint8_t *buffer, size_t size, uint64_t earliest,
				   uint64_t now);
/* Records in a buffer that came too late. */
uint32_t ky_decode_count(uint8_t *buffer, size_t size);

/* One record each; what they hold beyond the first versions is read by batch->version. */
void ky_decode_kernel(struct ky_batch *batch, const struct cupti_kernel *from);
void ky_decode_graph(struct ky_batch *batch, const struct cupti_graph *from);
void ky_decode_copy(struct ky_batch *batch, const struct cupti_memcpy *from);
void ky_decode_peer(struct ky_batch *batch, const struct cupti_memcpy_peer *from);
void ky_decode_fill(struct ky_batch *batch, const struct cupti_memset *from);
void ky_decode_unified(struct ky_batch *batch, const struct cupti_unified *from);
void ky_decode_call(struct ky_batch *batch, const struct cupti_api *from);
void ky_decode_sync(struct ky_batch *batch, const struct cupti_sync *from);
void ky_decode_event(struct ky_batch *batch, const struct cupti_event *from);
void ky_decode_overhead(struct ky_batch *batch, const struct cupti_overhead *from);
void ky_decode_external(struct ky_batch *batch, const struct cupti_external *from);

/* Calls that wait for what comes next, and ended by then: see call.c. */
void ky_call_end(struct ky_batch *batch, uint64_t until);
void ky_call_forget(void);

/* Events that wait for their call: see event.c. */
void ky_event_call(struct ky_batch *batch, const struct cupti_api *call);
void ky_event_end(struct ky_batch *batch);
void ky_event_forget(void);

/* Attribute sets that kernels and copies have; the clock's tracks are of no account. */
void ky_kernel_forget(void);
void ky_copy_forget(void);

/* The value of a key that says what kind of channel it was, or 0. */
uint32_t ky_channel_type_name(uint32_t type);

#endif
