/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads scenarios; compiled into the program, the driver and CUPTI, which share nothing
 * else. */
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What stands behind a backslash; *from is left behind it. */
static char unescape(const char **from)
{
	char digits[3] = "";
	char c = *(*from)++;

	if (c == 'n')
		return '\n';
	if (c != 'x' || !(*from)[0] || !(*from)[1])
		return c;
	memcpy(digits, *from, 2);
	*from += 2;
	return (char)strtol(digits, NULL, 16);
}

/* Copies the quoted word at `from` to `to`, which may be the same; returns what is
 * behind. */
static const char *unquote(const char *from, char *to)
{
	while (*from && *from != '"') {
		char c = *from++;

		*to++ = c == '\\' && *from ? unescape(&from) : c;
	}
	*to = '\0';
	return *from ? from + 1 : from;
}

int scenario_split(char *line, char *words[SCENARIO_WORDS + 1])
{
	const char *at = line;
	int count = 0;

	for (;;) {
		at += strspn(at, " \t\n");
		if (!*at || *at == '#' || count == SCENARIO_WORDS)
			break;
		words[count] = line + (at - line);
		if (*at == '"') {
			words[count]++;
			at = unquote(at + 1, words[count]);
		} else {
			size_t length = strcspn(at, " \t\n");
			int was_last = !at[length];

			words[count][length] = '\0';
			at += length + !was_last;
		}
		count++;
	}
	words[count] = NULL;
	return count;
}

void scenario_read(const char *who, void (*take)(char **words, int count))
{
	const char *path = getenv("CUDA_SCENARIO");
	FILE *file = path ? fopen(path, "re") : NULL;
	char *words[SCENARIO_WORDS + 1], *line = NULL;
	size_t size = 0;

	while (file && getline(&line, &size, file) > 0) {
		int count = scenario_split(line, words);

		if (count > 1 && strcmp(words[0], who) == 0)
			take(words + 1, count - 1);
	}
	free(line);
	if (file)
		fclose(file);
}
