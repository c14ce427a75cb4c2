/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* Levenshtein's distance; neither is longer than KY_NEAREST_MAX. */
static size_t distance_of(struct kymo_str a, const char *b, size_t b_size)
{
	size_t row[KY_NEAREST_MAX + 1];

	for (size_t j = 0; j <= b_size; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.size; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_size; j++) {
			size_t best =
				corner + (ky_lower(a.data[i - 1]) != ky_lower(b[j - 1]));

			corner = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[b_size];
}

void ky_nearest_offer(struct ky_nearest *nearest, const char *candidate)
{
	const size_t size = strlen(candidate);
	size_t distance;

	if (size == 0 || size > KY_NEAREST_MAX || nearest->word.size > KY_NEAREST_MAX)
		return;
	distance = distance_of(nearest->word, candidate, size);
	/* A third of the word may be wrong, one letter in any case. */
	if (distance > 1 + size / 3 ||
	    (nearest->best[0] && distance >= nearest->distance))
		return;
	memcpy(nearest->best, candidate, size + 1);
	nearest->distance = distance;
}

const char *ky_nearest_found(const struct ky_nearest *nearest)
{
	return nearest->best[0] ? nearest->best : NULL;
}

void ky_nearest_say(const struct ky_nearest *nearest, char *out, size_t size)
{
	const char *meant = ky_nearest_found(nearest);

	out[0] = '\0';
	if (meant)
		snprintf(out, size, " (did you mean \"%s\"?)", meant);
}
