/* SPDX-License-Identifier: BSD-3-Clause */
/* How much memory the parts of a timeline take where there is little. */
#ifndef KYMO_TIMELINE_SHARE_H
#define KYMO_TIMELINE_SHARE_H

#include <stddef.h>
#include <stdint.h>

/*
 * `wanted` bytes, or less where the control groups of this process leave little: all
 * parts together then take half of it at most, or the few MiB without which nothing is
 * gained. It is to be asked by whoever is about to take it: who else does so at the same
 * time, as other processes that make traces, leaves less.
 */
size_t ky_memory_share(size_t wanted);

/* The same where `left` bytes are left. */
size_t ky_memory_share_of(size_t wanted, uint64_t left);

#endif
