/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers that CUPTI fills: from the host's fixed pool, so nothing is allocated while
 * the program launches. CUPTI asks for them and hands them back in threads of its own or
 * of the program, several at once.
 */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_BUFFER_H
#define KYMO_PLUGINS_SOURCE_CUDA_BUFFER_H

#include "source.h"

/* What CUPTI is given: see cupti.h. */
void ky_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records);
void ky_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			 size_t valid);

/* A session begins; it may hold so many bytes. `clock_now` is CUPTI's clock. */
void ky_buffer_begin(uint64_t memory_limit, int threads_are_system, uint64_t clock_now);
/*
 * Hands over the calls that ended so long ago, and wait for one that they may be part of:
 * it would have come.
 */
void ky_buffer_settle(uint64_t age_ns);
/* Everything has been handed back that will be. */
void ky_buffer_end(void);
/* The host's number of a device; 0: none of its records has come, and none is made up. */
uint32_t ky_buffer_device(uint32_t id, int is_made_up);
/* Asks CUPTI what it has dropped since it was asked last, and counts that as lost. */
void ky_buffer_count_dropped(void);
void ky_buffer_forked(void);

#endif
