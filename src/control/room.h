/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the limits of this process leave it what a recording in it would take. */
#ifndef KYMO_CONTROL_ROOM_H
#define KYMO_CONTROL_ROOM_H

#include <kymo/base.h>

/*
 * What is limited has to have several times as much left as is taken, since what is
 * taken the program lacks. `shared` bytes are the recorder's, so that only the limit of
 * address space counts them. KYMO_ERROR_NO_MEMORY, with the limit's name. System calls
 * only.
 */
int32_t ky_room_check(uint64_t shared, struct kymo_error *error);

#endif
