/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filters of system calls (seccomp) that kill for perf_event_open. Nobody can ask what a
 * filter does, so a child tries the call first, and may die for it.
 */
#ifndef KYMO_PLUGINS_SOURCE_PERF_FILTER_H
#define KYMO_PLUGINS_SOURCE_PERF_FILTER_H

/* Looks anew; before events are opened, since filters come at any time. */
void perf_filter_look(void);
/* What was found out. */
int perf_filter_may_kill(void);

#endif
