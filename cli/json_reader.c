/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grammar: what may come after each token, with one bit of memory for each bracket
 * that is open.
 */
#include "json_reader.h"

#include <stdlib.h>
#include <string.h>

#include "json_lexer.h"

#define TEXT_OF(number)    TEXT_OF_IT(number)
#define TEXT_OF_IT(number) #number
#define DEPTH_TEXT         TEXT_OF(KY_JSON_DEPTH_MAX)

/* What may come next. */
enum expect {
	EXPECT_VALUE,
	EXPECT_FIRST_ITEM, /* of an array: a value or the end */
	EXPECT_FIRST_KEY,  /* of an object: a key or the end */
	EXPECT_KEY,
	EXPECT_COMMA, /* or the end of what is open */
	EXPECT_NOTHING,
};

struct ky_json_reader {
	struct ky_json_lexer lexer;
	enum expect expect;
	unsigned depth;
	uint64_t is_object[KY_JSON_DEPTH_MAX / 64]; /* a bit for each open bracket */
};

static bool in_object(const struct ky_json_reader *reader)
{
	const unsigned level = reader->depth - 1;

	return reader->is_object[level / 64] >> level % 64 & 1;
}

static enum ky_json_token open_bracket(struct ky_json_reader *reader, bool is_object)
{
	const unsigned level = reader->depth;

	if (level == KY_JSON_DEPTH_MAX) {
		ky_json_lexer_fail(&reader->lexer,
				   "more than " DEPTH_TEXT " brackets are open");
		reader->lexer.failure = KY_JSON_LIMIT;
		return KY_JSON_ERROR;
	}
	reader->lexer.at++;
	reader->depth++;
	reader->is_object[level / 64] &= ~(UINT64_C(1) << level % 64);
	reader->is_object[level / 64] |= (uint64_t)is_object << level % 64;
	reader->expect = is_object ? EXPECT_FIRST_KEY : EXPECT_FIRST_ITEM;
	return is_object ? KY_JSON_OBJECT : KY_JSON_ARRAY;
}

static void end_value(struct ky_json_reader *reader)
{
	reader->expect = reader->depth > 0 ? EXPECT_COMMA : EXPECT_NOTHING;
}

static enum ky_json_token close_bracket(struct ky_json_reader *reader)
{
	const bool is_object = in_object(reader);

	reader->lexer.at++;
	reader->depth--;
	end_value(reader);
	return is_object ? KY_JSON_OBJECT_END : KY_JSON_ARRAY_END;
}

static enum ky_json_token read_word(struct ky_json_reader *reader, int byte)
{
	struct ky_json_lexer *lexer = &reader->lexer;

	if (lexer->tell && byte >= 0 && !strchr("]}:,", byte))
		return ky_json_lexer_bare(lexer);
	switch (byte) {
	case 't':
		return ky_json_lexer_word(lexer, "true", KY_JSON_TRUE);
	case 'f':
		return ky_json_lexer_word(lexer, "false", KY_JSON_FALSE);
	case 'n':
		return ky_json_lexer_word(lexer, "null", KY_JSON_NULL);
	default:
		if (byte != '-' && (byte < '0' || byte > '9'))
			return ky_json_lexer_fail_at(lexer, byte, "a value");
		return ky_json_lexer_number(lexer, byte);
	}
}

static enum ky_json_token read_value(struct ky_json_reader *reader, int byte)
{
	enum ky_json_token token;

	if (byte == '{' || byte == '[')
		return open_bracket(reader, byte == '{');
	if (byte == '"') {
		reader->lexer.at++;
		token = ky_json_lexer_string(&reader->lexer) ? KY_JSON_STRING
							     : KY_JSON_ERROR;
	} else {
		token = read_word(reader, byte);
	}
	end_value(reader);
	return token;
}

/* With the colon. */
static enum ky_json_token read_key(struct ky_json_reader *reader, int byte)
{
	if (byte != '"')
		return ky_json_lexer_fail_at(&reader->lexer, byte, "a key");
	reader->lexer.at++;
	if (!ky_json_lexer_string(&reader->lexer))
		return KY_JSON_ERROR;
	byte = ky_json_lexer_skip_blanks(&reader->lexer);
	if (byte != ':')
		return ky_json_lexer_fail_at(&reader->lexer, byte, "a colon");
	reader->lexer.at++;
	reader->expect = EXPECT_VALUE;
	return KY_JSON_KEY;
}

static enum ky_json_token read_behind(struct ky_json_reader *reader, int byte)
{
	if (byte < 0)
		return reader->lexer.failed ? KY_JSON_ERROR : KY_JSON_END;
	ky_json_lexer_fail_at(&reader->lexer, byte, "the end");
	reader->lexer.failure = KY_JSON_BEHIND;
	return KY_JSON_ERROR;
}

static bool is_end(const struct ky_json_reader *reader, int byte)
{
	return reader->depth > 0 && byte == (in_object(reader) ? '}' : ']');
}

static void note_place(struct ky_json_reader *reader)
{
	reader->lexer.token_line = reader->lexer.line;
	reader->lexer.token_byte = ky_json_lexer_byte(&reader->lexer);
}

/* Those that are too many, in a lenient reader; returns the byte behind. */
static int skip_commas(struct ky_json_reader *reader, int byte,
		       enum ky_json_problem_kind kind)
{
	struct ky_json_lexer *lexer = &reader->lexer;

	while (byte == ',' &&
	       ky_json_lexer_tell(lexer, kind, ky_json_lexer_byte(lexer), 1, "")) {
		lexer->at++;
		byte = ky_json_lexer_skip_blanks(lexer);
	}
	return byte;
}

