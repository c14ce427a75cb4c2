/* SPDX-License-Identifier: BSD-3-Clause */
#include "json_lexer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_SIZE (256u << 10)
#define TEXT_FIRST  256

enum ky_json_token ky_json_lexer_fail(struct ky_json_lexer *lexer, const char *reason)
{
	if (lexer->failed)
		return KY_JSON_ERROR;
	lexer->failed = true;
	lexer->token_line = lexer->line;
	lexer->token_byte = lexer->offset + lexer->at;
	snprintf(lexer->error, sizeof(lexer->error), "%s", reason);
	return KY_JSON_ERROR;
}

/* ---- Bytes ---- */

/* False at the end of the input, and when it can't be read, which fails the reader. */
static bool refill(struct ky_json_lexer *lexer)
{
	ptrdiff_t got;

	if (lexer->failed || lexer->ended)
		return false;
	lexer->offset += lexer->size;
	lexer->at = lexer->size = 0;
	got = lexer->fill(lexer->context, lexer->buffer, BUFFER_SIZE, lexer->error);
	if (got < 0) {
		lexer->failed = true;
		lexer->token_line = lexer->line;
		lexer->token_byte = lexer->offset;
		return false;
	}
	lexer->size = (size_t)got;
	lexer->ended = got == 0;
	return got > 0;
}

/* The next byte without taking it, or -1. */
static inline int peek(struct ky_json_lexer *lexer)
{
	if (lexer->at == lexer->size && !refill(lexer))
		return -1;
	return lexer->buffer[lexer->at];
}

int ky_json_lexer_skip_blanks(struct ky_json_lexer *lexer)
{
	for (;;) {
		int byte = peek(lexer);

		if (byte == '\n')
			lexer->line++;
		else if (byte != ' ' && byte != '\t' && byte != '\r')
			return byte;
		lexer->at++;
	}
}

enum ky_json_token ky_json_lexer_fail_at(struct ky_json_lexer *lexer, int byte,
					 const char *wanted)
{
	char reason[KY_JSON_REASON_SIZE];

	if (byte < 0)
		snprintf(reason, sizeof(reason), "ends early, %s is missing", wanted);
	else if (byte > 0x20 && byte < 0x7f)
		snprintf(reason, sizeof(reason), "'%c' where %s should be", byte, wanted);
	else
		snprintf(reason, sizeof(reason), "byte 0x%02x where %s should be",
			 (unsigned)byte & 0xff, wanted);
	return ky_json_lexer_fail(lexer, reason);
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

/* ---- Texts ---- */

/* Beyond the limit bytes are dropped; false when memory is out. */
static bool keep(struct ky_json_lexer *lexer, const void *bytes, size_t size)
{
	const size_t room = KY_JSON_TEXT_MAX - lexer->text_size;

	if (size > room) {
		lexer->is_cut = true;
		size = room;
	}
	if (lexer->text_size + size >= lexer->text_capacity) {
		size_t capacity = lexer->text_capacity;
		char *grown;

		while (capacity <= lexer->text_size + size)
			capacity *= 2;
		grown = realloc(lexer->text, capacity);
		if (!grown) {
			ky_json_lexer_fail(lexer, "out of memory");
			return false;
		}
		lexer->text = grown;
		lexer->text_capacity = capacity;
	}
	memcpy(lexer->text + lexer->text_size, bytes, size);
	lexer->text_size += size;
	lexer->text[lexer->text_size] = '\0';
	return true;
}

static bool keep_code_point(struct ky_json_lexer *lexer, uint32_t code)
{
	unsigned char bytes[4];
	size_t size;

	if (code < 0x80) {
		bytes[0] = (unsigned char)code;
		size = 1;
	} else if (code < 0x800) {
		bytes[0] = (unsigned char)(0xc0 | code >> 6);
		bytes[1] = (unsigned char)(0x80 | (code & 0x3f));
		size = 2;
	} else if (code < 0x10000) {
		bytes[0] = (unsigned char)(0xe0 | code >> 12);
		bytes[1] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
		bytes[2] = (unsigned char)(0x80 | (code & 0x3f));
		size = 3;
	} else {
		bytes[0] = (unsigned char)(0xf0 | code >> 18);
		bytes[1] = (unsigned char)(0x80 | (code >> 12 & 0x3f));
		bytes[2] = (unsigned char)(0x80 | (code >> 6 & 0x3f));
		bytes[3] = (unsigned char)(0x80 | (code & 0x3f));
		size = 4;
	}
	return keep(lexer, bytes, size);
}

static bool read_hex(struct ky_json_lexer *lexer, uint32_t *code)
{
	int i;

	*code = 0;
	for (i = 0; i < 4; i++) {
		int byte = peek(lexer);
		unsigned digit;

		if (byte >= '0' && byte <= '9')
			digit = (unsigned)(byte - '0');
		else if (byte >= 'a' && byte <= 'f')
			digit = (unsigned)(byte - 'a') + 10;
		else if (byte >= 'A' && byte <= 'F')
			digit = (unsigned)(byte - 'A') + 10;
		else
			return refuse_at(lexer, byte, "a hexadecimal digit");
		*code = *code << 4 | digit;
		lexer->at++;
	}
	return true;
}

/* After \u; a pair of surrogates is one character, half of one is none. */
static bool read_unicode_escape(struct ky_json_lexer *lexer)
{
	uint32_t code, low;

	if (!read_hex(lexer, &code))
		return false;
	if (code >= 0xdc00 && code < 0xe000)
		return refuse(lexer, "half a surrogate pair in a string");
	if (code < 0xd800 || code >= 0xe000)
		return keep_code_point(lexer, code);
	if (peek(lexer) != '\\')
		return refuse(lexer, "half a surrogate pair in a string");
	lexer->at++;
	if (peek(lexer) != 'u')
		return refuse(lexer, "half a surrogate pair in a string");
	lexer->at++;
	if (!read_hex(lexer, &low))
		return false;
	if (low < 0xdc00 || low >= 0xe000)
		return refuse(lexer, "half a surrogate pair in a string");
	return keep_code_point(lexer, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
}

static bool read_escape(struct ky_json_lexer *lexer)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const int byte = peek(lexer);
	const char *found = byte > 0 ? strchr(from, byte) : NULL;

	if (byte == 'u') {
		lexer->at++;
		return read_unicode_escape(lexer);
	}
	if (!found)
		return refuse_at(lexer, byte, "the rest of an escape");
	lexer->at++;
	return keep(lexer, &to[found - from], 1);
}

/* One character of several bytes, by table 3-7 of the Unicode Standard. */
static bool read_utf8(struct ky_json_lexer *lexer)
{
	const int first = peek(lexer);
	const int length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	int low = 0x80, high = 0xbf, i;
	unsigned char bytes[4];

	if (first < 0xc2 || first > 0xf4)
		return refuse_at(lexer, first, "UTF-8");
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
			return refuse_at(lexer, byte, "the rest of a UTF-8 character");
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
	lexer->is_cut = false;
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
		if (byte < 0x20)
			return refuse_at(lexer, byte,
					 "a printable character of a string");
		if (byte >= 0x20 && byte != '"' && byte != '\\')
			continue; /* the buffer was refilled */
		lexer->at++;
		if (byte == '"')
			return true;
		if (!read_escape(lexer))
			return false;
	}
}

