/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash for tables in memory. */
#ifndef KYMO_BASE_HASH_H
#define KYMO_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Good and quick; may differ from version to version. */
uint64_t ky_hash(const void *data, size_t size, uint64_t seed);

#endif
