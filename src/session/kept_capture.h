/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The capture of the last request that could not be saved: a process keeps one. One for
 * each that fails would fill a disk, if it is not full already.
 */
#ifndef KYMO_SESSION_KEPT_CAPTURE_H
#define KYMO_SESSION_KEPT_CAPTURE_H

/*
 * The file at `path` is it from now on, and the one before goes, if it is as it was: what
 * somebody has taken in hand since, or is another's by now, is not removed. Calls are one
 * at a time (request_lock).
 */
void ky_kept_capture_replace(const char *path);

/* In a forked child: the file is the parent's. */
void ky_kept_capture_forget(void);

#endif
