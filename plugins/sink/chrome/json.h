/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON text into a buffer that is handed on when full. What comes out is RFC 8259
 * whatever bytes go in, with only those escapes that every reader of traces knows.
 *
 * Failure is sticky: once handing on has failed, everything is accepted and dropped, and
 * `status` says so. So only the end of a batch has to look.
 */
#ifndef KYMO_CHROME_JSON_H
#define KYMO_CHROME_JSON_H

#include <string.h>

#include <kymo/base.h>

#include "number.h"

#define KY_JSON_ROOM_MAX 4096u /* that is free wherever ky_json_room() says so */

struct ky_json {
	char *at;    /* where the next byte goes */
	char *limit; /* KY_JSON_ROOM_MAX before the buffer's end */
	char *buffer;
	int32_t (*write)(void *context, const char *data, size_t size);
	void *context;
	int32_t status;             /* of the first write that failed */
	uint64_t invalid_utf8, nul; /* replacements so far */
	struct ky_powers powers;
};

/* KYMO_ERROR_NO_MEMORY, or KYMO_OK. */
int32_t ky_json_init(struct ky_json *json,
		     int32_t (*write)(void *context, const char *data, size_t size),
		     void *context);
void ky_json_fini(struct ky_json *json);

/* Hands on what is in the buffer; returns `status`. */
int32_t ky_json_flush(struct ky_json *json);

/*
 * Room for KY_JSON_ROOM_MAX bytes from the end `at` of what was stored; the place to go
 * on. What writes much passes the place from call to call in a register and keeps
 * `json->at` only where it leaves off: through memory, each small piece would wait for
 * the last one.
 */
static inline char *ky_json_room(struct ky_json *json, char *at)
{
	if (KYMO_UNLIKELY(at > json->limit)) {
		json->at = at;
		ky_json_flush(json);
		return json->at;
	}
	return at;
}

/* A literal at `at`; the end of it. */
#define KY_PUT(at, literal) \
	((char *)memcpy((at), "" literal, sizeof(literal) - 1) + sizeof(literal) - 1)

#define KY_JSON_LITERAL(json, literal) \
	((json)->at = KY_PUT(ky_json_room((json), (json)->at), literal))

/* Text that is JSON already, of any size. */
void ky_json_raw(struct ky_json *json, const char *data, size_t size);

/*
 * The one writer of strings: quotes included, any bytes taken. What is not UTF-8 becomes
 * U+FFFD, one for each longest piece that could have begun a character; U+0000 becomes
 * U+2400, since readers cut a string there. Both are counted.
 */
void ky_json_string(struct ky_json *json, struct kymo_str text);

/* The same without quotes, for strings that are put together of several texts. */
void ky_json_text(struct ky_json *json, struct kymo_str text);

void ky_json_u64(struct ky_json *json, uint64_t value);
void ky_json_i64(struct ky_json *json, int64_t value);

/* The same, from place to place. */
char *ky_json_put_string(struct ky_json *json, char *at, struct kymo_str text);
char *ky_json_put_text(struct ky_json *json, char *at, struct kymo_str text);
/* null where it is not finite. */
char *ky_json_put_double(struct ky_json *json, char *at, double value);

/*
 * The size (2 to 4) of the character of several bytes that begins at `text`, or 0 if
 * there is none; then `*bad` is the size of the piece that one U+FFFD replaces.
 */
unsigned ky_utf8_character(const unsigned char *text, size_t size, unsigned *bad);

#endif
