/* SPDX-License-Identifier: BSD-3-Clause */
#include "json_lexer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BUFFER_SIZE (256u << 10)
#define TEXT_FIRST  256

enum ky_json_token ky_json_lexer_fail(struct ky_json_lexer *lexer, const char *reason)
{
	if (lexer->failed)
		return KY_JSON_ERROR;
	lexer->failed = true;
	lexer->failure = lexer->ended ? KY_JSON_CUT : KY_JSON_SYNTAX;
	lexer->token_line = lexer->line;
	lexer->token_byte = ky_json_lexer_byte(lexer);
	snprintf(lexer->error, sizeof(lexer->error), "%s", reason);
	return KY_JSON_ERROR;
}

bool ky_json_lexer_tell(struct ky_json_lexer *lexer, enum ky_json_problem_kind kind,
			uint64_t byte, uint64_t size, const char *mend)
{
	const struct ky_json_problem problem = {kind, lexer->line, byte, size, mend};

	if (lexer->tell)
		lexer->tell(lexer->tell_context, &problem);
	return lexer->tell;
}

/* ---- Bytes ---- */

bool ky_json_lexer_refill(struct ky_json_lexer *lexer)
{
	ptrdiff_t got;

	if (lexer->failed || lexer->ended)
		return false;
	lexer->offset += lexer->size;
	lexer->at = lexer->size = 0;
	got = lexer->fill(lexer->context, lexer->buffer, BUFFER_SIZE, lexer->error);
	if (got < 0) {
		lexer->failed = true;
		lexer->failure = KY_JSON_INPUT;
		lexer->token_line = lexer->line;
		lexer->token_byte = lexer->offset;
		return false;
	}
	lexer->size = (size_t)got;
	lexer->ended = got == 0;
	return got > 0;
}

int ky_json_lexer_skip_blanks(struct ky_json_lexer *lexer)
{
	for (;;) {
		int byte = ky_json_lexer_peek(lexer);

		if (byte == '\n')
			lexer->line++;
		else if (byte != ' ' && byte != '\t' && byte != '\r')
			return byte;
		lexer->at++;
	}
}

bool ky_json_lexer_skip_mark(struct ky_json_lexer *lexer)
{
	if (ky_json_lexer_peek(lexer) != 0xef || lexer->size < 3 ||
	    lexer->buffer[1] != 0xbb || lexer->buffer[2] != 0xbf)
		return false;
	lexer->at += 3;
	return true;
}

