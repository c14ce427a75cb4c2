/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where things happen: devices with what is known of them, contexts, and the tracks of
 * streams and threads. Under the decoder's lock.
 */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_PLACE_H
#define KYMO_PLUGINS_SOURCE_CUDA_PLACE_H

#include "occupancy.h"
#include "source.h"

struct ky_device {
	uint32_t id, number;     /* CUPTI's, and the host's; number 0: a free place */
	struct ky_limits limits; /* zeros where no DEVICE record has come */
};

/* What a row of a device is for. */
enum ky_row { KY_ROW_STREAM, KY_ROW_SYNC, KY_ROW_UNIFIED };

/* NULL if there are too many. One that no DEVICE record has told of has no name. */
const struct ky_device *ky_place_device(uint32_t id);
int ky_place_knows(uint32_t id);
/* 1 if that changes what was known of its limits. */
int ky_place_learn_device(const struct cupti_device *record);
/* By its record, or by what runs in it: older versions tell of new contexts only. */
void ky_place_learn_context(uint32_t context, uint32_t device);

/* 0 if the context is not known: most machines have one device only. */
uint32_t ky_place_context_device(uint32_t context);

uint32_t ky_place_stream(uint32_t device, uint32_t stream, enum ky_row row);
uint32_t ky_place_thread(uint32_t thread);
/* What CUPTI itself costs, where it names no thread. */
uint32_t ky_place_overhead(void);

/*
 * `is_system`: CUPTI speaks of threads by the kernel's ids. Where the clock is another
 * one than before, tracks are others as well.
 */
void ky_place_begin(int is_system);
void ky_place_forget(void);

#endif
