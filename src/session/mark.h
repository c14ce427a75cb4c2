/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks of the program, as the rest of the library makes them. */
#ifndef KYMO_SESSION_MARK_H
#define KYMO_SESSION_MARK_H

#include <kymo/mark.h>
#include <kymo/record.h>

/*
 * Has sources, which have until then, and gate rest, and records that, and why: the
 * process may end before anybody can tell how long. The moment, in host ticks.
 */
uint64_t ky_mark_rest(const char *why, uint64_t deadline_ns);
/* Records that this was so from `begin`, of ky_mark_rest(), to now. */
void ky_mark_gap(uint64_t begin, const char *why);
/* Sources, which have until then, and gate go on; so far nothing was recorded. */
void ky_mark_resume(uint64_t begin, const char *why, uint64_t deadline_ns);

/*
 * As ky_writer_begin, for a record of the program's own that is no mark; `*type` is that
 * of plain marks, which are known to the recording then.
 */
struct kymo_record *ky_mark_line(uint32_t lines, uint16_t *type);

/* KYMO_ERROR_INVALID, counted, if it is none of kymo_mark_type. */
int32_t ky_mark_check_type(uint16_t type);

/* The next plain mark asks anew whether it is wanted. */
void ky_mark_forget_type(void);

/*
 * Records a span that ends now, or an INSTANT, with its values, as does
 * kymo_mark_end_typed. `record` has kind, name, begin, correlation, and a type of
 * kymo_mark_type or 0, for a plain mark.
 */
int32_t ky_mark_record(struct kymo_record record, const struct kymo_value *values,
		       size_t count);

#endif
