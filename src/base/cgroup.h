/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the control groups of this process, as those of a container, leave it of memory.
 */
#ifndef KYMO_BASE_CGROUP_H
#define KYMO_BASE_CGROUP_H

#include <stdint.h>

/*
 * Bytes until the nearest limit, of this group or one around it, UINT64_MAX where there
 * is none. Cached files do not count: they make room. /proc and /sys are those in `root`.
 */
uint64_t ky_cgroup_left(const char *root);

#endif
