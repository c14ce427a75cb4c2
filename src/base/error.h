/* SPDX-License-Identifier: BSD-3-Clause */
/* Filling the caller's struct kymo_error. All of these accept NULL for it. */
#ifndef KYMO_BASE_ERROR_H
#define KYMO_BASE_ERROR_H

#include <kymo/base.h>

#define KY_PRINTF(text, first) __attribute__((format(printf, text, first)))

/* Sets status and message; returns the status, so that it can be returned at once. */
int32_t ky_error_set(struct kymo_error *error, int32_t status, const char *format, ...)
	KY_PRINTF(3, 4);

/* The same with KYMO_ERROR_NO_MEMORY, where there is no more to say of it. */
int32_t ky_error_no_memory(struct kymo_error *error);

/* KYMO_ERROR_EXISTS of an output that is there and may not be replaced. */
int32_t ky_error_exists(struct kymo_error *error, const char *path);

/* As ky_error_set, for a failed system call: adds ": " and the text of errno `number`. */
int32_t ky_error_set_errno(struct kymo_error *error, int number, const char *format, ...)
	KY_PRINTF(3, 4);

/* Puts "context: " in front of the message; returns the status already there. */
int32_t ky_error_wrap(struct kymo_error *error, const char *format, ...) KY_PRINTF(2, 3);

/* The status that stands for an errno. */
int32_t ky_status_from_errno(int number);

#if defined(__clang_analyzer__)
/* What an analyzer cannot see in another file: they never return KYMO_OK. */
#define ky_error_set(error, status, ...) \
	((void)(ky_error_set)(error, status, __VA_ARGS__), (status))
#define ky_error_no_memory(error) \
	((void)(ky_error_no_memory)(error), KYMO_ERROR_NO_MEMORY)
#define ky_error_exists(error, path) \
	((void)(ky_error_exists)(error, path), KYMO_ERROR_EXISTS)
#define ky_error_set_errno(error, number, ...) \
	((void)(ky_error_set_errno)(error, number, __VA_ARGS__), KYMO_ERROR_IO)
#endif

#endif
