/* SPDX-License-Identifier: BSD-3-Clause */
#include "microseconds.h"

#include <math.h>
#include <stdlib.h>

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* False where the word is not plain, or too long. */
static bool read_exactly(const char *word, int64_t *ns)
{
	const bool negative = *word == '-';
	const char *at = word + negative;
	uint64_t value = 0, scale = 1000;

	if (!is_digit(*at))
		return false;
	for (; is_digit(*at) && value <= INT64_MAX / 10000; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	if (*at == '.') {
		for (at++; is_digit(*at) && scale > 1; at++, scale /= 10)
			value = value * 10 + (uint64_t)(*at - '0');
		value += is_digit(*at) && *at >= '5';
		while (is_digit(*at))
			at++;
	}
	if (*at || value > INT64_MAX / scale)
		return false;
	*ns = (int64_t)(value * scale);
	*ns = negative ? -*ns : *ns;
	return true;
}

bool ky_us_to_ns(const char *word, int64_t *ns)
{
	double rounded;
	char *end;

	if (read_exactly(word, ns))
		return true;
	rounded = round(strtod(word, &end) * 1000);
	if (end == word || *end || !(fabs(rounded) < 9223372036854775808.0))
		return false;
	*ns = (int64_t)rounded;
	return true;
}
