/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loader knows of code under a lock that a forked child inherits as it is: one that
 * is forked while somebody is in there waits in its own dlopen for ever. This source's
 * thread is there many times a second; so forks wait for it, and it waits for forks.
 */
#ifndef KYMO_PLUGINS_SOURCE_PERF_LOADER_H
#define KYMO_PLUGINS_SOURCE_PERF_LOADER_H

#include <stdint.h>

/* Around what asks the loader. One thread at a time; not within itself. */
void perf_loader_enter(void);
void perf_loader_leave(void);

/* How many files have been unloaded: others may have their addresses. */
uint32_t perf_loader_unloads(void);

#endif
