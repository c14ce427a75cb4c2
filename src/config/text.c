/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/text.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"
#define OWN_PREFIX      "KYMO_"

/* What is in front of the first `byte`, or all. */
static struct kymo_str cut_at(struct kymo_str text, char byte)
{
	const char *found = text.size > 0 ? memchr(text.data, byte, text.size) : NULL;

	if (found)
		text.size = (size_t)(found - text.data);
	return text;
}

/* The line at `*at`, without its end; moves behind that. */
static struct kymo_str take_line(struct kymo_str text, size_t *at)
{
	struct kymo_str line = {text.data + *at, text.size - *at};

	line = cut_at(line, '\n');
	*at += line.size + (*at + line.size < text.size);
	if (line.size > 0 && line.data[line.size - 1] == '\r')
		line.size--;
	return line;
}

static int32_t split(struct kymo_str line, struct ky_entry *out, struct kymo_error *error)
{
	struct kymo_str left = cut_at(line, '=');
	char quoted[KY_QUOTE_SIZE];

	if (left.size == line.size)
		return ky_error_set(error, KYMO_ERROR_CONFIG,
				    "\"%s\" has no '=': KEY = value is wanted",
				    ky_quote(quoted, line));
	out->key = ky_str_trim(left);
	out->value = ky_str_trim(
		(struct kymo_str){left.data + left.size + 1, line.size - left.size - 1});
	if (out->key.size == 0)
		return ky_error_set(error, KYMO_ERROR_CONFIG,
				    "\"%s\" has no key in front of its '='",
				    ky_quote(quoted, line));
	if (!ky_str_begins(out->key, OWN_PREFIX) &&
	    cut_at(out->value, '=').size < out->value.size)
		return ky_error_set(error, KYMO_ERROR_CONFIG,
				    "\"%s\" has more than one '='",
				    ky_quote(quoted, line));
	return KYMO_OK;
}

int32_t ky_text_next(struct kymo_str text, size_t *at, uint32_t *line,
		     struct ky_entry *out, struct kymo_error *error)
{
	if (*at == 0 && ky_str_begins(text, BYTE_ORDER_MARK))
		*at = sizeof(BYTE_ORDER_MARK) - 1;
	for (; *at < text.size; ++*line) {
		struct kymo_str rest = take_line(text, at);
		int32_t status;

		if (cut_at(rest, '\0').size < rest.size)
			return ky_error_set(error, KYMO_ERROR_CONFIG,
					    "there is a NUL byte: it is no text");
		rest = ky_str_trim(cut_at(rest, '#'));
		if (rest.size == 0)
			continue;
		out->line = *line;
		status = split(rest, out, error);
		if (status == KYMO_OK)
			++*line;
		return status;
	}
	return KYMO_END;
}
