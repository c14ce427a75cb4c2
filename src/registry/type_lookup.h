/* SPDX-License-Identifier: BSD-3-Clause */
/* From a name that somebody typed to a type, or to what may have been meant. */
#ifndef KYMO_REGISTRY_TYPE_LOOKUP_H
#define KYMO_REGISTRY_TYPE_LOOKUP_H

#include "base/nearest.h"
#include "registry/type_table.h"

/*
 * The number by the order that <kymo/activity_type.h> gives for
 * kymo_activity_type_lookup; an alias is warned of. KYMO_ERROR_NOT_FOUND or
 * KYMO_ERROR_INVALID, with a message that begins with `complaint` ("Invalid activity
 * type") and the name.
 */
int32_t ky_type_lookup(struct ky_type_table *table, struct kymo_str name,
		       const char *complaint, uint32_t *number, struct kymo_error *error);

/*
 * The name of a number, of an alias that of what it stands for. KYMO_ERROR_NOT_FOUND,
 * KYMO_ERROR_INVALID if it does not fit.
 */
int32_t ky_type_full_name(struct ky_type_table *table, uint32_t number, char *out,
			  size_t size);

/* The number that is written there: digits alone, without a 0 in front. */
int ky_type_number_read(struct kymo_str text, uint32_t *number);

/* A list of names for people, part of a message; zeroed, it is empty. */
struct ky_candidates {
	size_t left_out;
	char text[188]; /* `"A", "B"`, behind the last that fits ` and N more` */
};

void ky_candidates_add(struct ky_candidates *candidates, const char *name);

#endif