/* Between two items; returns the byte behind, and at the end does not set `expect`. */
static int read_comma(struct ky_json_reader *reader, int byte)
{
	struct ky_json_lexer *lexer = &reader->lexer;
	const uint64_t at = ky_json_lexer_byte(lexer);
	const bool object = in_object(reader);

	if (byte == ',') {
		lexer->at++;
		byte = skip_commas(reader, ky_json_lexer_skip_blanks(lexer),
				   KY_JSON_TWO_COMMAS);
		if (is_end(reader, byte) &&
		    ky_json_lexer_tell(lexer, KY_JSON_END_COMMA, at, 1, ""))
			return byte;
	} else if (byte < 0 || strchr("]}:", byte) ||
		   !ky_json_lexer_tell(lexer, KY_JSON_NO_COMMA, at, 0, ",")) {
		ky_json_lexer_fail_at(lexer, byte, object ? "',' or '}'" : "',' or ']'");
	}
	reader->expect = object ? EXPECT_KEY : EXPECT_VALUE;
	return byte;
}

static enum ky_json_token read_token(struct ky_json_reader *reader)
{
	int byte = ky_json_lexer_skip_blanks(&reader->lexer);

	if (reader->expect == EXPECT_NOTHING)
		return read_behind(reader, byte);
	if (reader->expect == EXPECT_FIRST_ITEM || reader->expect == EXPECT_FIRST_KEY)
		byte = skip_commas(reader, byte, KY_JSON_END_COMMA);
	else if (reader->expect == EXPECT_COMMA && !is_end(reader, byte))
		byte = read_comma(reader, byte);
	if (reader->lexer.failed)
		return KY_JSON_ERROR;
	note_place(reader);
	if (reader->expect != EXPECT_KEY && reader->expect != EXPECT_VALUE &&
	    is_end(reader, byte))
		return close_bracket(reader);
	if (reader->expect == EXPECT_FIRST_KEY || reader->expect == EXPECT_KEY)
		return read_key(reader, byte);
	return read_value(reader, byte);
}

enum ky_json_token ky_json_reader_next(struct ky_json_reader *reader)
{
	enum ky_json_token token =
		reader->lexer.failed ? KY_JSON_ERROR : read_token(reader);

	return reader->lexer.failed ? KY_JSON_ERROR : token;
}

enum ky_json_token ky_json_reader_skip(struct ky_json_reader *reader,
				       enum ky_json_token begun)
{
	const bool is_begun = begun == KY_JSON_OBJECT || begun == KY_JSON_ARRAY;
	const unsigned depth = reader->depth - (is_begun ? 1 : 0);
	enum ky_json_token token;

	do
		token = ky_json_reader_next(reader);
	while (token > KY_JSON_END && (reader->depth > depth || token == KY_JSON_KEY));
	return token;
}

/* ---- The rest ---- */

const char *ky_json_reader_text(const struct ky_json_reader *reader, size_t *size)
{
	if (size)
		*size = reader->lexer.text_size;
	return reader->lexer.text;
}

uint64_t ky_json_reader_line(const struct ky_json_reader *reader)
{
	return reader->lexer.token_line;
}

uint64_t ky_json_reader_byte(const struct ky_json_reader *reader)
{
	return reader->lexer.token_byte;
}

uint64_t ky_json_reader_end(const struct ky_json_reader *reader)
{
	return ky_json_lexer_byte(&reader->lexer);
}

unsigned ky_json_reader_depth(const struct ky_json_reader *reader)
{
	return reader->depth;
}

const char *ky_json_reader_error(const struct ky_json_reader *reader)
{
	return reader->lexer.error;
}

enum ky_json_failure ky_json_reader_failure(const struct ky_json_reader *reader)
{
	return reader->lexer.failure;
}

static void forget_failure(struct ky_json_reader *reader, enum expect expect)
{
	reader->lexer.failed = false;
	reader->lexer.failure = KY_JSON_SOUND;
	reader->expect = expect;
}

bool ky_json_reader_resume(struct ky_json_reader *reader, unsigned depth)
{
	struct ky_json_lexer *lexer = &reader->lexer;
	const uint64_t line = lexer->token_line, byte = lexer->token_byte;
	char error[KY_JSON_REASON_SIZE];

	if (lexer->failure != KY_JSON_SYNTAX || depth > reader->depth)
		return false;
	memcpy(error, lexer->error, sizeof(error));
	forget_failure(reader, EXPECT_VALUE);
	reader->depth = depth;
	if (ky_json_lexer_skip_to_line(lexer, '{'))
		return true;
	lexer->failed = true;
	lexer->failure = KY_JSON_SYNTAX;
	lexer->token_line = line;
	lexer->token_byte = byte;
	memcpy(lexer->error, error, sizeof(error));
	return false;
}

void ky_json_reader_again(struct ky_json_reader *reader)
{
	if (reader->lexer.failure == KY_JSON_BEHIND)
		forget_failure(reader, EXPECT_VALUE);
}

bool ky_json_reader_skip_mark(struct ky_json_reader *reader)
{
	return ky_json_lexer_skip_mark(&reader->lexer);
}

void ky_json_reader_set_lenient(struct ky_json_reader *reader, ky_json_problem_fn tell,
				void *context)
{
	reader->lexer.tell = tell;
	reader->lexer.tell_context = context;
}

void ky_json_reader_destroy(struct ky_json_reader *reader)
{
	if (!reader)
		return;
	ky_json_lexer_fini(&reader->lexer);
	free(reader);
}

struct ky_json_reader *ky_json_reader_create(ky_json_fill_fn fill, void *context)
{
	struct ky_json_reader *reader = calloc(1, sizeof(*reader));

	if (!reader || ky_json_lexer_init(&reader->lexer, fill, context))
		return reader;
	free(reader);
	return NULL;
}
