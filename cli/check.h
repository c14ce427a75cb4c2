/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `kymo check` finds in a file, shared by its parts:
 *
 *     check.c          the command
 *     check_read.c     what kind of file it is, and how it ends
 *     check_document.c the grammar of a trace
 *     check_event.c    one event: its values, as they stand there
 *     check_rules.c    what is wrong with one event, seen alone
 *     check_fit.c      ... for one reader, which wants more than the format does
 *     check_records.c  what it leaves for the sorted passes
 *     check_sort.c     sorting on disk, so that memory does not grow with the file
 *     check_tracks.c   what is wrong between the spans of one row
 *     check_pairs.c    ... the B and E of one row
 *     check_links.c    ... of one arrow, one async id, one counter, one correlation
 *     check_ledger.c   what Kymo's own files say is missing
 *     check_kinds.c    the table: what a finding means to which reader
 *     check_findings.c places and counts
 *     check_repair.c   edits, and the mended copy
 *     check_print.c    what is shown
 */
#ifndef KYMO_CLI_CHECK_H
#define KYMO_CLI_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check_kinds.h"
#include "json_reader.h"

struct ky_check_name;
struct ky_edits;
struct ky_sorter;

#define KY_CHECK_NO_EVENT UINT64_MAX

struct ky_check_place {
	uint64_t line, byte; /* line from 1, byte from 0, both of the unpacked text */
	uint64_t event;      /* from 0, or KY_CHECK_NO_EVENT */
};

struct ky_check_example {
	struct ky_check_place place;
	char *text; /* may be "" */
};

struct ky_check_finding {
	uint64_t count, mended;
	uint64_t places; /* in the file; less than count where one tells of many */
	struct ky_check_example *examples; /* the first in the file, in its order */
	size_t example_count;
};

struct ky_check {
	const char *path, *format;
	size_t examples_max;
	int reader; /* enum ky_check_reader, or -1: all of them */
	bool is_gzip, is_capture;
	uint64_t bytes, events;
	struct ky_check_finding findings[KY_CHECK_KIND_COUNT];

	struct ky_edits *edits; /* NULL: nothing is to be mended */
	struct ky_sorter *sorter;
	struct ky_check_name *names; /* of rows, see check_records.c */
	int64_t largest_tid;         /* of those that fit 31 bits */
	uint64_t error_ns;           /* that the file states for its clocks */
	uint64_t events_end; /* the byte behind the last event, where more can stand */

	/* What a mend puts at the end of a file that has none. */
	struct ky_check_closing {
		enum ky_check_kind kind;
		struct ky_check_place place;
		uint64_t byte;
		const char *text; /* NULL: nothing is to be closed */
	} closing;
};

/* Counts a finding; the text is only made where it is kept. */
void ky_check_find(struct ky_check *check, enum ky_check_kind kind,
		   struct ky_check_place place, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* As --reader has it. */
enum ky_check_severity ky_check_severity(const struct ky_check *check,
					 enum ky_check_kind kind);

/* Findings that a file is bad for: notes and minor ones are not counted. */
bool ky_check_is_clean(const struct ky_check *check);

/* Whether a finding is to be shown, given --reader. */
bool ky_check_shows(const struct ky_check *check, enum ky_check_kind kind);
void ky_check_free(struct ky_check *check);

/* Each: 0, or an exit status with an error said. */
int ky_check_read_trace(struct ky_check *check);
int ky_check_read_capture(struct ky_check *check);

/* A number of a ledger, of a trace or a capture. */
void ky_check_ledger(struct ky_check *check, struct ky_check_place place,
		     const char *name, uint64_t value);

/* After a repair: what was mended, and what could not be. */
void ky_check_print_mended(const struct ky_check *check, const char *path);

void ky_check_print(const struct ky_check *check);
void ky_check_print_json(const struct ky_check *check, const char *repaired);

#endif
