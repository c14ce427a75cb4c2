/* SPDX-License-Identifier: BSD-3-Clause */
/* One value of a configuration, from its text. */
#ifndef KYMO_CONFIG_VALUE_H
#define KYMO_CONFIG_VALUE_H

#include "config/keys.h"

struct ky_value {
	char *text;      /* as it is shown; NULL: not set, the key's fallback holds */
	uint64_t number; /* BOOL: 0 or 1; CHOICE: from 1; INTEGER, SIZE, DURATION */
	char **list;     /* LIST: the parts, ends with NULL; NULL if there are none */
	char *origin;    /* who has set it: "/etc/kymo.conf:3" */
};

void ky_value_fini(struct ky_value *value);

/*
 * Reads `text` as the key wants it; numbers are multiplied by `factor`. On
 * failure, with the reason, `out` is as it was, else what it was is freed.
 */
int32_t ky_value_read(const struct ky_key *key, struct kymo_str text, uint64_t factor,
		      const char *origin, struct ky_value *out, struct kymo_error *error);

#endif
