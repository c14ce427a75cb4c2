/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links: what an application knows of what belongs to what.
 *
 * There are two stacks of regions in each thread, for the operations of a framework and
 * for the annotations of its user. A region has a number of the caller's own; what is
 * launched while it is the innermost of its stack is linked to the span that has the
 * number:
 *
 *     kymo_link_push(KYMO_LINK_OP, 17);
 *     begin = kymo_mark_begin();
 *     ...                                          launches, by whatever source
 *     kymo_link_pop(KYMO_LINK_OP);
 *     kymo_link_end(KYMO_LINK_OP, 17, begin, kymo_mark_name(&name, "aten::mm"), NULL, 0);
 *
 * A thread may push what another one ends: so work that is handed on stays linked, and an
 * annotation is also shown on the queues where that work was done. Numbers are the
 * process's own, and those of the two stacks are not related; 0 means none.
 *
 * All of this may be called at any time, from any thread, but not from a signal handler.
 * errno is kept.
 */
#ifndef KYMO_LINK_H
#define KYMO_LINK_H

#include <kymo/mark.h>

KYMO_BEGIN_DECLS

#define KYMO_LINK_OP   0u /* spans of the type "cpu_op" */
#define KYMO_LINK_USER 1u /* of the type "user_annotation" */

#define KYMO_LINK_DEPTH_MAX 32u /* deeper regions count as the last one of these */

/*
 * Opens and closes a region of the calling thread. A pop without its push does nothing.
 * Sources are told as well (push_correlation in plugin.h); one that has no such operation
 * is served here: its launches, as it records them in the calling thread, get links of
 * the kinds "op" and "user".
 */
KYMO_API void kymo_link_push(uint32_t stack, uint64_t number);
KYMO_API void kymo_link_pop(uint32_t stack);

/*
 * The span from `begin` (of kymo_mark_begin; 0 records nothing) to now, which has the
 * number. Values and outcome as of kymo_mark_end_values; KYMO_ERROR_INVALID also for a
 * stack that is none and the number 0. Of several spans with one number the first is
 * meant.
 */
KYMO_API int32_t kymo_link_end(uint32_t stack, uint64_t number, uint64_t begin,
			       uint32_t name, const struct kymo_value *values,
			       size_t count);

/* From an operation of a forward pass to what it led to in the backward pass. */
#define KYMO_LINK_FORWARD_BACKWARD "fwdbwd"

/* The number of a kind of link by its name; 0 if no more fit. Valid for ever. */
KYMO_API uint16_t kymo_link_kind(const char *name);

/*
 * Records an arrow of that kind between two spans by their numbers, in any order and
 * before or after they are recorded. The same one again is drawn once, and counted.
 * KYMO_OK also while nothing is recorded; KYMO_ERROR_INVALID for what kymo_link_end and
 * kymo_link_kind do not give; KYMO_ERROR_NO_MEMORY: a loss was counted.
 */
KYMO_API int32_t kymo_link_arrow(uint16_t kind, uint32_t from_stack, uint64_t from,
				 uint32_t to_stack, uint64_t to);

KYMO_END_DECLS

#endif
