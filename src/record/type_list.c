/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/type_list.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"

const uint8_t ky_type_letters[256] = {
	['-'] = 1, ['_'] = 1, ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1,
	['5'] = 1, ['6'] = 1, ['7'] = 1, ['8'] = 1, ['9'] = 1, ['A'] = 1, ['B'] = 1,
	['C'] = 1, ['D'] = 1, ['E'] = 1, ['F'] = 1, ['G'] = 1, ['H'] = 1, ['I'] = 1,
	['J'] = 1, ['K'] = 1, ['L'] = 1, ['M'] = 1, ['N'] = 1, ['O'] = 1, ['P'] = 1,
	['Q'] = 1, ['R'] = 1, ['S'] = 1, ['T'] = 1, ['U'] = 1, ['V'] = 1, ['W'] = 1,
	['X'] = 1, ['Y'] = 1, ['Z'] = 1, ['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1,
	['e'] = 1, ['f'] = 1, ['g'] = 1, ['h'] = 1, ['i'] = 1, ['j'] = 1, ['k'] = 1,
	['l'] = 1, ['m'] = 1, ['n'] = 1, ['o'] = 1, ['p'] = 1, ['q'] = 1, ['r'] = 1,
	['s'] = 1, ['t'] = 1, ['u'] = 1, ['v'] = 1, ['w'] = 1, ['x'] = 1, ['y'] = 1,
	['z'] = 1,
};

int ky_type_name_is_good(struct kymo_str name)
{
	if (name.size == 0 || name.size > KY_TYPE_NAME_MAX)
		return 0;
	for (size_t i = 0; i < name.size; i++)
		if (!ky_type_letters[(uint8_t)name.data[i]])
			return 0;
	return 1;
}

/* What is in front of the first `c`, which goes, as does that; {NULL, 0}: no `c`. */
static struct kymo_str split(struct kymo_str *text, char c)
{
	const char *at = text->size ? memchr(text->data, c, text->size) : NULL;
	struct kymo_str front = {NULL, 0};

	if (at) {
		front = (struct kymo_str){text->data, (size_t)(at - text->data)};
		text->size -= front.size + 1;
		text->data = at + 1;
	}
	return front;
}

static int take_minus(struct kymo_str *text)
{
	if (text->size == 0 || text->data[0] != '-')
		return 0;
	text->data++;
	text->size--;
	*text = ky_str_trim(*text);
	return 1;
}

/* NAME, PLUGIN.NAME or PLUGIN.* */
static int is_name(struct kymo_str text)
{
	struct kymo_str plugin = split(&text, '.');

	if (plugin.data && !ky_type_name_is_good(plugin))
		return 0;
	return ky_type_name_is_good(text) ||
	       (plugin.data && text.size == 1 && text.data[0] == '*');
}

int32_t ky_type_list_next(const char **list, struct ky_type_item *item,
			  struct kymo_error *error)
{
	const size_t size = strcspn(*list, ",");
	struct kymo_str whole = ky_str_trim((struct kymo_str){*list, size});
	struct kymo_str rest = whole;
	char quoted[KY_QUOTE_SIZE];

	if (**list == '\0')
		return KYMO_END;
	item->removes = take_minus(&rest);
	item->source = ky_str_trim(split(&rest, ':'));
	rest = ky_str_trim(rest);
	if (item->source.data && take_minus(&rest))
		item->removes = 1;
	item->name = rest;
	if ((item->source.data && !ky_type_name_is_good(item->source)) || !is_name(rest))
		return ky_error_set(error, KYMO_ERROR_CONFIG,
				    "Invalid activity type: \"%s\" is not written as "
				    "[SOURCE:]NAME, NAME being letters, digits, _ and -",
				    ky_quote(quoted, whole));
	*list += size + ((*list)[size] == ',');
	return KYMO_OK;
}

int32_t ky_type_list_check(const char *list, struct kymo_error *error)
{
	struct ky_type_item item;
	int32_t status = KYMO_OK;

	if (strlen(list) >= KY_TYPE_LIST_MAX)
		return ky_error_set(error, KYMO_ERROR_CONFIG,
				    "the list of activity types is longer than %u bytes",
				    KY_TYPE_LIST_MAX - 1);
	while (status == KYMO_OK)
		status = ky_type_list_next(&list, &item, error);
	return status == KYMO_END ? KYMO_OK : status;
}
