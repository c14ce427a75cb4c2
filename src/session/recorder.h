/* SPDX-License-Identifier: BSD-3-Clause */
/* Who records this process from outside, for those whom that keeps from recording it. */
#ifndef KYMO_SESSION_RECORDER_H
#define KYMO_SESSION_RECORDER_H

#include <stddef.h>
#include <sys/types.h>

/* By the agent, before the gate opens; 0: nobody that this process can see. */
void ky_recorder_set(pid_t pid);

/* "process 4711 (kymo record -o t.json -- ./job)". */
void ky_recorder_describe(char *out, size_t size);

#endif
