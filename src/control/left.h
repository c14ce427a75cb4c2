/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that a recording leaves behind, and that it knows nothing of. */
#ifndef KYMO_CONTROL_LEFT_H
#define KYMO_CONTROL_LEFT_H

#include <stddef.h>

#include "capture/capture.h"

/*
 * Says for people, if there are such: those that may be looked at whose environment has
 * the recorder's socket at `path`. They were started by the program, and have reached
 * nothing to record before it was over. `spare`, a capture that nobody has opened, or
 * NULL, becomes that of one of them, so that the trace has it too.
 */
void ky_left_tell(const char *path, struct ky_capture *spare, char *out, size_t size);

#endif
