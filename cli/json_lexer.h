/* SPDX-License-Identifier: BSD-3-Clause */
/* The lower half of the JSON reader: bytes, and what is made of them without any grammar.
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
	bool is_cut; /* text is only the beginning */
	bool failed; /* for good; the first reason stays */
	bool ended;
	char error[KY_JSON_REASON_SIZE];
};

bool ky_json_lexer_init(struct ky_json_lexer *lexer, ky_json_fill_fn fill, void *context);
void ky_json_lexer_fini(struct ky_json_lexer *lexer);

/* Both return KY_JSON_ERROR. `byte`: what stands there, or -1 at the end. */
enum ky_json_token ky_json_lexer_fail(struct ky_json_lexer *lexer, const char *reason);
enum ky_json_token ky_json_lexer_fail_at(struct ky_json_lexer *lexer, int byte,
					 const char *wanted);

/* The next byte that is no white space, which is not taken, or -1. */
int ky_json_lexer_skip_blanks(struct ky_json_lexer *lexer);

/* After the opening quote, up to and with the closing one. */
bool ky_json_lexer_string(struct ky_json_lexer *lexer);

/* From its first byte on, which is given but not taken. */
enum ky_json_token ky_json_lexer_number(struct ky_json_lexer *lexer, int byte);
enum ky_json_token ky_json_lexer_word(struct ky_json_lexer *lexer, const char *word,
				      enum ky_json_token token);

#endif
