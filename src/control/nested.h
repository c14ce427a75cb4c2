/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A recorder that is recorded itself, as in `kymo record -- sh -c 'kymo record -- job'`.
 * What it starts has its socket in the environment, and is never heard of by the outer
 * one. So it joins the outer recording like any program, with nothing to tell but that,
 * as a remark.
 */
#ifndef KYMO_CONTROL_NESTED_H
#define KYMO_CONTROL_NESTED_H

#include <kymo/control.h>

#include "control/report.h"

/*
 * What is started from now on will be in `output`. May wait for the outer recorder, as
 * long as any program does; nothing happens where there is none.
 */
void ky_nested_begin(const char *output);

/* The recording is over; so many processes are in `output`. */
void ky_nested_end(const char *output, uint32_t process_count);

/* Of the outer one: what others have kept for themselves was refused, in a way. */
void ky_nested_tell(const struct ky_report *report, struct kymo_recorder_result *result);

#endif
