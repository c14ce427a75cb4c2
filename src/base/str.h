/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts that have a size and no end: compared, trimmed, and quoted in messages. */
#ifndef KYMO_BASE_STR_H
#define KYMO_BASE_STR_H

#include <kymo/base.h>

/* Not tolower(): what a text means must not depend on the program's locale. */
static inline char ky_lower(char byte)
{
	return byte >= 'A' && byte <= 'Z' ? (char)(byte + ('a' - 'A')) : byte;
}

int ky_str_is(struct kymo_str text, const char *other);
/* The same, in any case of ASCII letters. */
int ky_str_is_any_case(struct kymo_str text, const char *other);
int ky_str_begins(struct kymo_str text, const char *prefix);

/* Without the blanks and tabs around it. */
struct kymo_str ky_str_trim(struct kymo_str text);

#define KY_QUOTE_SIZE 96

/*
 * As it may stand in a message: one line, and not too long. Fills `out` and returns it.
 */
const char *ky_quote(char out[KY_QUOTE_SIZE], struct kymo_str text);

#endif
