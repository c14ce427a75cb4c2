/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The grammar: what may come after each token, with one bit of memory for each bracket
 * that is open.
 */
#include "json_reader.h"

#include <stdlib.h>

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

	if (level == KY_JSON_DEPTH_MAX)
		return ky_json_lexer_fail(&reader->lexer,
					  "more than " DEPTH_TEXT " brackets are open");
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

static enum ky_json_token read_value(struct ky_json_reader *reader, int byte)
{
	enum ky_json_token token;

	switch (byte) {
	case '{':
		return open_bracket(reader, true);
	case '[':
		return open_bracket(reader, false);
	case '"':
		reader->lexer.at++;
		token = ky_json_lexer_string(&reader->lexer) ? KY_JSON_STRING
							     : KY_JSON_ERROR;
		break;
	case 't':
		token = ky_json_lexer_word(&reader->lexer, "true", KY_JSON_TRUE);
		break;
	case 'f':
		token = ky_json_lexer_word(&reader->lexer, "false", KY_JSON_FALSE);
		break;
	case 'n':
		token = ky_json_lexer_word(&reader->lexer, "null", KY_JSON_NULL);
		break;
	default:
		if (byte != '-' && (byte < '0' || byte > '9'))
			return ky_json_lexer_fail_at(&reader->lexer, byte, "a value");
		token = ky_json_lexer_number(&reader->lexer, byte);
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

static enum ky_json_token read_token(struct ky_json_reader *reader)
{
	int byte = ky_json_lexer_skip_blanks(&reader->lexer);

	if (reader->expect == EXPECT_NOTHING)
		return byte < 0 ? KY_JSON_END
				: ky_json_lexer_fail_at(&reader->lexer, byte, "the end");
	if (reader->expect == EXPECT_COMMA) {
		if (byte == (in_object(reader) ? '}' : ']'))
			return close_bracket(reader);
		if (byte != ',')
			return ky_json_lexer_fail_at(&reader->lexer, byte,
						     in_object(reader) ? "',' or '}'"
								       : "',' or ']'");
		reader->lexer.at++;
		reader->expect = in_object(reader) ? EXPECT_KEY : EXPECT_VALUE;
		byte = ky_json_lexer_skip_blanks(&reader->lexer);
	}
	reader->lexer.token_line = reader->lexer.line;
	reader->lexer.token_byte = reader->lexer.offset + reader->lexer.at;
	if (reader->expect == EXPECT_FIRST_ITEM && byte == ']')
		return close_bracket(reader);
	if (reader->expect == EXPECT_FIRST_KEY && byte == '}')
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

bool ky_json_reader_is_cut(const struct ky_json_reader *reader)
{
	return reader->lexer.is_cut;
}

uint64_t ky_json_reader_line(const struct ky_json_reader *reader)
{
	return reader->lexer.token_line;
}

uint64_t ky_json_reader_byte(const struct ky_json_reader *reader)
{
	return reader->lexer.token_byte;
}

const char *ky_json_reader_error(const struct ky_json_reader *reader)
{
	return reader->lexer.error;
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
