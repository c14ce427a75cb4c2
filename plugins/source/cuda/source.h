/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the whole plug-in shares: the host it speaks to, the numbers the host gave, and
 * the vendor's library. There is one of it, since CUPTI's callbacks have no room for a
 * pointer of ours.
 */
#ifndef KYMO_PLUGINS_SOURCE_CUDA_SOURCE_H
#define KYMO_PLUGINS_SOURCE_CUDA_SOURCE_H

#include <stdatomic.h>
#include <stdint.h>

#include <kymo/plugin.h>

#include "library.h"

enum ky_type {
	KY_TYPE_KERNEL,
	KY_TYPE_COPY,
	KY_TYPE_FILL,
	KY_TYPE_RUNTIME,
	KY_TYPE_DRIVER,
	KY_TYPE_SYNC,
	KY_TYPE_EVENT,
	KY_TYPE_OVERHEAD,
	KY_TYPE_EXTERNAL,
	KY_TYPE_GRAPH,
	KY_TYPE_UNIFIED,
	KY_TYPE_COUNTER,
	KY_TYPE_COUNT,
};

enum ky_key {
	KY_KEY_QUEUED,
	KY_KEY_SUBMITTED,
	KY_KEY_CONTEXT,
	KY_KEY_REGISTERS,
	KY_KEY_SHARED,
	KY_KEY_BLOCKS_PER_SM,
	KY_KEY_WARPS_PER_SM,
	KY_KEY_GRID,
	KY_KEY_BLOCK,
	KY_KEY_OCCUPANCY_PERCENT,
	KY_KEY_OCCUPANCY,
	KY_KEY_GRAPH,
	KY_KEY_GRAPH_NODE,
	KY_KEY_PRIORITY,
	KY_KEY_CHANNEL,
	KY_KEY_CHANNEL_TYPE,
	KY_KEY_CLUSTER,
	KY_KEY_BYTES,
	KY_KEY_BANDWIDTH,
	KY_KEY_FROM_DEVICE,
	KY_KEY_IN_DEVICE,
	KY_KEY_TO_DEVICE,
	KY_KEY_FROM_CONTEXT,
	KY_KEY_IN_CONTEXT,
	KY_KEY_TO_CONTEXT,
	KY_KEY_CBID,
	KY_KEY_ERROR,
	KY_KEY_SYNC_KIND,
	KY_KEY_WAIT_STREAM,
	KY_KEY_WAIT_CORRELATION,
	KY_KEY_WAIT_EVENT,
	KY_KEY_EVENT,
	KY_KEY_VALUE,
	KY_KEY_ADDRESS,
	KY_KEY_DEVICE_MEMORY,
	KY_KEY_SHARED_PER_BLOCK,
	KY_KEY_SHARED_PER_SM,
	KY_KEY_COMPUTE_MAJOR,
	KY_KEY_COMPUTE_MINOR,
	KY_KEY_THREADS_PER_BLOCK,
	KY_KEY_THREADS_PER_SM,
	KY_KEY_REGISTERS_PER_BLOCK,
	KY_KEY_REGISTERS_PER_SM,
	KY_KEY_WARP_SIZE,
	KY_KEY_SM_COUNT,
	KY_KEY_CLOCK,
	KY_KEY_STREAM,
	KY_KEY_COUNT,
};

struct ky_source {
	const struct kymo_host *host;
	struct kymo_source_host *self;
	const struct kymo_source_numbers *numbers;
	struct ky_library library;
	struct ky_library_places places;

	/* Between start and stop: somebody wants a recording. */
	atomic_uint is_wanted;
	/* Subscribed, with callbacks registered: the vendor may be called. */
	atomic_uint is_attached;
	atomic_uint is_paused; /* also before it is attached */
	atomic_uint epoch;     /* of the session, as prepare said */
	/*
	 * In a forked child the vendor is not to be called before the program has begun
	 * to use CUDA there itself, which InitializeInjection tells.
	 */
	atomic_uint is_inherited;
	/* The host is being attached from inside the driver: see InitializeInjection. */
	atomic_uint is_injecting;

	uint32_t clock; /* of all times that CUPTI gives */
	uint8_t wants[KY_TYPE_COUNT];
};

extern struct ky_source ky_source;

/*
 * Our tables. Never asked of kymo_plugin_entry_v1(): among libraries that were loaded for
 * all to see, that name may be another plug-in's.
 */
extern const struct kymo_plugin ky_cuda_plugin;

/* Ends the recording before the program does, as far as it goes in time. */
void ky_drain_at_exit(void *source, uint64_t deadline_ns);

static inline uint16_t ky_type_number(enum ky_type type)
{
	return ky_source.numbers->types[type];
}

static inline uint16_t ky_key_number(enum ky_key key)
{
	return ky_source.numbers->keys[key];
}

/* Values for attribute sets. */
struct kymo_value ky_value_number(enum ky_key key, uint64_t number);
struct kymo_value ky_value_double(enum ky_key key, double number);
struct kymo_value ky_value_array(enum ky_key key, const int64_t *numbers, uint32_t count);

#endif
