/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the lines of records, none of which is trusted. */
#ifndef KYMO_TIMELINE_RECORDS_H
#define KYMO_TIMELINE_RECORDS_H

#include "timeline/model.h"
#include "timeline/values.h"

/* A record where it stands in a capture. */
struct ky_record {
	struct ky_model_capture *capture;
	uint64_t line;        /* its number over all captures */
	uint32_t lines;       /* how many are its own */
	uint32_t new_lease;   /* it is the first one of its lease */
	uint32_t lease_track; /* what track 0 means, as a number of the capture */
	uint64_t lease_begin; /* when the lease began, in host ticks; 0: not known */
	const struct kymo_record *first;
};

/* Lines of the record at `first`, at most `available`; 0: this is no record. */
static inline uint32_t ky_record_lines(const struct kymo_record *first,
				       uint32_t available)
{
	if (first->kind == 0 || first->kind >= KYMO_KIND_MORE || first->lines > available)
		return 0;
	return first->lines;
}

/* A begin that was told early: an OPEN, or a GAP of which nothing is known but that. */
static inline int ky_record_is_open(const struct kymo_record *record)
{
	return record->kind == KYMO_KIND_OPEN ||
	       (record->kind == KYMO_KIND_GAP && record->flags & KYMO_RECORD_UNFINISHED &&
		record->end == record->begin);
}

/* The model's track that it is on. */
uint32_t ky_record_row(const struct ky_record *record);
/* The clock of its times; NULL: unknown. */
struct ky_clock_map *ky_record_clock(const struct ky_model_capture *capture,
				     const struct kymo_record *record);

/* The shown name of a record of `lines` lines. */
struct kymo_str ky_record_name(struct ky_values *values, const struct kymo_record *first,
			       uint32_t lines, const struct kymo_trace_type *type);
/* All keys with their values: its own first, then those of its attribute set. */
void ky_record_values(struct ky_values *values, const struct kymo_record *first,
		      uint32_t lines);

/* The correlation that it refers to in its own domain; 0: none. */
uint64_t ky_record_reference(const struct ky_record *record);

/*
 * Visits every record of every capture, chunk by chunk; a status other than KYMO_OK ends
 * the walk and is returned.
 */
typedef int32_t (*ky_record_fn)(void *context, const struct ky_record *record,
				struct kymo_error *error);
int32_t ky_records_walk(struct ky_model *model, ky_record_fn visit, void *context,
			struct kymo_error *error);

#endif
