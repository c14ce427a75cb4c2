/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugin/option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"

/* "a, b" of the options' names, for people. */
static void list_options(const struct kymo_source_desc *source, char *out, size_t size)
{
	out[0] = '\0';
	for (size_t i = 0; source->options && source->options[i]; i++) {
		size_t used = strlen(out);

		snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "",
			 source->options[i]->name);
	}
}

int ky_option_is_value(const char *text, uint32_t type)
{
	char *end = NULL;

	errno = 0;
	if (type == KYMO_VALUE_DOUBLE)
		strtod(text, &end);
	else if (type == KYMO_VALUE_UINT64 && text[0] != '-')
		strtoull(text, &end, 0);
	else if (type == KYMO_VALUE_INT64)
		strtoll(text, &end, 0);
	else
		return type != KYMO_VALUE_UINT64;
	return errno == 0 && end != text && *end == '\0';
}

/* The program is told its options in a list of such items. */
static int32_t refuse_comma(const struct kymo_source_desc *source, const char *option,
			    struct kymo_error *error)
{
	return ky_error_set(
		error, KYMO_ERROR_CONFIG,
		"source \"%s\": \"%s\" has a ',', which no value of an option "
		"can have",
		source->name, option);
}

int32_t ky_option_check(const struct kymo_source_desc *source, const char *option,
			struct kymo_error *error)
{
	const char *equals = strchr(option, '=');
	size_t size = equals ? (size_t)(equals - option) : strlen(option);
	struct ky_nearest nearest = {.word = {option, size}};
	char names[256], meant[KY_NEAREST_SAID];

	for (size_t i = 0; source->options && source->options[i]; i++) {
		const struct kymo_option_desc *known = source->options[i];

		ky_nearest_offer(&nearest, known->name);
		if (strlen(known->name) != size || memcmp(known->name, option, size) != 0)
			continue;
		if (equals && strchr(equals, ','))
			return refuse_comma(source, option, error);
		if (equals && ky_option_is_value(equals + 1, known->value_type))
			return KYMO_OK;
		return ky_error_set(error, KYMO_ERROR_CONFIG,
				    "option \"%s\" of source \"%s\" needs a %s: "
				    "%s:%s=VALUE",
				    known->name, source->name,
				    known->value_type == KYMO_VALUE_STRING ? "value"
									   : "number",
				    source->name, known->name);
	}
	list_options(source, names, sizeof(names));
	ky_nearest_say(&nearest, meant, sizeof(meant));
	return ky_error_set(error, KYMO_ERROR_CONFIG,
			    "source \"%s\" has no option \"%.*s\"%s; it has %s",
			    source->name, (int)size, option, meant,
			    names[0] ? names : "none");
}
