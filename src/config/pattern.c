/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/pattern.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"
#include "base/error.h"
#include "config/rank.h"

#define NS_PER_SECOND 1000000000
#define NUMBER_MAX    100000u /* %n: looked for one after the other */
#define PROGRAM_MAX   96u     /* bytes of its name in a default name */
#define FIELDS        "%p, %h, %r, %t, %n, %q{NAME} and %%"

/*
 * Text that grows within a fixed buffer; `size` beyond `room` means that it did not fit.
 */
struct text {
	char *data;
	size_t room, size;
};

struct expansion {
	const struct ky_pattern_facts *facts;
	uint32_t number; /* for %n */
	int has_number;  /* there is an %n */
};

static void add(struct text *text, const char *bytes, size_t size)
{
	if (text->size + size < text->room)
		memcpy(text->data + text->size, bytes, size);
	text->size += size;
}

/* Adds what must stay one part of a path. */
static void add_part(struct text *text, const char *part)
{
	int is_leading = 1;

	for (; *part; part++) {
		const unsigned char byte = (unsigned char)*part;

		is_leading = is_leading && byte == '.';
		add(text,
		    byte == '/' || byte < ' ' || byte == 0x7f || is_leading ? "_" : part,
		    1);
	}
}

static void add_host(struct text *text)
{
	char host[HOST_NAME_MAX + 1] = "";

	gethostname(host, sizeof(host) - 1);
	add_part(text, host[0] ? host : "localhost");
}

static void add_time(struct text *text, int64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / NS_PER_SECOND);
	char digits[32];
	struct tm local;

	localtime_r(&seconds, &local);
	strftime(digits, sizeof(digits), "%Y%m%d-%H%M%S", &local);
	add_part(text, digits);
}

static void add_number(struct text *text, int64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRId64, number);
	add_part(text, digits);
}

static int32_t add_rank(struct text *text, struct kymo_error *error)
{
	const char *rank = ky_rank();

	if (!rank)
		return ky_error_set(
			error, KYMO_ERROR_NOT_FOUND,
			"%%r: the environment says no rank (RANK, "
			"OMPI_COMM_WORLD_RANK, SLURM_PROCID, ...): use %%p, or "
			"%%q{NAME} with a variable that has it");
	add_part(text, rank);
	return KYMO_OK;
}

/* The size of "{NAME}" at `at`, which is behind "%q"; 0 if it is none. */
static size_t measure_variable(const char *at)
{
	const char *end = *at == '{' ? strchr(at, '}') : NULL;

	return end && end > at + 1 ? (size_t)(end + 1 - at) : 0;
}

static int32_t add_variable(struct text *text, const char *at, size_t size,
			    struct kymo_error *error)
{
	const char *value;
	char name[256];

	if (size - 2 >= sizeof(name))
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "%%q: the name of the variable is too long");
	memcpy(name, at + 1, size - 2);
	name[size - 2] = '\0';
	value = ky_env_get(name);
	if (!value || !value[0])
		return ky_error_set(error, KYMO_ERROR_NOT_FOUND,
				    value ? "the variable %s of the environment is empty"
					  : "the environment has no variable %s",
				    name);
	add_part(text, value);
	return KYMO_OK;
}

/* The size of the field behind the '%', or 0 if it is none. */
static size_t measure_field(const char *at, struct kymo_error *error)
{
	size_t size;

	if (*at && strchr("%phrtn", *at))
		return 1;
	if (*at != 'q') {
		ky_error_set(error, KYMO_ERROR_INVALID, "\"%%%.1s\" is none of %s", at,
			     FIELDS);
		return 0;
	}
	size = measure_variable(at + 1);
	if (size == 0)
		ky_error_set(error, KYMO_ERROR_INVALID,
			     "%%q wants the name of a variable: %%q{NAME}");
	return size ? size + 1 : 0;
}

/* `at` points behind the '%'; the field is whole. */
static int32_t add_field(struct text *text, const char *at, size_t size,
			 struct expansion *expansion, struct kymo_error *error)
{
	const struct ky_pattern_facts *facts = expansion->facts;

