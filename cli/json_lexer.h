/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lower half of the JSON reader: bytes, and what is made of them without any grammar.
 */
#ifndef KYMO_CLI_JSON_LEXER_H
#define KYMO_CLI_JSON_LEXER_H

#include "json_reader.h"

struct ky_json_lexer {
	ky_json_fill_fn fill;
	void *context;
	unsigned char *buffer;
	size_t at, size;                 /* of the buffer */
	uint64_t offset;                 /* of the buffer's first byte */
	uint64_t line;                   /* of the byte at `at`, from 1 */
	uint64_t token_line, token_byte; /* where the token, or the error, begins */
	char *text;                      /* of the last string or number, terminated */
	size_t text_size, text_capacity;
	bool failed; /* the first reason stays */
	bool ended;
	enum ky_json_failure failure;
	ky_json_problem_fn tell; /* NULL: strict */
	void *tell_context;
	char error[KY_JSON_REASON_SIZE];
};

bool ky_json_lexer_init(struct ky_json_lexer *lexer, ky_json_fill_fn fill, void *context);
void ky_json_lexer_fini(struct ky_json_lexer *lexer);

/* Both return KY_JSON_ERROR. `byte`: what stands there, or -1 at the end. */
enum ky_json_token ky_json_lexer_fail(struct ky_json_lexer *lexer, const char *reason);
enum ky_json_token ky_json_lexer_fail_at(struct ky_json_lexer *lexer, int byte,
					 const char *wanted);

/* Of the next byte. */
static inline uint64_t ky_json_lexer_byte(const struct ky_json_lexer *lexer)
{
	return lexer->offset + lexer->at;
}

/*
 * Tells of a problem that can be read on from, and how many bytes from `byte` on it
 * takes; `mend` may be NULL. False in a strict reader.
 */
bool ky_json_lexer_tell(struct ky_json_lexer *lexer, enum ky_json_problem_kind kind,
			uint64_t byte, uint64_t size, const char *mend);

/* The next byte that is no white space, which is not taken, or -1. */
int ky_json_lexer_skip_blanks(struct ky_json_lexer *lexer);

/* U+FEFF, if the input begins with it. */
bool ky_json_lexer_skip_mark(struct ky_json_lexer *lexer);

/* False at the end of the input, and when it can't be read, which fails the reader. */
bool ky_json_lexer_refill(struct ky_json_lexer *lexer);

/* The next byte without taking it, or -1. */
static inline int ky_json_lexer_peek(struct ky_json_lexer *lexer)
{
	if (lexer->at == lexer->size && !ky_json_lexer_refill(lexer))
		return -1;
	return lexer->buffer[lexer->at];
}

/* Adds to the text. Beyond the limit bytes are dropped; false when memory is out. */
bool ky_json_lexer_keep(struct ky_json_lexer *lexer, const void *bytes, size_t size);

/* To the next line that begins with that byte, blanks aside; false at the end. */
bool ky_json_lexer_skip_to_line(struct ky_json_lexer *lexer, int first);

/* After the opening quote, up to and with the closing one. */
bool ky_json_lexer_string(struct ky_json_lexer *lexer);

/* From its first byte on, which is given but not taken. */
enum ky_json_token ky_json_lexer_number(struct ky_json_lexer *lexer, int byte);
enum ky_json_token ky_json_lexer_word(struct ky_json_lexer *lexer, const char *word,
				      enum ky_json_token token);

/* The same for a reader that reads on: any bare word, sound or not. */
enum ky_json_token ky_json_lexer_bare(struct ky_json_lexer *lexer);

#endif
