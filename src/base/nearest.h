/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What somebody meant to type: the nearest of the words that there are, whatever the
 * case. Needs nothing of the library, so programs are built with it too.
 */
#ifndef KYMO_BASE_NEAREST_H
#define KYMO_BASE_NEAREST_H

#include <kymo/base.h>

#define KY_NEAREST_MAX 129u /* bytes of a word; longer ones are near to nothing */

struct ky_nearest {
	struct kymo_str word; /* what was typed */
	char best[KY_NEAREST_MAX + 1];
	size_t distance; /* letters to be changed, added or left out */
};

/* Copies `candidate` if it is near enough to be what was meant, and the nearest yet. */
void ky_nearest_offer(struct ky_nearest *nearest, const char *candidate);

/* The nearest, or NULL: nothing was near. */
const char *ky_nearest_found(const struct ky_nearest *nearest);

#define KY_NEAREST_SAID (KY_NEAREST_MAX + 24)

/* What was found as ` (did you mean "X"?)`, else "". */
void ky_nearest_say(const struct ky_nearest *nearest, char *out, size_t size);

#endif
