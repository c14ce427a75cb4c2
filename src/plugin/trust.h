/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether code from a file may be run where privilege is crossed. */
#ifndef KYMO_PLUGIN_TRUST_H
#define KYMO_PLUGIN_TRUST_H

#include <sys/types.h>

#include <kymo/base.h>

/*
 * The file at the real path and every folder above it must belong to root or to `owner`
 * and be writable by nobody else; folders of root with the sticky bit are allowed.
 * KYMO_OK, or KYMO_ERROR_PERMISSION naming the one that is not so.
 */
int32_t ky_trust_check(const char *path, uid_t owner, struct kymo_error *error);

#endif