/* ---- Numbers and words ---- */

static bool keep_byte(struct ky_json_lexer *lexer, int byte)
{
	char kept = (char)byte;

	lexer->at++;
	return keep(lexer, &kept, 1);
}

static bool read_digits(struct ky_json_lexer *lexer)
{
	int byte = peek(lexer);

	if (byte < '0' || byte > '9')
		return refuse_at(lexer, byte, "a digit");
	for (; byte >= '0' && byte <= '9'; byte = peek(lexer)) {
		if (!keep_byte(lexer, byte))
			return false;
	}
	return true;
}

enum ky_json_token ky_json_lexer_number(struct ky_json_lexer *lexer, int byte)
{
	lexer->text_size = 0;
	lexer->is_cut = false;
	if (byte == '-' && !keep_byte(lexer, byte))
		return KY_JSON_ERROR;
	if (peek(lexer) == '0') {
		if (!keep_byte(lexer, '0'))
			return KY_JSON_ERROR;
		byte = peek(lexer);
		if (byte >= '0' && byte <= '9')
			return ky_json_lexer_fail(lexer, "a number with a leading zero");
	} else if (!read_digits(lexer)) {
		return KY_JSON_ERROR;
	}
	if (peek(lexer) == '.' && (!keep_byte(lexer, '.') || !read_digits(lexer)))
		return KY_JSON_ERROR;
	byte = peek(lexer);
	if (byte != 'e' && byte != 'E')
		return lexer->failed ? KY_JSON_ERROR : KY_JSON_NUMBER;
	if (!keep_byte(lexer, byte))
		return KY_JSON_ERROR;
	byte = peek(lexer);
	if ((byte == '+' || byte == '-') && !keep_byte(lexer, byte))
		return KY_JSON_ERROR;
	return read_digits(lexer) ? KY_JSON_NUMBER : KY_JSON_ERROR;
}

enum ky_json_token ky_json_lexer_word(struct ky_json_lexer *lexer, const char *word,
				      enum ky_json_token token)
{
	for (; *word; word++) {
		int byte = peek(lexer);

		if (byte != *word)
			return ky_json_lexer_fail_at(lexer, byte, "true, false or null");
		lexer->at++;
	}
	return token;
}

/* ---- The rest ---- */

void ky_json_lexer_fini(struct ky_json_lexer *lexer)
{
	free(lexer->buffer);
	free(lexer->text);
	memset(lexer, 0, sizeof(*lexer));
}

bool ky_json_lexer_init(struct ky_json_lexer *lexer, ky_json_fill_fn fill, void *context)
{
	memset(lexer, 0, sizeof(*lexer));
	lexer->fill = fill;
	lexer->context = context;
	lexer->line = 1;
	lexer->buffer = malloc(BUFFER_SIZE);
	lexer->text = malloc(TEXT_FIRST);
	lexer->text_capacity = TEXT_FIRST;
	if (!lexer->buffer || !lexer->text) {
		ky_json_lexer_fini(lexer);
		return false;
	}
	lexer->text[0] = '\0';
	return true;
}
