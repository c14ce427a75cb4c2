/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands of a recorder to the processes that it records, through words in the header of
 * each capture: the recorder stores the command, then its number, and wakes who waits for
 * that; the process obeys and stores the number as done. For this a process that is
 * recorded with KY_CAPTURE_CONTROLLED has one thread, "kymo".
 */
#ifndef KYMO_CONTROL_COMMAND_H
#define KYMO_CONTROL_COMMAND_H

#include "capture/capture.h"

/* Recorder side. The capture of a process that comes later may be given one as well. */
void ky_command_give(struct ky_capture *capture, uint32_t command);
int ky_command_is_done(const struct ky_capture *capture);

/* Program side: whether, by what was given already, nothing is to be recorded yet. */
int ky_command_is_to_rest(const struct ky_capture *capture);

/*
 * Program side: obeys what has been given already, then serves on a thread of its own.
 * Gate and sources have begun; the gate may be shut until here. In a forked child it
 * begins anew. Without memory for the thread the process goes on as it is, and the
 * recorder sees that nothing is done.
 */
void ky_command_serve(struct ky_capture *capture);

#endif
