/* SPDX-License-Identifier: BSD-3-Clause */
#include "microseconds.h"

#include <math.h>
#include <stdlib.h>

bool ky_us_to_ns(const char *word, int64_t *ns)
{
	const bool negative = *word == '-';
	const char *at = word + negative;
	uint64_t value = 0, scale = 1000;
	double rounded;
	char *end;

	for (; *at >= '0' && *at <= '9' && value < INT64_MAX / 100000; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	if (*at == '.')
		at++;
	for (; *at >= '0' && *at <= '9' && scale > 1; at++, scale /= 10)
		value = value * 10 + (uint64_t)(*at - '0');
	value += scale == 1 && *at >= '5' && *at <= '9';
	while (*at >= '0' && *at <= '9' && scale == 1)
		at++;
	if (at != word + negative && *at == '\0' && value < INT64_MAX / 1000) {
		*ns = (int64_t)(value * scale);
		*ns = negative ? -*ns : *ns;
		return true;
	}
	rounded = round(strtod(word, &end) * 1000);
	if (end == word || *end || !(fabs(rounded) < 9223372036854775808.0))
		return false;
	*ns = (int64_t)rounded;
	return true;
}
