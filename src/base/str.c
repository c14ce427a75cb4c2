/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/str.h"

#include <string.h>

static int is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

int ky_str_is(struct kymo_str text, const char *other)
{
	return strlen(other) == text.size && ky_str_begins(text, other);
}

int ky_str_is_any_case(struct kymo_str text, const char *other)
{
	if (strlen(other) != text.size)
		return 0;
	for (size_t i = 0; i < text.size; i++)
		if (ky_lower(text.data[i]) != ky_lower(other[i]))
			return 0;
	return 1;
}

int ky_str_begins(struct kymo_str text, const char *prefix)
{
	const size_t size = strlen(prefix);

	/* Of an empty text there may be no data. */
	return size == 0 || (text.size >= size && memcmp(text.data, prefix, size) == 0);
}

struct kymo_str ky_str_trim(struct kymo_str text)
{
	while (text.size > 0 && is_blank(text.data[0])) {
		text.data++;
		text.size--;
	}
	while (text.size > 0 && is_blank(text.data[text.size - 1]))
		text.size--;
	return text;
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
