/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structs that a program and the library hand each other, where one of the two may be
 * older: each says its size first, and what one side does not have is zero.
 */
#ifndef KYMO_BASE_OPTIONS_H
#define KYMO_BASE_OPTIONS_H

#include <kymo/base.h>

/*
 * Copies options into `out`, a struct of `known_size` bytes, which has all members: those
 * that an older program does not have are zero, NULL gives zeros only. At least
 * `least_size` bytes are needed (KYMO_ERROR_INVALID); what lies behind those that this
 * library knows must be zero (KYMO_ERROR_UNSUPPORTED).
 */
int32_t ky_options_read(const void *options, size_t known_size, size_t least_size,
			void *out, struct kymo_error *error);

/* Whether `result`, which the caller wants filled, says its size; NULL is allowed. */
int32_t ky_result_check(const void *result, struct kymo_error *error);

/*
 * Fills as much of the caller's struct as its size allows from `whole`, a struct of
 * `known_size` bytes. Its size stays as it is; NULL is allowed.
 */
void ky_result_write(void *result, const void *whole, size_t known_size);

#endif