	switch (*at) {
	case 'p':
		add_number(text, facts->pid);
		return KYMO_OK;
	case 'h':
		add_host(text);
		return KYMO_OK;
	case 'r':
		return add_rank(text, error);
	case 't':
		add_time(text, facts->start_realtime_ns);
		return KYMO_OK;
	case 'n':
		expansion->has_number = 1;
		add_number(text, expansion->number);
		return KYMO_OK;
	case 'q':
		return add_variable(text, at + 1, size - 1, error);
	default:
		add(text, "%", 1);
		return KYMO_OK;
	}
}

static int32_t add_pattern(struct text *text, const char *pattern,
			   struct expansion *expansion, struct kymo_error *error)
{
	while (*pattern) {
		size_t size = strcspn(pattern, "%");
		int32_t status;

		add(text, pattern, size);
		pattern += size;
		if (!*pattern)
			break;
		size = measure_field(++pattern, error);
		if (size == 0)
			return KYMO_ERROR_INVALID;
		status = add_field(text, pattern, size, expansion, error);
		if (status != KYMO_OK)
			return status;
		pattern += size;
	}
	return KYMO_OK;
}

static void add_default(struct text *text, const struct ky_pattern_facts *facts)
{
	const char *slash = strrchr(facts->program, '/');
	const char *name = slash ? slash + 1 : facts->program;
	const char *rank = ky_rank();
	char program[PROGRAM_MAX + 1];

	snprintf(program, sizeof(program), "%s", name[0] ? name : "program");
	add(text, "kymo-", 5);
	add_part(text, program);
	add(text, "-", 1);
	add_host(text);
	add(text, "-", 1);
	add_number(text, facts->pid);
	if (rank) {
		add(text, "-r", 2);
		add_part(text, rank);
	}
	add(text, "-", 1);
	add_number(text, facts->start_realtime_ns);
	if (facts->sequence > 0) {
		add(text, "-", 1);
		add_number(text, facts->sequence);
	}
	add(text, ".json.gz", 8);
}

static int32_t end_text(const struct text *text, struct kymo_error *error)
{
	if (text->size >= text->room)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "the output's name is too long");
	text->data[text->size] = '\0';
	return KYMO_OK;
}

/* Claimed first: who had it may put the file there and let go in between. */
static int is_taken(const struct ky_pattern_facts *facts, const char *name)
{
	const char *scheme = strstr(name, "://");
	struct stat found;

	if (facts->claim && !facts->claim(facts->owner, name))
		return 1;
	return lstat(scheme ? scheme + strlen("://") : name, &found) == 0;
}

int32_t ky_pattern_check(const char *pattern, struct kymo_error *error)
{
	if (!pattern[0])
		return ky_error_set(error, KYMO_ERROR_INVALID, "the output has no name");
	while ((pattern = strchr(pattern, '%'))) {
		size_t size = measure_field(++pattern, error);

		if (size == 0)
			return KYMO_ERROR_INVALID;
		pattern += size;
	}
	return KYMO_OK;
}

int32_t ky_pattern_expand(const char *pattern, const struct ky_pattern_facts *facts,
			  char *out, size_t size, struct kymo_error *error)
{
	struct expansion expansion = {.facts = facts};
	int32_t status = pattern ? ky_pattern_check(pattern, error) : KYMO_OK;

	do {
		struct text text = {.data = out, .room = size};

		if (++expansion.number > NUMBER_MAX)
			status = ky_error_set(error, KYMO_ERROR_EXISTS,
					      "%%n: there are files of all numbers up to "
					      "%u",
					      NUMBER_MAX);
		else if (status == KYMO_OK && pattern)
			status = add_pattern(&text, pattern, &expansion, error);
		else if (status == KYMO_OK)
			add_default(&text, facts);
		if (status == KYMO_OK)
			status = end_text(&text, error);
	} while (status == KYMO_OK && expansion.has_number && is_taken(facts, out));
	if (status != KYMO_OK && pattern)
		ky_error_wrap(error, "output \"%s\"", pattern);
	return status;
}
