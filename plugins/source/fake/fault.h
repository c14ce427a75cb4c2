/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two halves of the faults share: faults.c, which spoils operations, and
 * spoil.c, which spoils records.
 */
#ifndef KYMO_PLUGINS_SOURCE_FAKE_FAULT_H
#define KYMO_PLUGINS_SOURCE_FAKE_FAULT_H

#include <pthread.h>
#include <stdatomic.h>

#include <kymo/plugin.h>

#define FAKE_HELD_MAX 4096u

enum fake_fault {
	/* Of records. */
	FAKE_FAULT_ZERO,
	FAKE_FAULT_BACKWARDS,
	FAKE_FAULT_WINDOW,
	FAKE_FAULT_OVERLAP,
	FAKE_FAULT_TWICE,
	FAKE_FAULT_SAME,
	FAKE_FAULT_TYPE,
	FAKE_FAULT_TRACK,
	FAKE_FAULT_DOMAIN,
	FAKE_FAULT_NAME,
	FAKE_FAULT_ATTRIBUTES,
	FAKE_FAULT_KEY_NUMBER,
	FAKE_FAULT_LINES,
	FAKE_FAULT_KIND,
	FAKE_FAULT_UNWANTED,
	FAKE_FAULT_LATE,
	FAKE_FAULT_LOSSES,
	/* Of all records, or of none in particular. */
	FAKE_FAULT_NAMES,
	FAKE_FAULT_CRASH,
	FAKE_FAULT_KILL,
	/* Of operations. */
	FAKE_FAULT_CREATE,
	FAKE_FAULT_PREPARE,
	FAKE_FAULT_START,
	FAKE_FAULT_STOP,
	FAKE_FAULT_FLUSH,
	FAKE_FAULT_PAUSE,
	FAKE_FAULT_DRAIN,
	FAKE_FAULT_TOLD,
	FAKE_FAULT_STUCK,
	FAKE_FAULT_SLOW,
	FAKE_FAULT_HANG,
	FAKE_FAULT_AGAIN,
	FAKE_FAULT_NEVER,
	FAKE_FAULT_RESTLESS,
	FAKE_FAULT_COUNT,
};

struct fake_faults {
	const struct kymo_host *real;
	struct kymo_source_host *self;
	uint64_t wanted; /* a bit for each fault */
	uint64_t every, at, rate;
	int32_t status;
	uint32_t epoch;
};

extern struct fake_faults fake_faults;

static inline int fake_fault_is_wanted(enum fake_fault fault)
{
	return (int)(fake_faults.wanted >> fault & 1);
}

void fake_fault_count(enum fake_fault fault);

/* ---- spoil.c ---- */

/* The host's emit, lost and string, with faults. */
int32_t fake_spoil_emit(struct kymo_source_host *self, const union kymo_line *lines,
			uint32_t line_count);
void fake_spoil_lost(struct kymo_source_host *self, uint32_t reason, uint64_t count);
uint32_t fake_spoil_string(struct kymo_source_host *self, struct kymo_str text);

/* One record for the real host, counted by what it is and what the host says to it. */
int32_t fake_spoil_give(const union kymo_line *lines, uint32_t line_count);

/* Gives what was held back for being late. */
void fake_spoil_give_held(void);
void fake_spoil_forked(void);

#endif
