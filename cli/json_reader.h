/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads JSON (RFC 8259) piece by piece, in memory that does not grow with the document.
 *
 *     while ((token = ky_json_reader_next(reader)) > KY_JSON_END)
 *             ...
 *
 * Strict: what is not JSON ends the reading with an error that says where. Texts and
 * numbers beyond KY_JSON_TEXT_MAX are checked to their end, but only their beginning is
 * kept.
 */
#ifndef KYMO_CLI_JSON_READER_H
#define KYMO_CLI_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KY_JSON_TEXT_MAX  (1u << 20)
#define KY_JSON_DEPTH_MAX 512

enum ky_json_token {
	KY_JSON_ERROR = -1,
	KY_JSON_END = 0,
	KY_JSON_OBJECT,     /* { */
	KY_JSON_OBJECT_END, /* } */
	KY_JSON_ARRAY,      /* [ */
	KY_JSON_ARRAY_END,  /* ] */
	KY_JSON_KEY,        /* text: the key, unescaped */
	KY_JSON_STRING,     /* text: unescaped */
	KY_JSON_NUMBER,     /* text: as it stands there */
	KY_JSON_TRUE,
	KY_JSON_FALSE,
	KY_JSON_NULL,
};

struct ky_json_reader;

/*
 * Fills the buffer and returns how many bytes, 0 at the end, or -1 with the reason in
 * `reason` (a buffer of KY_JSON_REASON_SIZE).
 */
#define KY_JSON_REASON_SIZE 200
typedef ptrdiff_t (*ky_json_fill_fn)(void *context, void *buffer, size_t size,
				     char *reason);

/* NULL when memory is out. */
struct ky_json_reader *ky_json_reader_create(ky_json_fill_fn fill, void *context);
void ky_json_reader_destroy(struct ky_json_reader *reader);

enum ky_json_token ky_json_reader_next(struct ky_json_reader *reader);

/* After KEY, STRING and NUMBER: the text, terminated, valid until the next call. */
const char *ky_json_reader_text(const struct ky_json_reader *reader, size_t *size);

/* True if that was only the beginning. */
bool ky_json_reader_is_cut(const struct ky_json_reader *reader);

/*
 * Passes over one value: what follows a key, or, with `begun` OBJECT or ARRAY, the rest
 * of the value that began with that token. ERROR as from next(), else the last token.
 */
enum ky_json_token ky_json_reader_skip(struct ky_json_reader *reader,
				       enum ky_json_token begun);

/* Where the last token, or the error, begins. */
uint64_t ky_json_reader_line(const struct ky_json_reader *reader);
uint64_t ky_json_reader_byte(const struct ky_json_reader *reader);

/* After ERROR: what is wrong, without the place. */
const char *ky_json_reader_error(const struct ky_json_reader *reader);

#endif
