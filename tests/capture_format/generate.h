/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of every kind, with names and values that are hard to write and to read. */
#ifndef TEST_CAPTURE_FORMAT_GENERATE_H
#define TEST_CAPTURE_FORMAT_GENERATE_H

#include <kymo/plugin.h>

#include "record/layout.h"

#define FILE_SESSION 0xfedcba9876543210u /* beyond what a double holds */

#define TYPES      3u
#define TRACKS     4u
#define VALUE_KEYS 15u /* one for each value type, for arrays of each, NESTED */
#define NESTED_KEY 14u
#define SETS       8u
#define MADE_KINDS 9u /* 0 to 7 as in records, 8: a kind of a later minor */

/* Numbers of what the records refer to. */
struct things {
	uint32_t types[TYPES], tracks[TRACKS], keys[VALUE_KEYS], sets[SETS];
	uint32_t source, domains[2], link_kind, clock, groups[2], code;
};

/* What one thread makes its records from. */
struct make {
	const struct things *things;
	uint64_t random, ticks;
	uint64_t counts[MADE_KINDS];
};

/* Fills the dictionary of the capture that is being recorded. */
void make_things(struct things *out);

/* Makes a whole record at `lines`, of which there are KYMO_RECORD_LINES_MAX. */
void make_record(struct make *make, union kymo_line *lines);

/* One line of JSON. */
void print_counts(uint64_t capture, const uint64_t *counts);

#endif
