/* SPDX-License-Identifier: BSD-3-Clause */
/* Where things lie: a folder of our own, the file of an object that is loaded. */
#ifndef KYMO_BASE_PLACE_H
#define KYMO_BASE_PLACE_H

#include <stddef.h>

#include <kymo/base.h>

/*
 * A new private directory (0700) under XDG_RUNTIME_DIR, TMPDIR, /tmp or, since that may
 * be read-only in a container, /dev/shm.
 */
int32_t ky_private_dir(char *out, size_t size, struct kymo_error *error);

/* The absolute path of the object that holds `address`. */
int32_t ky_object_path(const void *address, char *out, size_t size);

#endif
