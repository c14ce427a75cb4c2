/* SPDX-License-Identifier: BSD-3-Clause */
/* Times as Chrome traces have them. */
#ifndef KYMO_CLI_MICROSECONDS_H
#define KYMO_CLI_MICROSECONDS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Microseconds with any decimals, as ns: exactly as they stand there, further digits
 * rounded. False if the word is no number, or one that 64 bits of ns can't hold.
 */
bool ky_us_to_ns(const char *word, int64_t *ns);

#endif
