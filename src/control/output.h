/* SPDX-License-Identifier: BSD-3-Clause */
/* The file that a recording writes: whether and where it can be written. */
#ifndef KYMO_CONTROL_OUTPUT_H
#define KYMO_CONTROL_OUTPUT_H

#include <sys/types.h>

#include <kymo/base.h>

/*
 * Whether the finished file could be put there: not there yet (unless `overwrite`), no
 * other kind of thing, in a folder that can be written to. `target` (PATH_MAX bytes) is
 * where: links are followed. What has a protocol is not looked at.
 */
int32_t ky_output_check(const char *path, uint32_t overwrite, char *target,
			struct kymo_error *error);

/* Whether something makes files of that name, for the reader `compat` (or NULL). */
int32_t ky_output_check_sink(const char *path, uint32_t overwrite, const char *compat,
			     struct kymo_error *error);

/*
 * Where the capture lies meanwhile: ".NAME.kymo-PID" beside it; in the current folder if
 * the output has a protocol.
 */
int32_t ky_output_capture_path(const char *path, pid_t recorder, char *out, size_t size,
			       struct kymo_error *error);

#endif
