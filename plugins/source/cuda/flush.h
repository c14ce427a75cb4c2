/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cuptiActivityFlushAll() with a deadline: it may wait for work of the device that never
 * ends, so it is called in a thread of its own.
 */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_FLUSH_H
#define KYMO_PLUGINS_SOURCE_CUDA_FLUSH_H

#include "source.h"

/*
 * KYMO_OK when CUPTI has handed over what it has; KYMO_ERROR_BUSY if it had not at the
 * deadline: it goes on, and the next one waits for it. KYMO_ERROR_IO: it failed.
 */
int32_t ky_flush(uint32_t flags, uint64_t deadline_ns);

/*
 * For a timer's tick, however often that is: begins a flush of what is complete if the
 * last one is so long ago, and does not wait for it. A period of 0: never.
 */
void ky_flush_when_due(uint64_t period_ns);

/* What CUPTI said to the last one that returned. */
int32_t ky_flush_result(void);
/* One that was given up has not returned. */
int ky_flush_is_hung(void);
void ky_flush_forked(void);

#endif
