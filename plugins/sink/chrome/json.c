/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strings are most of a trace, so they are copied many bytes at a time: a word is stored
 * as it is, then looked at, and only if it holds a byte that may not stand there (below
 * 0x20, a quote, a backslash, or above 0x7f) that byte is gone into.
 */
#include "json.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define BUFFER_SIZE (256u << 10) /* stays in a second-level cache until it is written */

/* A character of one byte needs at most six: \u001f. A word of eight is stored whole. */
#define ESCAPE_MAX 6u
#define PIECE      (KY_JSON_ROOM_MAX / ESCAPE_MAX - 8)

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

int32_t ky_json_flush(struct ky_json *json)
{
	size_t size = (size_t)(json->at - json->buffer);

	if (json->status == KYMO_OK && size > 0)
		json->status = json->write(json->context, json->buffer, size);
	json->at = json->buffer;
	return json->status;
}

void ky_json_raw(struct ky_json *json, const char *data, size_t size)
{
	while (size > 0) {
		size_t piece = size < KY_JSON_ROOM_MAX ? size : KY_JSON_ROOM_MAX;

		memcpy(json->at = ky_json_room(json, json->at), data, piece);
		json->at += piece;
		data += piece;
		size -= piece;
	}
}

void ky_json_u64(struct ky_json *json, uint64_t value)
{
	json->at = ky_put_u64(ky_json_room(json, json->at), value);
}

void ky_json_i64(struct ky_json *json, int64_t value)
{
	json->at = ky_put_i64(ky_json_room(json, json->at), value);
}

char *ky_json_put_double(struct ky_json *json, char *at, double value)
{
	at = ky_json_room(json, at);
	return isfinite(value) ? ky_put_double(at, value, &json->powers)
			       : KY_PUT(at, "null");
}

/*
 * Well-formed sequences are those of table 3-7 of the Unicode Standard: the second byte's
 * range depends on the first, which leaves out surrogates, overlong forms and what lies
 * beyond U+10FFFF.
 */
unsigned ky_utf8_character(const unsigned char *text, size_t size, unsigned *bad)
{
	const unsigned first = text[0];
	unsigned low = 0x80, high = 0xbf, length, i;

	*bad = 1;
	if (first < 0xc2 || first > 0xf4)
		return 0;
	length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if (first == 0xe0)
		low = 0xa0;
	else if (first == 0xed)
		high = 0x9f;
	else if (first == 0xf0)
		low = 0x90;
	else if (first == 0xf4)
		high = 0x8f;
	for (i = 1; i < length; i++) {
		if (i >= size || text[i] < low || text[i] > high) {
			*bad = i;
			return 0;
		}
		low = 0x80;
		high = 0xbf;
	}
	return length;
}

/* In the top bit of each byte that may not stand in a string as it is; the lowest is
 * exact. */
static uint64_t specials(uint64_t word)
{
	const uint64_t quote = word ^ ONES * '"', backslash = word ^ ONES * '\\';

	return ((word - ONES * 0x20) | (quote - ONES) | (backslash - ONES) | word) &
	       HIGHS;
}

/* Sixteen bytes, which most processors have one instruction for. */
typedef int8_t bytes16 __attribute__((vector_size(16)));

/* Not zero where a byte is special; as numbers with a sign those above 0x7f are low. */
static inline bytes16 specials16(bytes16 bytes)
{
	return (bytes16)(bytes < (int8_t)0x20) | (bytes16)(bytes == (int8_t)'"') |
	       (bytes16)(bytes == (int8_t)'\\');
}

static inline bytes16 copy16(char *to, const char *from)
{
	bytes16 bytes;

	memcpy(&bytes, from, sizeof(bytes));
	memcpy(to, &bytes, sizeof(bytes));
	return specials16(bytes);
}

static inline uint64_t copy8(char *to, const char *from)
{
	uint64_t word;

	memcpy(&word, from, sizeof(word));
	memcpy(to, &word, sizeof(word));
	return specials(word);
}

/* Fewer than eight bytes, and blanks above them. */
static uint64_t load_tail(const unsigned char *from, size_t size)
{
	uint64_t word = ONES * ' ' << 8 * size;
	uint32_t four[2];
	uint16_t two[2];

	if (size >= 4) {
		memcpy(&four[0], from, 4);
		memcpy(&four[1], from + size - 4, 4);
		return word | four[0] | (uint64_t)four[1] << 8 * (size - 4);
	}
	if (size >= 2) {
		memcpy(&two[0], from, 2);
		memcpy(&two[1], from + size - 2, 2);
		return word | two[0] | (uint64_t)two[1] << 8 * (size - 2);
	}
	return word | from[0];
}

static char *put_control(char *at, unsigned byte)
{
	static const char hex[] = "0123456789abcdef";

	at = KY_PUT(at, "\\u00");
	at[0] = hex[byte >> 4];
	at[1] = hex[byte & 15];
	return at + 2;
}

