/* SPDX-License-Identifier: BSD-3-Clause */
/* The keys that the application has registered, for its marks and sessions. */
#ifndef KYMO_SESSION_MARK_KEYS_H
#define KYMO_SESSION_MARK_KEYS_H

#include <kymo/key.h>

/* What a key was registered with. */
struct ky_mark_key {
	uint32_t name, unit, value_type; /* name and unit: strings of the dictionary */
	uint16_t key;
};

/* False if the number is not that of a key of the application's. */
int ky_mark_key_find(uint16_t key, struct ky_mark_key *out);

#endif
