/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OPEN records: a span's begin, told early. Where the SPAN itself followed (of equal
 * track, type and begin), the OPEN is dropped and counted as a begin; else the program
 * died or hung in it, and it is shown as an unfinished span up to the end of the span
 * around it, or of its capture.
 *
 * A GAP is told early in the same way, by one that is UNFINISHED and as long as nothing.
 * It is of all threads, so that it may be another one that completes it; an unfinished
 * one lasts until its process attached again, by exec, or to the end of its capture.
 */
#ifndef KYMO_TIMELINE_OPENS_H
#define KYMO_TIMELINE_OPENS_H

#include "timeline/item.h"
#include "timeline/records.h"
#include "timeline/sorter.h"

struct ky_opens; /* opaque */

/* The ledger gets the begins. */
int32_t ky_opens_create(struct ky_opens **out, struct ky_model *model,
			struct kymo_trace_ledger *ledger, struct kymo_error *error);
void ky_opens_destroy(struct ky_opens *opens);

/*
 * Such a begin with its item, whose end is of no meaning yet; and one whose begin is no
 * usable time, which is of interest as a begin only.
 */
int32_t ky_opens_add(struct ky_opens *opens, const struct ky_record *record,
		     const struct ky_item *item, struct kymo_error *error);
int32_t ky_opens_add_untimed(struct ky_opens *opens, const struct ky_record *record,
			     const struct ky_item *item, struct kymo_error *error);

/*
 * When all captures have been walked: gives those that are unfinished, with their ends,
 * to a new sorter, which is NULL where there are none. `items` are the finished records,
 * on which it is ended. `last_ns` has one time for each capture: its last.
 */
int32_t ky_opens_resolve(struct ky_opens *opens, struct ky_sorter *items,
			 const int64_t *last_ns, struct ky_sorter **out,
			 struct kymo_error *error);

#endif