/* One byte below 0x80. */
static char *put_ascii(struct ky_json *json, char *at, unsigned byte)
{
	switch (byte) {
	case 0:
		json->nul++;
		return KY_PUT(at, "\xe2\x90\x80");
	case '"':
		return KY_PUT(at, "\\\"");
	case '\\':
		return KY_PUT(at, "\\\\");
	case '\b':
		return KY_PUT(at, "\\b");
	case '\f':
		return KY_PUT(at, "\\f");
	case '\n':
		return KY_PUT(at, "\\n");
	case '\r':
		return KY_PUT(at, "\\r");
	case '\t':
		return KY_PUT(at, "\\t");
	default:
		if (byte < 0x20)
			return put_control(at, byte);
		*at = (char)byte;
		return at + 1;
	}
}

/* The character at text[i], whatever it is; returns where the next one begins. */
static size_t put_character(struct ky_json *json, char **at, const unsigned char *text,
			    size_t size, size_t i)
{
	unsigned length, bad;

	if (text[i] < 0x80) {
		*at = put_ascii(json, *at, text[i]);
		return i + 1;
	}
	length = ky_utf8_character(text + i, size - i, &bad);
	if (length == 0) {
		json->invalid_utf8++;
		*at = KY_PUT(*at, "\xef\xbf\xbd");
		return i + bad;
	}
	memcpy(*at, text + i, length);
	*at += length;
	return i + length;
}

/*
 * Text that may stand as it is, which nearly all is, of at most PIECE bytes: stored and
 * looked at together, the end of it over what came before. NULL if there is anything to
 * do.
 */
static inline char *put_clean(char *at, struct kymo_str text)
{
	uint64_t found[2] = {0};
	bytes16 all = {0};
	size_t i;

	if (text.size < 8) {
		found[0] = load_tail((const unsigned char *)text.data, text.size);
		memcpy(at, found, 8);
		return specials(found[0]) ? NULL : at + text.size;
	}
	if (text.size < 16) {
		found[0] = copy8(at, text.data);
		found[1] = copy8(at + text.size - 8, text.data + text.size - 8);
		return found[0] | found[1] ? NULL : at + text.size;
	}
	for (i = 0; i + 16 < text.size; i += 16)
		all |= copy16(at + i, text.data + i);
	all |= copy16(at + text.size - 16, text.data + text.size - 16);
	memcpy(found, &all, sizeof(found));
	return found[0] | found[1] ? NULL : at + text.size;
}

/* The next piece, for which there is room; `*next` is where it ends. */
static char *put_piece(struct ky_json *json, char *at, struct kymo_str text, size_t *next)
{
	const unsigned char *bytes = (const unsigned char *)text.data;
	const size_t stop = text.size - *next > PIECE ? *next + PIECE : text.size;
	size_t i = *next;

	while (i < stop) {
		const size_t left = text.size - i;
		uint64_t word, found;

		if (left >= 8)
			memcpy(&word, bytes + i, 8);
		else
			word = load_tail(bytes + i, left);
		memcpy(at, &word, 8);
		found = specials(word);
		if (found == 0) {
			at += left < 8 ? left : 8;
			i += left < 8 ? left : 8;
			continue;
		}
		/* Little endian: the lowest byte is the first in memory. */
		at += __builtin_ctzll(found) / 8;
		i += (size_t)__builtin_ctzll(found) / 8;
		i = put_character(json, &at, bytes, text.size, i);
	}
	*next = i;
	return at;
}

/* As put_clean(), with room made, of text of any size. */
static inline char *put_at_once(char *at, struct kymo_str text)
{
	return text.size - 1 < PIECE ? put_clean(at, text) : NULL;
}

static char *put_pieces(struct ky_json *json, char *at, struct kymo_str text)
{
	size_t next = 0;

	while (next < text.size)
		at = put_piece(json, ky_json_room(json, at), text, &next);
	return at;
}

char *ky_json_put_text(struct ky_json *json, char *at, struct kymo_str text)
{
	char *end = put_at_once(at = ky_json_room(json, at), text);

	return KYMO_UNLIKELY(!end) ? put_pieces(json, at, text) : end;
}

char *ky_json_put_string(struct ky_json *json, char *at, struct kymo_str text)
{
	char *end;

	at = ky_json_room(json, at);
	*at++ = '"';
	end = put_at_once(at, text);
	if (KYMO_UNLIKELY(!end))
		end = ky_json_room(json, put_pieces(json, at, text));
	*end = '"';
	return end + 1;
}

void ky_json_text(struct ky_json *json, struct kymo_str text)
{
	json->at = ky_json_put_text(json, json->at, text);
}

void ky_json_string(struct ky_json *json, struct kymo_str text)
{
	json->at = ky_json_put_string(json, json->at, text);
}

void ky_json_fini(struct ky_json *json)
{
	free(json->buffer);
	memset(json, 0, sizeof(*json));
}

int32_t ky_json_init(struct ky_json *json,
		     int32_t (*write)(void *context, const char *data, size_t size),
		     void *context)
{
	memset(json, 0, sizeof(*json));
	json->buffer = malloc(BUFFER_SIZE);
	if (!json->buffer)
		return KYMO_ERROR_NO_MEMORY;
	json->at = json->buffer;
	json->limit = json->buffer + BUFFER_SIZE - KY_JSON_ROOM_MAX;
	json->write = write;
	json->context = context;
	ky_powers_init(&json->powers);
	return KYMO_OK;
}
