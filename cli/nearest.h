/* SPDX-License-Identifier: BSD-3-Clause */
/* What somebody meant to type: the nearest of the words that there are. */
#ifndef KYMO_CLI_NEAREST_H
#define KYMO_CLI_NEAREST_H

#include <stddef.h>

struct ky_nearest {
	const char *word; /* what was typed; `size` bytes of it count */
	size_t size;
	const char *best; /* of what was offered; NULL: nothing yet */
	size_t distance;  /* letters to be changed, added or left out */
};

void ky_nearest_offer(struct ky_nearest *nearest, const char *candidate);

/* The best one if it is near enough to be what was meant, else NULL. */
const char *ky_nearest_found(const struct ky_nearest *nearest);

#endif
