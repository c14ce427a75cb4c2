/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings: all are counted, and of each kind the first in the file are kept as examples.
 * Those found between events do not come in the order of the file.
 */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

#define TEXT_SIZE 256

/* A free place for an example at `byte`, or NULL where earlier ones fill the list. */
static struct ky_check_example *make_room(struct ky_check_finding *finding, size_t max,
					  uint64_t byte)
{
	size_t i = finding->example_count;

	while (i > 0 && finding->examples[i - 1].place.byte > byte)
		i--;
	if (i >= max)
		return NULL;
	if (finding->example_count == max)
		free(finding->examples[--finding->example_count].text);
	else if ((finding->example_count & (finding->example_count - 1)) == 0)
		finding->examples = ky_must_grow(
			finding->examples,
			finding->example_count ? 2 * finding->example_count : 1,
			sizeof(*finding->examples));
	memmove(finding->examples + i + 1, finding->examples + i,
		(finding->example_count - i) * sizeof(*finding->examples));
	finding->example_count++;
	return &finding->examples[i];
}

void ky_check_find(struct ky_check *check, enum ky_check_kind kind,
		   struct ky_check_place place, const char *format, ...)
{
	struct ky_check_finding *finding = &check->findings[kind];
	struct ky_check_example *example;
	char text[TEXT_SIZE];
	va_list arguments;

	finding->count++;
	finding->places++;
	example = make_room(finding, check->examples_max, place.byte);
	if (!example)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	example->place = place;
	example->text = ky_must_copy(text, strlen(text));
}

bool ky_check_shows(const struct ky_check *check, enum ky_check_kind kind)
{
	if (check->findings[kind].count == 0)
		return false;
	return check->reader < 0 || ky_check_effect(kind, check->reader) != KY_FINE;
}

enum ky_check_severity ky_check_severity(const struct ky_check *check,
					 enum ky_check_kind kind)
{
	const enum ky_check_severity severity = ky_check_kinds[kind].severity;

	return severity == KY_MINOR && check->reader >= 0 ? KY_ERROR : severity;
}

bool ky_check_is_clean(const struct ky_check *check)
{
	int kind;

	for (kind = 0; kind < KY_CHECK_KIND_COUNT; kind++) {
		const enum ky_check_kind k = (enum ky_check_kind)kind;

		if (ky_check_severity(check, k) > KY_MINOR && ky_check_shows(check, k))
			return false;
	}
	return true;
}

void ky_check_free(struct ky_check *check)
{
	int kind;
	size_t i;

	for (kind = 0; kind < KY_CHECK_KIND_COUNT; kind++) {
		struct ky_check_finding *finding = &check->findings[kind];

		for (i = 0; i < finding->example_count; i++)
			free(finding->examples[i].text);
		free(finding->examples);
		*finding = (struct ky_check_finding){0};
	}
	free(check->names);
	check->names = NULL;
}
