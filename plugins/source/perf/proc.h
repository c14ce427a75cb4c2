/* SPDX-License-Identifier: BSD-3-Clause */
/* What files of /proc say: /proc/self/statm and those of /proc/pressure. */
#ifndef KYMO_PLUGINS_SOURCE_PERF_PROC_H
#define KYMO_PLUGINS_SOURCE_PERF_PROC_H

#include <stdint.h>

/* The numbers of statm, in pages: all of it, resident, shared. 0, or -1: it is none. */
int perf_parse_statm(const char *text, uint64_t out[3]);

/*
 * The totals of a file of PSI, in us: how long some, and how long all tasks were held up.
 * How many of the two there are.
 */
uint32_t perf_parse_pressure(const char *text, uint64_t out[2]);

#endif
