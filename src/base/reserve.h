/* SPDX-License-Identifier: BSD-3-Clause */
/* Much address space, of which little is used. */
#ifndef KYMO_BASE_RESERVE_H
#define KYMO_BASE_RESERVE_H

#include <stddef.h>

/*
 * Maps `size` bytes of the file, or private ones where `fd` is -1; NULL with errno. Each
 * page is there once it is touched, also in a process that has locked all its memory
 * (mlockall with MCL_FUTURE), where all of them would be at once else, and stay. Given
 * back by munmap(). System calls only.
 */
void *ky_reserve(size_t size, int fd);

#endif
