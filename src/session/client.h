/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telling the framework's profiler what a session does; session_lock held. What does not
 * follow on what it was told before is not told.
 */
#ifndef KYMO_SESSION_CLIENT_H
#define KYMO_SESSION_CLIENT_H

#include <stdint.h>

void ky_client_prepare(uint64_t flags);
void ky_client_start(void);
void ky_client_stop(void);

#endif
