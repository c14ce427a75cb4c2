/* SPDX-License-Identifier: BSD-3-Clause */
/* The texts of JSON: escapes, UTF-8, and what stands where neither may. */
#include <stdio.h>
#include <string.h>

#include "json_lexer.h"

static inline int peek(struct ky_json_lexer *lexer)
{
	return ky_json_lexer_peek(lexer);
}

static bool keep(struct ky_json_lexer *lexer, const void *bytes, size_t size)
{
	return ky_json_lexer_keep(lexer, bytes, size);
}

static bool refuse(struct ky_json_lexer *lexer, const char *reason)
{
	ky_json_lexer_fail(lexer, reason);
	return false;
}

static bool refuse_at(struct ky_json_lexer *lexer, int byte, const char *wanted)
{
	ky_json_lexer_fail_at(lexer, byte, wanted);
	return false;
}

/* Terminated; of any code point but 0. */
static size_t put_utf8(uint32_t code, char bytes[5])
{
	size_t size;

	if (code < 0x80) {
		bytes[0] = (char)code;
		size = 1;
	} else if (code < 0x800) {
		bytes[0] = (char)(0xc0 | code >> 6);
		size = 2;
	} else if (code < 0x10000) {
		bytes[0] = (char)(0xe0 | code >> 12);
		bytes[1] = (char)(0x80 | (code >> 6 & 0x3f));
		size = 3;
	} else {
		bytes[0] = (char)(0xf0 | code >> 18);
		bytes[1] = (char)(0x80 | (code >> 12 & 0x3f));
		bytes[2] = (char)(0x80 | (code >> 6 & 0x3f));
		size = 4;
	}
	if (size > 1)
		bytes[size - 1] = (char)(0x80 | (code & 0x3f));
	bytes[size] = '\0';
	return size;
}

static bool keep_code_point(struct ky_json_lexer *lexer, uint32_t code)
{
	char bytes[5];

	return keep(lexer, bytes, put_utf8(code, bytes));
}

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */
#define NUL_SYMBOL  "\xe2\x90\x80" /* U+2400 */

/* `digits`: those that are there, which a lenient reader needs where one is missing. */
static bool read_hex(struct ky_json_lexer *lexer, uint32_t *code, char digits[5])
{
	int i;

	*code = 0;
	for (i = 0; i < 4; i++) {
		int byte = peek(lexer);
		unsigned digit;

		digits[i] = '\0';
		if (byte >= '0' && byte <= '9')
			digit = (unsigned)(byte - '0');
		else if (byte >= 'a' && byte <= 'f')
			digit = (unsigned)(byte - 'a') + 10;
		else if (byte >= 'A' && byte <= 'F')
			digit = (unsigned)(byte - 'A') + 10;
		else if (lexer->tell && byte >= 0)
			return false;
		else
			return refuse_at(lexer, byte, "a hexadecimal digit");
		*code = *code << 4 | digit;
		digits[i] = (char)byte;
		lexer->at++;
	}
	digits[4] = '\0';
	return true;
}

/* Reads the backslash as a character of the text, as a mend would have it. */
static bool keep_backslash(struct ky_json_lexer *lexer, uint64_t begin)
{
	return ky_json_lexer_tell(lexer, KY_JSON_ESCAPE, begin, 1, "\\\\") &&
	       keep(lexer, "\\", 1);
}

static bool keep_half(struct ky_json_lexer *lexer, uint64_t begin)
{
	if (!ky_json_lexer_tell(lexer, KY_JSON_SURROGATE, begin, 6, REPLACEMENT))
		return refuse(lexer, "half a surrogate pair in a string");
	return keep(lexer, REPLACEMENT, 3);
}

static bool read_escape(struct ky_json_lexer *lexer, uint64_t begin);

/* After half a pair that begins at `begin`: the other half, or whatever comes. */
static bool read_other_half(struct ky_json_lexer *lexer, uint64_t begin, uint32_t high)
{
	const uint64_t second = ky_json_lexer_byte(lexer);
	char digits[5], bytes[5];
	uint32_t low;

	if (peek(lexer) != '\\')
		return keep_half(lexer, begin);
	lexer->at++;
	if (peek(lexer) != 'u')
		return keep_half(lexer, begin) && read_escape(lexer, second);
	lexer->at++;
	if (!read_hex(lexer, &low, digits))
		return !lexer->failed && keep_half(lexer, begin) &&
		       keep_backslash(lexer, second) && keep(lexer, "u", 1) &&
		       keep(lexer, digits, strlen(digits));
	if (low < 0xdc00 || low >= 0xe000) {
		if (!keep_half(lexer, begin))
			return false;
		/* Rare enough to have a second high half be told as what it is. */
		return low >= 0xd800 && low < 0xdc00 ? keep_half(lexer, second)
						     : keep_code_point(lexer, low);
	}
	put_utf8(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00), bytes);
	ky_json_lexer_tell(lexer, KY_JSON_SURROGATE, begin, 12, bytes);
	return keep(lexer, bytes, 4);
}

