/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent, as our own processes see it; programs reach it through the gate. */
#ifndef KYMO_CONTROL_AGENT_H
#define KYMO_CONTROL_AGENT_H

#include <sys/types.h>

/*
 * This process, `pid`, is a recorder; 0: it is none any more. What it forks for itself,
 * with plug-ins loaded, is no part of what another recorder around it records.
 */
void ky_agent_set_recorder(pid_t pid);

#endif
