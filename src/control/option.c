/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/option.h"

#include "base/error.h"
#include "control/trial.h"

#define LIMIT_NS 5000000000u

struct attempt {
	const struct kymo_source_desc *source;
	ky_option_fn text;
	void *context;
	int32_t status;
	struct kymo_error error;
};

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
