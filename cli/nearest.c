/* SPDX-License-Identifier: BSD-3-Clause */
#include "nearest.h"

#include <string.h>

#define WORD_MAX 32

/* Levenshtein's distance, of words short enough. */
static size_t distance_of(const char *a, size_t a_size, const char *b, size_t b_size)
{
	size_t row[WORD_MAX + 1], i, j;

	if (a_size > WORD_MAX || b_size > WORD_MAX)
		return WORD_MAX;
	for (j = 0; j <= b_size; j++)
		row[j] = j;
	for (i = 1; i <= a_size; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (j = 1; j <= b_size; j++) {
			size_t best = corner + (a[i - 1] != b[j - 1]);

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
	const size_t distance =
		distance_of(nearest->word, nearest->size, candidate, strlen(candidate));

	if (nearest->best && distance >= nearest->distance)
		return;
	nearest->best = candidate;
	nearest->distance = distance;
}

/* A third of the word may be wrong, one letter in any case. */
const char *ky_nearest_found(const struct ky_nearest *nearest)
{
	if (!nearest->best || nearest->distance > 1 + strlen(nearest->best) / 3)
		return NULL;
	return nearest->best;
}
