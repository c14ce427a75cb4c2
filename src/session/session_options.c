/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/session_options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <kymo/client.h>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "config/config.h"
#include "session/embedded.h"
#include "session/range.h"
#include "session/session.h"
#include "session/sinks.h"

#define SIZE_LEAST offsetof(struct kymo_session_options, buffer_size)

static uint64_t client_flags(const struct kymo_config *config)
{
	static const struct {
		enum ky_key_id key;
		uint64_t flag;
	} rows[] = {
		{KY_KEY_INPUT_SHAPES, KYMO_CLIENT_INPUT_SHAPES},
		{KY_KEY_CLIENT_MEMORY, KYMO_CLIENT_MEMORY},
		{KY_KEY_STACK, KYMO_CLIENT_STACK},
		{KY_KEY_FLOPS, KYMO_CLIENT_FLOPS},
		{KY_KEY_MODULES, KYMO_CLIENT_MODULES},
	};
	uint64_t flags = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (ky_config_number(config, rows[i].key))
			flags |= rows[i].flag;
	return flags;
}

/* Members that are zero become what the configuration says. */
static void configure(struct kymo_session_options *options,
		      const struct kymo_config *config)
{
	const uint64_t overflow = ky_config_number(config, KY_KEY_OVERFLOW);

	if (options->overflow == 0 && overflow != KYMO_OVERFLOW_STREAM)
		options->overflow = (uint32_t)overflow;
	if (options->buffer_size == 0)
		options->buffer_size = ky_config_buffer_size(config);
	if (options->client_flags == 0)
		options->client_flags = client_flags(config);
	if (!options->sources)
		options->sources =
			(const char *const *)ky_config_value(config, KY_KEY_SOURCES)
				->list;
	if (!options->types)
		options->types = ky_config_value(config, KY_KEY_ACTIVITY_TYPES)->text;
}

/* Of a configuration that nobody has in hand, to ask it. */
static void tell_warnings(const struct kymo_config *config)
{
	const char *warning;

	for (size_t i = 0; (warning = kymo_config_warning(config, i)); i++)
		ky_log(KYMO_SEVERITY_WARNING, "%s", warning);
}

int32_t ky_session_options_read(const struct kymo_session_options *options,
				struct kymo_session_options *out,
				struct kymo_config **own, struct kymo_error *error)
{
	const struct kymo_config *config;
	int32_t status = ky_options_read(options, sizeof(*out), SIZE_LEAST, out, error);

	*own = NULL;
	if (status == KYMO_OK && !out->config)
		status = kymo_config_create(own, NULL, error);
	if (status != KYMO_OK)
		return status;
	if (*own)
		tell_warnings(*own);
	config = out->config ? out->config : *own;
	configure(out, config);
	if (out->overflow == 0)
		out->overflow = KYMO_OVERFLOW_DROP;
	if (out->overflow != KYMO_OVERFLOW_DROP &&
	    out->overflow != KYMO_OVERFLOW_OVERWRITE)
		return ky_error_set(error, KYMO_ERROR_UNSUPPORTED,
				    "overflow %u is not one that a session of Kymo %s "
				    "knows",
				    out->overflow, KYMO_VERSION_STRING);
	status = ky_budget_check(out->buffer_size, error);
	if (status == KYMO_OK && out->capture_range)
		status = ky_range_check(out->capture_range, error);
	if (status == KYMO_OK && out->capture_range && out->start_paused)
		status = ky_error_set(error, KYMO_ERROR_INVALID,
				      "start_paused, with a capture range that decides "
				      "what is recorded");
	if (status == KYMO_OK)
		status =
			ky_sinks_load(ky_config_value(config, KY_KEY_SINKS)->list, error);
	return status;
}

void ky_session_options_free(struct kymo_session *session)
{
	for (size_t i = 0; session->sources && session->sources[i]; i++)
		free(session->sources[i]);
	free(session->sources);
	free(session->types);
	free(session->range);
	free(session->sources_origin);
	free(session->types_origin);
}

/* NULL stays NULL. */
static int32_t copy_text(const char *from, char **out, struct kymo_error *error)
{
	*out = from ? strdup(from) : NULL;
	if (from && !*out)
		return ky_error_no_memory(error);
	return KYMO_OK;
}

/* A list that ends with NULL, or NULL. */
static int32_t copy_list(const char *const *from, char ***out, struct kymo_error *error)
{
	size_t count = 0;

	if (!from)
		return KYMO_OK;
	while (from[count])
		count++;
	*out = calloc(count + 1, sizeof(**out));
	if (!*out)
		return ky_error_no_memory(error);
	for (size_t i = 0; i < count; i++) {
		(*out)[i] = strdup(from[i]);
		if (!(*out)[i])
			return ky_error_no_memory(error);
	}
	return KYMO_OK;
}

int32_t ky_session_options_keep(struct kymo_session *session,
				const struct kymo_session_options *known,
				const struct kymo_config *own, struct kymo_error *error)
{
	const struct kymo_config *config = known->config ? known->config : own;
	const struct ky_value *sources = ky_config_value(config, KY_KEY_SOURCES);
	const struct ky_value *types = ky_config_value(config, KY_KEY_ACTIVITY_TYPES);
	int32_t status = copy_list(known->sources, &session->sources, error);

	session->overflow = known->overflow;
	session->buffer_size = known->buffer_size;
	session->client_flags = known->client_flags;
	session->start_paused = known->start_paused;
	if (status == KYMO_OK)
		status = copy_text(known->types, &session->types, error);
	if (status == KYMO_OK)
		status = copy_text(known->capture_range, &session->range, error);
	if (status == KYMO_OK && known->sources == (const char *const *)sources->list)
		status = copy_text(sources->origin, &session->sources_origin, error);
	if (status == KYMO_OK && known->types == types->text)
		status = copy_text(types->origin, &session->types_origin, error);
	if (status == KYMO_OK)
		status = ky_stages_open(&session->stages, config, error);
	return status;
}
