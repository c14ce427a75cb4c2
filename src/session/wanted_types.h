/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The activity types that the recording of this process wants: a list that
 * ky_type_filter_make has made, kept from before the gate opens until the next one. A
 * forked child goes on with its parent's.
 */
#ifndef KYMO_SESSION_WANTED_TYPES_H
#define KYMO_SESSION_WANTED_TYPES_H

#include "registry/type_filter.h"

/*
 * Makes the list of a program's own session into `out`, of KY_TYPE_LIST_MAX bytes: it is
 * checked against the sources that `sources` has, as in session/wanted.h, and the
 * program's own. A new session warns of aliases again.
 */
int32_t ky_wanted_types_make(char *out, const char *list, const char *sources,
			     struct kymo_error *error);

/* "": what is on by default. Copied; KY_TYPE_LIST_MAX bytes. */
void ky_wanted_types_set(const char *list);

int ky_wanted_types_has(const char *source, uint32_t number, uint32_t flags);

/* Whether the source is to be started at all, as ky_type_filter_wants_any. */
int ky_wanted_types_has_any(const struct ky_type_source *source);

#endif
