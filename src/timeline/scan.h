/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first pass: every record's times are converted, it is counted, and what must be
 * sorted is handed to the sorters.
 */
#ifndef KYMO_TIMELINE_SCAN_H
#define KYMO_TIMELINE_SCAN_H

#include "timeline/join.h"
#include "timeline/model.h"
#include "timeline/opens.h"
#include "timeline/project.h"
#include "timeline/sorter.h"

struct ky_scan {
	struct ky_model *model;
	struct kymo_trace_ledger *ledger; /* gets written and untimed */
	struct ky_sorter *items;          /* gets struct ky_item, all but OPEN records */
	struct ky_join *join;             /* gets links, and what has no time */
	struct ky_opens *opens;
	struct ky_project *project; /* gets links */
	/* Found out: */
	int64_t first_ns, last_ns; /* of all that is drawn; first > last: nothing */
	int64_t *capture_last_ns;  /* per capture; the caller's, zeroed */
	uint64_t *capture_written; /* the same */
	uint64_t correlated;       /* records that can be joined */
	uint64_t annotations;      /* of users: what may be projected on queues */
	int64_t near_ns;           /* the latest time seen in the lease */
};

int32_t ky_scan_run(struct ky_scan *scan, struct kymo_error *error);

#endif
