/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A metric is a base (sm__cycles_active; in a set SET.sm__cycles_active) and a suffix
 * that says what is made of it (.avg.per_second). The library lists bases by type, about
 * 1300 of a chip, and suffixes by base.
 */
#include "pm_suggest.h"

#include <stdio.h>
#include <string.h>

#define NEAREST  3u
#define NAME_MAX 128u /* bytes; longer ones are near to nothing */

struct nearest {
	const char *word; /* what was typed, and its size */
	size_t size;
	struct {
		const char *name;
		uint32_t type;
		size_t distance;
	} found[NEAREST]; /* the nearest first */
	size_t count;
};

static size_t min3(size_t a, size_t b, size_t c)
{
	const size_t least = a < b ? a : b;

	return least < c ? least : c;
}

/* Levenshtein's distance; neither is longer than NAME_MAX. */
static size_t distance_of(const char *a, size_t a_size, const char *b, size_t b_size)
{
	size_t row[NAME_MAX + 1];

	for (size_t j = 0; j <= b_size; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_size; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_size; j++) {
			const size_t above = row[j];

			row[j] = min3(corner + (a[i - 1] != b[j - 1]), above + 1,
				      row[j - 1] + 1);
			corner = above;
		}
	}
	return row[b_size];
}

static void offer(struct nearest *nearest, const char *name, uint32_t type)
{
	const size_t size = strlen(name);
	size_t distance, i;

	if (size > NAME_MAX || nearest->size > NAME_MAX)
		return;
	distance = distance_of(nearest->word, nearest->size, name, size);
	for (i = nearest->count; i > 0 && distance < nearest->found[i - 1].distance; i--)
		if (i < NEAREST)
			nearest->found[i] = nearest->found[i - 1];
	if (i == NEAREST)
		return;
	nearest->found[i].name = name;
	nearest->found[i].type = type;
	nearest->found[i].distance = distance;
	nearest->count += nearest->count < NEAREST;
}

/* Where the suffix begins: the base may have dots before its "__". */
static size_t base_size(const char *metric)
{
	const char *unit = strstr(metric, "__");
	const char *dot = strchr(unit ? unit : metric, '.');

	return dot ? (size_t)(dot - metric) : strlen(metric);
}

static void find_bases(const struct pm_cupti *cupti, void *host, struct nearest *bases)
{
	for (uint32_t type = 0; type < PM_METRIC_TYPES; type++) {
		struct pm_host_metrics list = {PM_SIZED(pm_host_metrics, count),
					       .host = host, .type = type};

		if (cupti->host_metrics(&list) != PM_RC_SUCCESS)
			continue;
		for (size_t i = 0; i < list.count; i++)
			offer(bases, list.names[i], type);
	}
}

/* Before 13 the library wants to be asked with a suffix of that type, any one. */
static void find_suffixes(const struct pm_cupti *cupti, void *host, const char *base,
			  uint32_t type, struct nearest *suffixes)
{
	static const char *const any[PM_METRIC_TYPES] = {
		".avg", ".pct", ".avg.pct_of_peak_sustained_elapsed"};
	char metric[NAME_MAX + 64];
	struct pm_host_suffixes list = {PM_SIZED(pm_host_suffixes, names), .host = host,
					.type = type, .metric = metric};

	suffixes->count = 0;
	snprintf(metric, sizeof(metric), "%s%s", base, any[type]);
	if (cupti->host_suffixes(&list) != PM_RC_SUCCESS)
		return;
	for (size_t i = 0; i < list.count; i++)
		offer(suffixes, list.names[i], type);
}

/* A name that does not fit is left out: half of one helps nobody. */
static void add(char *out, size_t size, const char *base, const char *suffix)
{
	const size_t used = strlen(out);
	const int more = snprintf(out + used, size - used, "%s%s%s", used ? ", " : "",
				  base, suffix);

	if ((size_t)more >= size - used)
		out[used] = '\0';
}

void pm_suggest(const struct pm_cupti *cupti, void *host, const char *metric, char *out,
		size_t size)
{
	struct nearest bases = {.word = metric, .size = base_size(metric)};
	struct nearest suffixes = {.word = metric + bases.size};
	int is_known;

	out[0] = '\0';
	suffixes.size = strlen(suffixes.word);
	find_bases(cupti, host, &bases);
	is_known = bases.count > 0 && bases.found[0].distance == 0;
	/* Of a base that exists some suffixes, else the same suffix of some bases. */
	for (size_t i = 0; i < (is_known ? 1 : bases.count); i++) {
		const char *base = bases.found[i].name;

		find_suffixes(cupti, host, base, bases.found[i].type, &suffixes);
		for (size_t j = 0; j < (is_known ? suffixes.count : suffixes.count > 0);
		     j++)
			add(out, size, base, suffixes.found[j].name);
	}
}
