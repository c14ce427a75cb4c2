/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the whole source shares: the host it speaks to, the numbers the host gave, and
 * what this session wants. There is one of it: the kernel counts a process, and two
 * sources of one process would count the same.
 *
 * Everything runs either in an operation or in a tick of the host's timer, and a tick
 * overlaps no operation: so there is no lock and no atomic here.
 */
#ifndef KYMO_PLUGINS_SOURCE_PERF_SOURCE_H
#define KYMO_PLUGINS_SOURCE_PERF_SOURCE_H

#include <kymo/plugin.h>

#include "option.h"

/* In the order of the tables of perf.c. */
enum perf_type {
	PERF_TYPE_CPU,
	PERF_TYPE_FAULTS,
	PERF_TYPE_SWITCHES,
	PERF_TYPE_EVENTS,
	PERF_TYPE_PRESSURE,
	PERF_TYPE_MEMORY,
	PERF_TYPE_SAMPLE,
	PERF_TYPE_OFF_CPU,
	PERF_TYPE_COUNT,
};

enum perf_key {
	PERF_KEY_STACK,
	PERF_KEY_PMU_SHARE,
	PERF_KEY_THROTTLED,
	PERF_KEY_ADDRESSES,
	PERF_KEY_COUNT,
};

struct perf_source {
	const struct kymo_host *host;
	struct kymo_source_host *self;
	const uint16_t *types, *keys; /* by enum perf_type and enum perf_key */
	uint32_t clock;               /* CLOCK_MONOTONIC, by which the kernel stamps */
	struct perf_options options;
	uint8_t wants[PERF_TYPE_COUNT];
	/* The thread of the host's timers, 0 until it has ticked. It is ours, and not the
	 * program's: what it does is left out. */
	uint32_t own_tid;
};

extern struct perf_source perf_source;

/* The tables of perf.c. */
extern const struct kymo_plugin perf_plugin;

/* CLOCK_MONOTONIC. */
uint64_t perf_now_ns(void);

#endif
