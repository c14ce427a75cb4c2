/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a nested value (see <kymo/nested.h>), made a tree for sinks. */
#ifndef KYMO_TIMELINE_NESTED_H
#define KYMO_TIMELINE_NESTED_H

#include "timeline/values.h"

/*
 * Fills in type, count and items of `out`; numbers of arrays stay where they are. False,
 * with `out` as it was, if the words are no nested value.
 */
int ky_nested_resolve(struct ky_values *values, const uint64_t *words, size_t count,
		      struct kymo_trace_value *out);

#endif