/* After \u; a pair of surrogates is one character, half of one is none. */
static bool read_unicode_escape(struct ky_json_lexer *lexer, uint64_t begin)
{
	char digits[5];
	uint32_t code;

	if (!read_hex(lexer, &code, digits))
		return !lexer->failed && keep_backslash(lexer, begin) &&
		       keep(lexer, "u", 1) && keep(lexer, digits, strlen(digits));
	if (code >= 0xdc00 && code < 0xe000)
		return keep_half(lexer, begin);
	if (code >= 0xd800 && code < 0xe000)
		return read_other_half(lexer, begin, code);
	if (code == 0)
		ky_json_lexer_tell(lexer, KY_JSON_NUL, begin, 6, NUL_SYMBOL);
	return keep_code_point(lexer, code);
}

/* After the backslash, which stands at `begin`. */
static bool read_escape(struct ky_json_lexer *lexer, uint64_t begin)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const int byte = peek(lexer);
	const char *found = byte > 0 ? strchr(from, byte) : NULL;

	if (byte == 'u') {
		lexer->at++;
		return read_unicode_escape(lexer, begin);
	}
	if (!found) {
		if (byte >= 0 && lexer->tell)
			return keep_backslash(lexer, begin);
		return refuse_at(lexer, byte, "the rest of an escape");
	}
	lexer->at++;
	return keep(lexer, &to[found - from], 1);
}

/* Control bytes may not stand in strings as they are. */
static bool read_control(struct ky_json_lexer *lexer, int byte)
{
	static const char letters[] = "\b\f\n\r\t", names[] = "bfnrt";
	const char *letter = byte > 0 ? strchr(letters, byte) : NULL;
	const char kept = (char)byte;
	char mend[8];

	if (!lexer->tell)
		return refuse_at(lexer, byte, "a printable character of a string");
	if (letter)
		snprintf(mend, sizeof(mend), "\\%c", names[letter - letters]);
	else
		snprintf(mend, sizeof(mend), "\\u%04x", (unsigned)byte & 0xff);
	ky_json_lexer_tell(lexer, byte ? KY_JSON_CONTROL : KY_JSON_NUL,
			   ky_json_lexer_byte(lexer), 1, byte ? mend : NUL_SYMBOL);
	lexer->line += byte == '\n';
	lexer->at++;
	return keep(lexer, &kept, 1);
}

/* Bytes from `begin` on, up to here, are no character. */
static bool keep_replacement(struct ky_json_lexer *lexer, uint64_t begin)
{
	return ky_json_lexer_tell(lexer, KY_JSON_UTF8, begin,
				  ky_json_lexer_byte(lexer) - begin, REPLACEMENT) &&
	       keep(lexer, REPLACEMENT, 3);
}

/* One character of several bytes, by table 3-7 of the Unicode Standard. */
static bool read_utf8(struct ky_json_lexer *lexer)
{
	const uint64_t begin = ky_json_lexer_byte(lexer);
	const int first = peek(lexer);
	const int length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	int low = 0x80, high = 0xbf, i;
	unsigned char bytes[4];

	if (first < 0xc2 || first > 0xf4) {
		if (!lexer->tell)
			return refuse_at(lexer, first, "UTF-8");
		lexer->at++;
		return keep_replacement(lexer, begin);
	}
	if (first == 0xe0)
		low = 0xa0;
	else if (first == 0xed)
		high = 0x9f;
	else if (first == 0xf0)
		low = 0x90;
	else if (first == 0xf4)
		high = 0x8f;
	bytes[0] = (unsigned char)first;
	lexer->at++;
	for (i = 1; i < length; i++) {
		int byte = peek(lexer);

		if (byte < low || byte > high)
			return (byte >= 0 && lexer->tell)
				       ? keep_replacement(lexer, begin)
				       : refuse_at(lexer, byte,
						   "the rest of a UTF-8 character");
		bytes[i] = (unsigned char)byte;
		lexer->at++;
		low = 0x80;
		high = 0xbf;
	}
	return keep(lexer, bytes, (size_t)length);
}

/* Keeps the plain bytes up to the next one that needs a look, within the buffer. */
static bool keep_plain(struct ky_json_lexer *lexer)
{
	size_t end = lexer->at;

	while (end < lexer->size && lexer->buffer[end] >= 0x20 &&
	       lexer->buffer[end] < 0x80 && lexer->buffer[end] != '"' &&
	       lexer->buffer[end] != '\\')
		end++;
	if (!keep(lexer, lexer->buffer + lexer->at, end - lexer->at))
		return false;
	lexer->at = end;
	return true;
}

/* After the opening quote, up to and with the closing one. */
bool ky_json_lexer_string(struct ky_json_lexer *lexer)
{
	lexer->text_size = 0;
	lexer->text[0] = '\0';
	for (;;) {
		int byte;

		if (!keep_plain(lexer))
			return false;
		byte = peek(lexer);
		if (byte < 0)
			return refuse(lexer, "ends within a string");
		if (byte >= 0x80) {
			if (!read_utf8(lexer))
				return false;
			continue;
		}
		if (byte < 0x20) {
			if (!read_control(lexer, byte))
				return false;
			continue;
		}
		if (byte != '"' && byte != '\\')
			continue; /* the buffer was refilled */
		lexer->at++;
		if (byte == '"')
			return true;
		if (!read_escape(lexer, ky_json_lexer_byte(lexer) - 1))
			return false;
	}
}
