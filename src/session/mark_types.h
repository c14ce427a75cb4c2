/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The types of marks: that of all plain ones, and those that the program asked for by
 * kymo_mark_type. What is wanted of them is decided when a recording begins and when a
 * type is new, so that a mark looks at a word and takes no lock.
 */
#ifndef KYMO_SESSION_MARK_TYPES_H
#define KYMO_SESSION_MARK_TYPES_H

#include <kymo/mark.h>

/* The number of the source "app" in the dictionary, 0: not kept. */
uint32_t ky_mark_source(void);

enum ky_mark_wish { KY_MARK_UNKNOWN, KY_MARK_LEFT_OUT, KY_MARK_WANTED };

/* What is to become of marks of that type; unknown: kymo_mark_type has not given it. */
enum ky_mark_wish ky_mark_type_wish(uint16_t type);

int ky_mark_plain_is_wanted(void);

/* Looks which types of marks are wanted, before the gate opens. */
void ky_mark_choose_types(void);

#endif
