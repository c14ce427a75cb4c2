/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a recorder has to say of a process, where trace and capture have it: as the state
 * of a source of that process, which for its name can be no plug-in's.
 */
#ifndef KYMO_SESSION_REMARK_H
#define KYMO_SESSION_REMARK_H

#include <stdint.h>

#define KY_REMARK_SOURCE "kymo record"

/*
 * Says it in the capture that the dictionary is copied into; the last one holds.
 * KYMO_STATE_BUSY: something was recorded, but by another recorder.
 */
void ky_remark(uint32_t state, const char *reason);

/* The same, of what may happen any number of times: only the first time it takes room. */
void ky_remark_once(uint32_t state, const char *reason);

#endif
