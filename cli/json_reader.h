/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads JSON (RFC 8259) piece by piece, in memory that does not grow with the document.
 *
 *     while ((token = ky_json_reader_next(reader)) > KY_JSON_END)
 *             ...
 *
 * Strict: what is not JSON ends the reading with an error that says where. A lenient
 * reader tells of what it can read on from, and goes on. Texts and numbers beyond
 * KY_JSON_TEXT_MAX are checked to their end, but only their beginning is kept.
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

/* What a lenient reader can read on from. */
enum ky_json_problem_kind {
	KY_JSON_CONTROL,    /* a raw control byte in a string */
	KY_JSON_ESCAPE,     /* a backslash before something that can't follow it */
	KY_JSON_SURROGATE,  /* escaped: half a pair, or a whole one, which is JSON */
	KY_JSON_NUL,        /* U+0000, raw or escaped; the latter is JSON */
	KY_JSON_UTF8,       /* bytes that are no UTF-8 */
	KY_JSON_NON_FINITE, /* NaN, Infinity, N/A: read as null */
	KY_JSON_ODD_NUMBER, /* 100. .5 +5 007 1_000: read as a number where it is clear */
	KY_JSON_ODD_WORD,   /* any other word: read as null */
	KY_JSON_END_COMMA,  /* behind the last item, or before the first */
	KY_JSON_TWO_COMMAS,
	KY_JSON_NO_COMMA,
};

struct ky_json_problem {
	enum ky_json_problem_kind kind;
	uint64_t line, byte, size;
	const char *mend; /* what can stand there instead, without a guess; may be NULL */
};

typedef void (*ky_json_problem_fn)(void *context, const struct ky_json_problem *problem);

/* Why there is no next token. */
enum ky_json_failure {
	KY_JSON_SOUND,
	KY_JSON_CUT,    /* the input ends within the document */
	KY_JSON_SYNTAX, /* what stands there is no JSON */
	KY_JSON_BEHIND, /* something stands behind the document */
	KY_JSON_INPUT,  /* it can't be read, or unpacked */
	KY_JSON_LIMIT,  /* too deep */
	KY_JSON_NO_MEMORY,
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

/* Makes it lenient. */
void ky_json_reader_set_lenient(struct ky_json_reader *reader, ky_json_problem_fn tell,
				void *context);

/* Before the first token: passes over a byte order mark; true if there was one. */
bool ky_json_reader_skip_mark(struct ky_json_reader *reader);

enum ky_json_token ky_json_reader_next(struct ky_json_reader *reader);

/* After KEY, STRING and NUMBER: the text, terminated, valid until the next call. */
const char *ky_json_reader_text(const struct ky_json_reader *reader, size_t *size);

/*
 * Passes over one value: what follows a key, or, with `begun` OBJECT or ARRAY, the rest
 * of the value that began with that token. ERROR as from next(), else the last token.
 */
enum ky_json_token ky_json_reader_skip(struct ky_json_reader *reader,
				       enum ky_json_token begun);

/* Where the last token, or the error, begins; the byte behind the token. */
uint64_t ky_json_reader_line(const struct ky_json_reader *reader);
uint64_t ky_json_reader_byte(const struct ky_json_reader *reader);
uint64_t ky_json_reader_end(const struct ky_json_reader *reader);

/* How many brackets are open. */
unsigned ky_json_reader_depth(const struct ky_json_reader *reader);

/* After ERROR: what is wrong, without the place. */
const char *ky_json_reader_error(const struct ky_json_reader *reader);
enum ky_json_failure ky_json_reader_failure(const struct ky_json_reader *reader);

/*
 * After SYNTAX: goes on at the next line that begins with '{', as an item of the array
 * that was the `depth`-th open bracket. False, and the error stays, where there is none.
 */
bool ky_json_reader_resume(struct ky_json_reader *reader, unsigned depth);

/* After BEHIND: reads what stands there as another document. */
void ky_json_reader_again(struct ky_json_reader *reader);

#endif