bool ky_json_lexer_skip_to_line(struct ky_json_lexer *lexer, int first)
{
	int byte;

	do {
		while ((byte = ky_json_lexer_peek(lexer)) >= 0 && byte != '\n')
			lexer->at++;
		byte = ky_json_lexer_skip_blanks(lexer);
	} while (byte >= 0 && byte != first);
	return byte >= 0;
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

static bool refuse_at(struct ky_json_lexer *lexer, int byte, const char *wanted)
{
	ky_json_lexer_fail_at(lexer, byte, wanted);
	return false;
}

/* ---- Texts ---- */

bool ky_json_lexer_keep(struct ky_json_lexer *lexer, const void *bytes, size_t size)
{
	const size_t room = KY_JSON_TEXT_MAX - lexer->text_size;

	if (size > room)
		size = room;
	if (lexer->text_size + size >= lexer->text_capacity) {
		size_t capacity = lexer->text_capacity;
		char *grown;

		while (capacity <= lexer->text_size + size)
			capacity *= 2;
		grown = realloc(lexer->text, capacity);
		if (!grown) {
			ky_json_lexer_fail(lexer, "out of memory");
			lexer->failure = KY_JSON_NO_MEMORY;
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

/* ---- Numbers and words ---- */

static bool keep_byte(struct ky_json_lexer *lexer, int byte)
{
	char kept = (char)byte;

	lexer->at++;
	return ky_json_lexer_keep(lexer, &kept, 1);
}

static bool read_digits(struct ky_json_lexer *lexer)
{
	int byte = ky_json_lexer_peek(lexer);

	if (byte < '0' || byte > '9')
		return refuse_at(lexer, byte, "a digit");
	for (; byte >= '0' && byte <= '9'; byte = ky_json_lexer_peek(lexer)) {
		if (!keep_byte(lexer, byte))
			return false;
	}
	return true;
}

enum ky_json_token ky_json_lexer_number(struct ky_json_lexer *lexer, int byte)
{
	lexer->text_size = 0;
	if (byte == '-' && !keep_byte(lexer, byte))
		return KY_JSON_ERROR;
	if (ky_json_lexer_peek(lexer) == '0') {
		if (!keep_byte(lexer, '0'))
			return KY_JSON_ERROR;
		byte = ky_json_lexer_peek(lexer);
		if (byte >= '0' && byte <= '9')
			return ky_json_lexer_fail(lexer, "a number with a leading zero");
	} else if (!read_digits(lexer)) {
		return KY_JSON_ERROR;
	}
	if (ky_json_lexer_peek(lexer) == '.' &&
	    (!keep_byte(lexer, '.') || !read_digits(lexer)))
		return KY_JSON_ERROR;
	byte = ky_json_lexer_peek(lexer);
	if (byte != 'e' && byte != 'E')
		return lexer->failed ? KY_JSON_ERROR : KY_JSON_NUMBER;
	if (!keep_byte(lexer, byte))
		return KY_JSON_ERROR;
	byte = ky_json_lexer_peek(lexer);
	if ((byte == '+' || byte == '-') && !keep_byte(lexer, byte))
		return KY_JSON_ERROR;
	return read_digits(lexer) ? KY_JSON_NUMBER : KY_JSON_ERROR;
}

enum ky_json_token ky_json_lexer_word(struct ky_json_lexer *lexer, const char *word,
				      enum ky_json_token token)
{
	for (; *word; word++) {
		int byte = ky_json_lexer_peek(lexer);

		if (byte != *word)
			return ky_json_lexer_fail_at(lexer, byte, "true, false or null");
		lexer->at++;
	}
	return token;
}

/* How much of the text is a number of JSON: all of it, if it is one. */
static size_t match_number(const char *text)
{
	const char *at = text + (*text == '-');
	size_t digits = strspn(at, "0123456789");

	if (digits == 0 || (digits > 1 && *at == '0'))
		return 0;
	at += digits;
	if (*at == '.') {
		digits = strspn(at + 1, "0123456789");
		at += digits ? 1 + digits : 0;
	}
	if (*at == 'e' || *at == 'E') {
		const size_t sign = at[1] == '+' || at[1] == '-';

		digits = strspn(at + 1 + sign, "0123456789");
		at += digits ? 1 + sign + digits : 0;
	}
	return (size_t)(at - text);
}

/* "+5", "007", ".5", "100.": what the number is, is clear. */
static bool mend_number(const char *text, char out[64])
{
	const bool negative = *text == '-';
	const char *at = text + (*text == '-' || *text == '+');
	const char *whole;
	size_t size;

	while (*at == '0' && at[1] >= '0' && at[1] <= '9')
		at++;
	whole = *at == '.' ? "0" : "";
	snprintf(out, 64, "%s%s%.50s", negative ? "-" : "", whole, at);
	size = strlen(out);
	if (size > 1 && out[size - 1] == '.')
		out[size - 1] = '\0';
	return strlen(at) <= 50 && out[match_number(out)] == '\0' && out[0];
}

static bool is_non_finite(const char *word)
{
	static const char *const words[] = {"nan", "inf", "infinity", "n/a"};
	size_t i;

	word += *word == '-' || *word == '+';
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasecmp(word, words[i]) == 0)
			return true;
	}
	return false;
}

enum ky_json_token ky_json_lexer_bare(struct ky_json_lexer *lexer)
{
	const uint64_t begin = ky_json_lexer_byte(lexer);
	char mend[64];
	int byte;

	lexer->text_size = 0;
	while ((byte = ky_json_lexer_peek(lexer)) > ' ' && !strchr(",:]}[{\"", byte)) {
		if (!keep_byte(lexer, byte))
			return KY_JSON_ERROR;
	}
	if (byte < 0 || lexer->text_size == 0)
		return ky_json_lexer_fail_at(lexer, byte, "a value");
	if (lexer->text[match_number(lexer->text)] == '\0')
		return KY_JSON_NUMBER;
	if (strcmp(lexer->text, "true") == 0)
		return KY_JSON_TRUE;
	if (strcmp(lexer->text, "false") == 0)
		return KY_JSON_FALSE;
	if (strcmp(lexer->text, "null") == 0)
		return KY_JSON_NULL;
	if (is_non_finite(lexer->text)) {
		ky_json_lexer_tell(lexer, KY_JSON_NON_FINITE, begin, lexer->text_size,
				   "null");
		return KY_JSON_NULL;
	}
	if (strspn(lexer->text, "0123456789+-.eE_") != lexer->text_size) {
		ky_json_lexer_tell(lexer, KY_JSON_ODD_WORD, begin, lexer->text_size,
				   NULL);
		return KY_JSON_NULL;
	}
	if (!mend_number(lexer->text, mend)) {
		ky_json_lexer_tell(lexer, KY_JSON_ODD_NUMBER, begin, lexer->text_size,
				   NULL);
		return KY_JSON_NULL;
	}
	ky_json_lexer_tell(lexer, KY_JSON_ODD_NUMBER, begin, lexer->text_size, mend);
	lexer->text_size = 0;
	return ky_json_lexer_keep(lexer, mend, strlen(mend)) ? KY_JSON_NUMBER
							     : KY_JSON_ERROR;
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
