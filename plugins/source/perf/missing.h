/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What cannot be recorded here, why, and what to do about it: for the state of the source
 * and for `kymo doctor`. There is one list, as there is one source. What is missing for
 * the same reason is told together.
 */
#ifndef KYMO_PLUGINS_SOURCE_PERF_MISSING_H
#define KYMO_PLUGINS_SOURCE_PERF_MISSING_H

#include <stddef.h>

/* Forgets all. */
void perf_missing_reset(void);

/* `remedy` stays where it is. Reasons that there is no room for are left out. */
void perf_missing_add(const char *what, const char *why, const char *remedy);

/* The same for what the system has refused with this errno. */
void perf_missing_add_refused(const char *what, int number);

/* The number that stands in a setting of the system, a path; -1: there is none. */
long perf_setting(const char *path);

/* A descriptor is no longer ours. */
void perf_missing_add_closed(const char *what);

/* Whether something was added since it was last told. */
int perf_missing_is_news(void);

/* "a, b: why; c: why", and the remedies, each once; cut to fit. False: nothing is. */
int perf_missing_tell(char *why, size_t why_size, char *remedy, size_t remedy_size);

#endif
