/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the source says that it did, to hold against what the recording says: counts of
 * records by kind, by what the host answered, and of faults made. Any thread, any time;
 * adding is one atomic step in one of 64 places.
 */
#ifndef KYMO_PLUGINS_SOURCE_FAKE_REPORT_H
#define KYMO_PLUGINS_SOURCE_FAKE_REPORT_H

#include <stdint.h>

enum fake_count {
	/* Records offered, by kind. */
	FAKE_COUNT_SPAN,
	FAKE_COUNT_INSTANT,
	FAKE_COUNT_COUNTER,
	FAKE_COUNT_LINK,
	FAKE_COUNT_OPEN,
	FAKE_COUNT_OTHER, /* of no kind that there is */
	/* The same, by answer. */
	FAKE_COUNT_OK,
	FAKE_COUNT_NO_MEMORY,
	FAKE_COUNT_STATE,
	FAKE_COUNT_INVALID,
	/* Reported as lost. */
	FAKE_COUNT_LOST,
	/* From here on: faults made, by their number. */
	FAKE_COUNT_FAULTS,
	FAKE_COUNT_MAX = FAKE_COUNT_FAULTS + 48,
};

void fake_report_add(enum fake_count count, uint64_t number);

/* From now on this process's counts are written to `path`.PID when it exits. */
void fake_report_open(const char *path, const char *const *fault_names);

/*
 * The same at once. Not in a child that nobody told us of: its counts are its parent's.
 */
void fake_report_write(void);

/* Forgets what the parent counted. */
void fake_report_forked(void);

#endif
