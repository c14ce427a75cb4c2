/* SPDX-License-Identifier: BSD-3-Clause */
/* What a recording may take of what limits and control groups leave a process. */
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

/*
 * How large the buffer of a process is by default, where the control group leaves so
 * much: a quarter, as several record, and the program grows.
 */
uint64_t ky_room_budget(uint64_t left);

#endif
