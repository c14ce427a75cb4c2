/* SPDX-License-Identifier: BSD-3-Clause */
#include "amount.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

int ky_read_size(int failure, const char *name, const char *text, uint64_t *out)
{
	static const char units[] = "kmgt";
	unsigned long long number;
	const char *unit;
	char *end;
	int shift = 0;

	errno = 0;
	number = strtoull(text, &end, 10);
	unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (int)(unit - units + 1);
		end++;
		if (*end == 'i')
			end++;
	}
	if (tolower((unsigned char)*end) == 'b')
		end++;
	if (!isdigit((unsigned char)text[0]) || *end || errno || number == 0 ||
	    number > UINT64_MAX >> shift)
		return ky_say_error(failure,
				    "%s \"%s\": a size is wanted, as in 64MiB or 1G",
				    name, text);
	*out = (uint64_t)number << shift;
	return 0;
}

/* Nanoseconds of a unit; 0: there is none of that name. */
static uint64_t unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {
		{"", 1000000000},
		{"s", 1000000000},
		{"ms", 1000000},
		{"us", 1000},
		{"ns", 1},
		{"m", 60000000000ull},
		{"min", 60000000000ull},
		{"h", 3600000000000ull},
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].name, unit) == 0)
			return units[i].ns;
	return 0;
}

/* Digits behind the point, as parts of `unit`; those beyond the ninth count nothing. */
static uint64_t read_fraction(const char **at, uint64_t unit)
{
	uint64_t ns = 0, part = unit;

	for (++*at; isdigit((unsigned char)**at); ++*at) {
		part /= 10;
		ns += part * (uint64_t)(**at - '0');
	}
	return ns;
}

int ky_read_duration(int failure, const char *name, const char *text, uint64_t *out)
{
	const char *unit_name = text + strspn(text, "0123456789.");
	const uint64_t unit = unit_ns(unit_name);
	unsigned long long whole;
	const char *at;
	char *end;
	uint64_t ns = 0;

	errno = 0;
	whole = strtoull(text, &end, 10);
	at = end;
	if (*at == '.' && unit > 0)
		ns = read_fraction(&at, unit);
	if (!isdigit((unsigned char)text[0]) || at != unit_name || unit == 0 || errno ||
	    whole > (UINT64_MAX - ns) / unit || whole * unit + ns == 0)
		return ky_say_error(
			failure, "%s \"%s\": a time is wanted, as in 500ms, 1.5s or 10",
			name, text);
	*out = whole * unit + ns;
	return 0;
}
