/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/wanted.h"

#include <string.h>

/* Whether `text` begins with `word`; what follows it then, else NULL. */
static const char *behind(const char *text, const char *word)
{
	size_t size = strlen(word);

	return strncmp(text, word, size) == 0 ? text + size : NULL;
}

/* The item behind this one; at the end, the end. */
static const char *next_item(const char *item)
{
	item += strcspn(item, ",");
	return *item ? item + 1 : item;
}

int ky_wanted_has(const char *list, const char *name, uint32_t is_explicit)
{
	if (!*list)
		return !is_explicit;
	for (; *list; list = next_item(list)) {
		const char *rest = behind(list, name);

		if (rest && (*rest == '\0' || *rest == ',' || *rest == ':'))
			return 1;
	}
	return 0;
}

struct kymo_str ky_wanted_option(const char *list, const char *name, const char *option)
{
	struct kymo_str value = {NULL, 0};

	for (; *list; list = next_item(list)) {
		const char *rest = behind(list, name);

		if (!rest || *rest != ':')
			continue;
		rest = behind(rest + 1, option);
		if (rest && *rest == '=')
			value = (struct kymo_str){rest + 1, strcspn(rest + 1, ",")};
	}
	return value;
}
