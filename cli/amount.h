/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes and times as options have them; what is wrong is said, and gives `failure`. */
#ifndef KYMO_CLI_AMOUNT_H
#define KYMO_CLI_AMOUNT_H

#include <stdint.h>

/* "64MiB", "64M", "65536": powers of 1024; not 0. */
int ky_read_size(int failure, const char *name, const char *text, uint64_t *out);

/* "500ms", "1.5s", "2m", "3" (seconds): nanoseconds; not 0. */
int ky_read_duration(int failure, const char *name, const char *text, uint64_t *out);

#endif
