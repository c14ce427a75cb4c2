/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "control/trial.h"

#define LIMIT_NS 5000000000u

struct attempt {
	const struct kymo_source_desc *source;
	ky_option_fn text;
	void *context;
	int32_t status;
	struct kymo_error error;
};

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

static int is_number(const char *text, uint32_t type)
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
		if (equals && is_number(equals + 1, known->value_type))
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

/* ---- Asking the source, in a process that is thrown away ---- */

/* `self` is the attempt: the source only hands it back. */
static int32_t give_option(struct kymo_source_host *self, const char *name,
			   struct kymo_str *out)
{
	const struct attempt *attempt = (const void *)self;

	*out = kymo_text(attempt->text(attempt->context, name));
	return KYMO_OK;
}

static void ask(void *context)
{
	static const struct kymo_host host = {
		.struct_size = offsetof(struct kymo_host, option) + sizeof(host.option),
		.abi_major = KYMO_PLUGIN_ABI_MAJOR,
		.abi_minor = KYMO_PLUGIN_ABI_MINOR,
		.option = give_option,
	};
	struct attempt *attempt = context;

	attempt->status = attempt->source->ops->check(&host, context, &attempt->error);
}

/* What came back is anything. */
static const char *reason_of(struct attempt *attempt)
{
	char *message = attempt->error.message;

	message[sizeof(attempt->error.message) - 1] = '\0';
	return message[0] ? message : kymo_status_text(attempt->status);
}

int32_t ky_option_try(const struct kymo_source_desc *source, ky_option_fn text,
		      void *context, struct kymo_error *error)
{
	struct attempt attempt = {.source = source, .text = text, .context = context};
	struct ky_trial trial;
	char end[96];
	int32_t status;

	if (!KYMO_HAS_FUNCTION(source->ops, check))
		return KYMO_OK;
	status = ky_trial_run(ask, &attempt, sizeof(attempt), LIMIT_NS, &trial, error);
	if (status)
		return status;
	if (trial.end != KY_TRIAL_RETURNED) {
		ky_trial_describe(&trial, end, sizeof(end));
		return ky_error_set(error, KYMO_ERROR_PLUGIN,
				    "source \"%s\": it %s when it looked at its options",
				    source->name, end);
	}
	if (attempt.status >= 0)
		return KYMO_OK;
	return ky_error_set(error, KYMO_ERROR_CONFIG, "source \"%s\": %s", source->name,
			    reason_of(&attempt));
}
