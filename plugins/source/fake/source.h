/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two halves of the source share: fake.c, which has the tables and the life, and
 * record.c, which fills records. There is one of it, since what the vendor calls has no
 * room for a pointer of ours.
 */
#ifndef KYMO_PLUGINS_SOURCE_FAKE_SOURCE_H
#define KYMO_PLUGINS_SOURCE_FAKE_SOURCE_H

#include <stdatomic.h>

#include <kymo/plugin.h>

#include "fake_device.h"

/* In the order of the tables, so that they say where each number stands. */
enum { RUNTIME, KERNEL, COPY, NOTE, LOAD, POLL, TYPE_COUNT };
enum {
	ERROR,
	THREAD,
	SEQUENCE,
	QUEUED,
	BYTES,
	NODE,
	GRID,
	BLOCK,
	FIRMWARE,
	DEVICE_MEMORY,
	DEVICE_UNITS,
	KEY_COUNT
};
enum { FENCE_LINK, REGION_LINK, LINK_KIND_COUNT };

struct fake_source {
	const struct kymo_host *host;
	struct kymo_source_host *self;
	/* Numbers of what the tables declare, and of what was registered. */
	const uint16_t *types, *keys, *link_kinds;
	uint16_t domain;
	uint32_t clock, queues[FAKE_QUEUE_COUNT], load_track, load_group;
	uint32_t functions[FAKE_FUNCTION_COUNT], directions[FAKE_DIRECTION_COUNT];

	uint32_t wants_polls;           /* this session */
	atomic_uint is_recording;       /* between start and stop, and not paused */
	atomic_ullong last_correlation; /* never used again, in children neither */
};

extern struct fake_source fake_source;

/* The tables and the operations of fake.c. */
extern const struct kymo_plugin fake_plugin;
extern const struct kymo_source_ops fake_ops;

/* What record.c is told by the device. */
extern const struct fake_tool fake_tool;

/* Reads the device's clock; tells the host. */
void fake_read_clock(struct kymo_clock_pair *out);
void fake_anchor(void);

/* Opens and closes a region of the calling thread that its launches are linked to. */
void fake_region_push(void *source, uint16_t domain, uint64_t value);
void fake_region_pop(void *source, uint16_t domain);

#endif
