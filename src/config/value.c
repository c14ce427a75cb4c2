/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "config/pattern.h"
#include "record/type_list.h"

/* Units by name in lower case, longest first where one begins another. */
struct unit {
	const char *name;
	uint64_t factor;
};

#define SIZE_UNITS(letter, shift)                                                    \
	{letter "ib", UINT64_C(1) << (shift)}, {letter "i", UINT64_C(1) << (shift)}, \
		{letter "b", UINT64_C(1) << (shift)},                                \
	{                                                                            \
		letter, UINT64_C(1) << (shift)                                       \
	}

static const struct unit size_units[] = {
	{"", 1},
	{"b", 1},
	SIZE_UNITS("k", 10),
	SIZE_UNITS("m", 20),
	SIZE_UNITS("g", 30),
	SIZE_UNITS("t", 40),
	{NULL, 0},
};
/* As the options of the command have them. */
static const struct unit duration_units[] = {
	{"", 1000000000},
	{"ns", 1},
	{"us", 1000},
	{"ms", 1000000},
	{"s", 1000000000},
	{"m", UINT64_C(60) * 1000000000},
	{"min", UINT64_C(60) * 1000000000},
	{"h", UINT64_C(3600) * 1000000000},
	{NULL, 0},
};
static const struct unit no_units[] = {{"", 1}, {NULL, 0}};

static struct kymo_str text_of(const char *text)
{
	return (struct kymo_str){text, strlen(text)};
}

static int32_t read_bool(struct kymo_str text, uint64_t *out, struct kymo_error *error)
{
	static const char *const words[2][5] = {{"n", "no", "f", "false", "0"},
						{"y", "yes", "t", "true", "1"}};

	for (uint64_t value = 0; value < 2; value++) {
		for (size_t i = 0; i < 5; i++) {
			if (!ky_str_is_any_case(text, words[value][i]))
				continue;
			*out = value;
			return KYMO_OK;
		}
	}
	return ky_error_set(error, KYMO_ERROR_CONFIG, "true or false is wanted");
}

static int32_t read_choice(const char *choices, struct kymo_str text, uint64_t *out,
			   struct kymo_error *error)
{
	const char *at = choices;

	for (*out = 1; *at; ++*out) {
		size_t size = strcspn(at, "|");

		if (size == text.size && memcmp(at, text.data, size) == 0)
			return KYMO_OK;
		at += size + (at[size] == '|');
	}
	return ky_error_set(error, KYMO_ERROR_CONFIG, "one of %s is wanted", choices);
}

/* Digits at the beginning; how many there are, 0 also if they are too much. */
static size_t read_digits(struct kymo_str text, uint64_t *out, int *is_too_much)
{
	size_t size = 0;

	*out = 0;
	*is_too_much = 0;
	for (; size < text.size && text.data[size] >= '0' && text.data[size] <= '9';
	     size++) {
		const uint64_t digit = (uint64_t)(text.data[size] - '0');

		*is_too_much |= *out > (UINT64_MAX - digit) / 10;
		*out = *out * 10 + digit;
	}
	return size;
}

/* A point and digits as parts of `unit`: those beyond the ninth count nothing. */
static uint64_t fraction_of(struct kymo_str text, uint64_t unit)
{
	uint64_t sum = 0;

	for (size_t i = 1; i < text.size; i++) {
		unit /= 10;
		sum += unit * (uint64_t)(text.data[i] - '0');
	}
	return sum;
}

static size_t fraction_size(struct kymo_str text)
{
	size_t size = 1;

	if (text.size == 0 || text.data[0] != '.')
		return 0;
	while (size < text.size && text.data[size] >= '0' && text.data[size] <= '9')
		size++;
	return size;
}

/* A limit as people write it: in the largest unit that it is a whole number of. */
static const char *limit_text(const struct ky_key *key, uint64_t limit, char out[32])
{
	static const struct unit sizes[] = {{" TiB", UINT64_C(1) << 40},
					    {" GiB", 1 << 30},
					    {" MiB", 1 << 20},
					    {" kiB", 1 << 10},
					    {"", 1}};
	static const struct unit times[] = {{" h", UINT64_C(3600) * 1000000000},
					    {" s", 1000000000},
					    {" ms", 1000000},
					    {" us", 1000},
					    {" ns", 1}};
	const struct unit *unit = key->kind == KY_KIND_SIZE ? sizes : times;

	if (limit == 0)
		return "0";
	while (limit % unit->factor != 0)
		unit++;
	snprintf(out, 32, "%" PRIu64 "%s", limit / unit->factor, unit->name);
	return out;
}

static int32_t refuse_range(const struct ky_key *key, uint64_t factor,
			    struct kymo_error *error)
{
	char least[32], most[32];

	/* Numbers without a unit are told in the key's own. */
	if (key->kind == KY_KIND_INTEGER)
		return ky_error_set(error, KYMO_ERROR_CONFIG,
				    "from %" PRIu64 " to %" PRIu64 " is allowed",
				    (key->least + factor - 1) / factor,
				    key->most / factor);
	return ky_error_set(error, KYMO_ERROR_CONFIG, "from %s to %s is allowed",
			    limit_text(key, key->least, least),
			    limit_text(key, key->most, most));
}

