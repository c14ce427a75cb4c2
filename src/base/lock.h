/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A lock of one word, 0 when open. Not a pthread mutex, because the words lie on the page
 * that the kernel wipes in a forked child: the child finds every lock open, whoever held
 * it in the parent.
 */
#ifndef KYMO_BASE_LOCK_H
#define KYMO_BASE_LOCK_H

#include <stdint.h>

/* All keep errno. The holder must not take the lock again. */
void ky_lock(uint32_t *word);
int ky_try_lock(uint32_t *word); /* 1: taken */
void ky_unlock(uint32_t *word);

#endif
