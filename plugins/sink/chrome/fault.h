/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filling the caller's struct kymo_error; the library's own helpers are not linked here.
 */
#ifndef KYMO_CHROME_FAULT_H
#define KYMO_CHROME_FAULT_H

#include <kymo/base.h>

/*
 * Sets status and message, which is made one line of UTF-8 whatever names went into it.
 * `error` may be NULL. Returns the status.
 */
int32_t ky_fault_set(struct kymo_error *error, int32_t status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * The same for a failed system call on a file: "cannot VERB "PATH": REASON; WHAT TO DO",
 * the status by `number` (an errno).
 */
int32_t ky_fault_set_errno(struct kymo_error *error, int number, const char *verb,
			   const char *path);

#endif