static int32_t read_number(const struct ky_key *key, struct kymo_str text,
			   uint64_t factor, uint64_t *out, struct kymo_error *error)
{
	const struct unit *unit = key->kind == KY_KIND_SIZE       ? size_units
				  : key->kind == KY_KIND_DURATION ? duration_units
								  : no_units;
	const char *wanted = key->kind == KY_KIND_SIZE ? "a size, as in 64MiB or 1G,"
			     : key->kind == KY_KIND_DURATION
				     ? "a time, as in 500ms, 1.5s or 10,"
				     : "a number, of digits only,";
	struct kymo_str rest, fraction;
	uint64_t part;
	int is_too_much;
	size_t size = read_digits(text, out, &is_too_much);

	rest = (struct kymo_str){text.data + size, text.size - size};
	fraction = (struct kymo_str){
		rest.data, key->kind == KY_KIND_DURATION ? fraction_size(rest) : 0};
	rest = (struct kymo_str){rest.data + fraction.size, rest.size - fraction.size};
	while (unit->name && !ky_str_is_any_case(rest, unit->name))
		unit++;
	if (size == 0 || !unit->name)
		return ky_error_set(error, KYMO_ERROR_CONFIG, "%s is wanted", wanted);
	factor *= unit->factor;
	part = fraction_of(fraction, factor);
	if (is_too_much || *out > (key->most - part) / factor ||
	    *out * factor + part < key->least)
		return refuse_range(key, factor, error);
	*out = *out * factor + part;
	return KYMO_OK;
}

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

/* The parts between commas, blanks around them left out, and those that are empty. */
static int32_t read_list(struct kymo_str text, char ***out, struct kymo_error *error)
{
	size_t count = 0, room = 2;
	char **list;

	for (size_t i = 0; i < text.size; i++)
		room += text.data[i] == ',';
	list = calloc(room, sizeof(*list));
	if (!list)
		return ky_error_no_memory(error);
	for (size_t at = 0; at < text.size; at++) {
		size_t end = at, begin = at;

		while (end < text.size && text.data[end] != ',')
			end++;
		at = end;
		while (begin < end && strchr(" \t", text.data[begin]))
			begin++;
		while (end > begin && strchr(" \t", text.data[end - 1]))
			end--;
		if (begin == end)
			continue;
		list[count] = strndup(text.data + begin, end - begin);
		if (!list[count++]) {
			free_list(list);
			return ky_error_no_memory(error);
		}
	}
	if (count == 0) {
		free(list);
		list = NULL;
	}
	*out = list;
	return KYMO_OK;
}

/* `value->text`: numbers in the key's unit, other things as they were given. */
static int32_t keep_text(const struct ky_key *key, struct kymo_str text,
			 struct ky_value *value, struct kymo_error *error)
{
	char digits[24];

	switch (key->kind) {
	case KY_KIND_BOOL:
		text = text_of(value->number ? "true" : "false");
		break;
	case KY_KIND_INTEGER:
	case KY_KIND_SIZE:
	case KY_KIND_DURATION:
		snprintf(digits, sizeof(digits), "%" PRIu64, value->number);
		text = text_of(digits);
		break;
	default:
		break;
	}
	value->text = strndup(text.size ? text.data : "", text.size);
	return value->text ? KYMO_OK : ky_error_no_memory(error);
}

static int32_t read_any(const struct ky_key *key, struct kymo_str text, uint64_t factor,
			struct ky_value *out, struct kymo_error *error)
{
	int32_t status = KYMO_OK;

	switch (key->kind) {
	case KY_KIND_TEXT:
	case KY_KIND_PATTERN: /* checked once it is kept, and so terminated */
	case KY_KIND_TYPES:
		break;
	case KY_KIND_LIST:
		status = read_list(text, &out->list, error);
		break;
	case KY_KIND_BOOL:
		status = read_bool(text, &out->number, error);
		break;
	case KY_KIND_CHOICE:
		status = read_choice(key->choices, text, &out->number, error);
		break;
	case KY_KIND_INTEGER:
	case KY_KIND_SIZE:
	case KY_KIND_DURATION:
		status = read_number(key, text, factor, &out->number, error);
		break;
	}
	if (status == KYMO_OK)
		status = keep_text(key, text, out, error);
	if (status == KYMO_OK && key->kind == KY_KIND_PATTERN)
		status = ky_pattern_check(out->text, error);
	if (status == KYMO_OK && key->kind == KY_KIND_TYPES)
		status = ky_type_list_check(out->text, error);
	return status;
}

void ky_value_fini(struct ky_value *value)
{
	free(value->text);
	free(value->origin);
	free_list(value->list);
	*value = (struct ky_value){0};
}

int32_t ky_value_read(const struct ky_key *key, struct kymo_str text, uint64_t factor,
		      const char *origin, struct ky_value *out, struct kymo_error *error)
{
	struct ky_value value = {0};
	int32_t status = read_any(key, text, factor, &value, error);

	if (status == KYMO_OK) {
		value.origin = strdup(origin);
		if (!value.origin)
			status = ky_error_no_memory(error);
	}
	if (status != KYMO_OK) {
		ky_value_fini(&value);
		return status;
	}
	ky_value_fini(out);
	*out = value;
	return KYMO_OK;
}
