/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/text.h"

#include <string.h>

#include "base/error.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"
#define OWN_PREFIX      "KYMO_"

static int is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

static struct kymo_str trim(struct kymo_str text)
{
	while (text.size > 0 && is_blank(text.data[0])) {
		text.data++;
		text.size--;
	}
	while (text.size > 0 && is_blank(text.data[text.size - 1]))
		text.size--;
	return text;
}

/* What is in front of the first `byte`, or all. */
static struct kymo_str cut_at(struct kymo_str text, char byte)
{
	const char *found = text.size > 0 ? memchr(text.data, byte, text.size) : NULL;

	if (found)
		text.size = (size_t)(found - text.data);
	return text;
}

static int begins_with(struct kymo_str text, const char *prefix)
{
	size_t size = strlen(prefix);

	return text.size >= size && memcmp(text.data, prefix, size) == 0;
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
	out->key = trim(left);
	out->value = trim(
		(struct kymo_str){left.data + left.size + 1, line.size - left.size - 1});
	if (out->key.size == 0)
		return ky_error_set(error, KYMO_ERROR_CONFIG,
				    "\"%s\" has no key in front of its '='",
				    ky_quote(quoted, line));
	if (!begins_with(out->key, OWN_PREFIX) &&
	    cut_at(out->value, '=').size < out->value.size)
		return ky_error_set(error, KYMO_ERROR_CONFIG,
				    "\"%s\" has more than one '='",
				    ky_quote(quoted, line));
	return KYMO_OK;
}

const char *ky_quote(char out[KY_QUOTE_SIZE], struct kymo_str text)
{
	size_t size = text.size < KY_QUOTE_SIZE ? text.size : KY_QUOTE_SIZE - 4;

	for (size_t i = 0; i < size; i++) {
		const unsigned char byte = (unsigned char)text.data[i];

		out[i] = byte < ' ' || byte == 0x7f ? '?' : text.data[i];
	}
	memcpy(out + size, size < text.size ? "..." : "", size < text.size ? 4 : 1);
	return out;
}

int32_t ky_text_next(struct kymo_str text, size_t *at, uint32_t *line,
		     struct ky_entry *out, struct kymo_error *error)
{
	if (*at == 0 && begins_with(text, BYTE_ORDER_MARK))
		*at = sizeof(BYTE_ORDER_MARK) - 1;
	for (; *at < text.size; ++*line) {
		struct kymo_str rest = take_line(text, at);
		int32_t status;

		if (cut_at(rest, '\0').size < rest.size)
			return ky_error_set(error, KYMO_ERROR_CONFIG,
					    "there is a NUL byte: it is no text");
		rest = trim(cut_at(rest, '#'));
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
