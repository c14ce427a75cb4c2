/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The range that decides what is recorded: armed, the process rests until a range of the
 * name begins (kymo_range_begin), records until that one ends, and rests again. Ranges of
 * the name that begin meanwhile are marks as others.
 *
 * Ordinary marks know nothing of this: they look at the gate, which is off or on.
 */
#ifndef KYMO_SESSION_RANGE_H
#define KYMO_SESSION_RANGE_H

#include <kymo/error.h>

#define KY_RANGE_MAX 256u /* of the text, its end included */

/* "mark:NAME" or "mark:NAME,repeat:N"; KYMO_ERROR_INVALID says what is wrong. */
int32_t ky_range_check(const char *text, struct kymo_error *error);

/*
 * Has what records in this process rest until such a range begins. KYMO_ERROR_NO_MEMORY:
 * the dictionary is full; then it rests for good.
 */
int32_t ky_range_arm(const char *text, struct kymo_error *error);

/*
 * For the end of the recording, whose gate is shut: no range begins or ends any more, and
 * if it rests for a range that was awaited, that is told.
 */
void ky_range_disarm(void);

#endif
