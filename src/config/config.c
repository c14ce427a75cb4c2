/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts the sources of a configuration together. Everything goes into one new object,
 * which is dropped when any of it is bad: what others see is whole, or is not there.
 */
#include "config/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/error.h"
#include "base/options.h"
#include "base/str.h"
#include "config/file.h"
#include "config/text.h"
#include "record/layout.h"

#define FILES_MAX        2
#define WARNINGS_MAX     100 /* a file that is something else has no end of them */
#define MIB_SHIFT        20
#define KINETO_VARIABLE  "KINETO_CONFIG"
#define KINETO_FILE      "/etc/libkineto.conf"
#define OWN_VARIABLE     "KYMO_CONFIG"
#define OWN_FILE         "/etc/kymo.conf"
#define ENVIRONMENT_NAME "environment"
#define OPTIONS_NAME     "options"

struct kymo_config {
	struct ky_value values[KY_KEY_MAX]; /* by index of the key */
	struct ky_config_file files[FILES_MAX];
	size_t file_count;
	char *warnings[WARNINGS_MAX];
	size_t warning_count;
	char *log_file; /* libkineto's key as a pattern, or NULL */
};

static int32_t warn(struct kymo_config *config, struct kymo_error *error,
		    const char *format, ...) KY_PRINTF(3, 4);

static int32_t warn(struct kymo_config *config, struct kymo_error *error,
		    const char *format, ...)
{
	va_list arguments;
	int size;

	if (config->warning_count == WARNINGS_MAX)
		return KYMO_OK;
	va_start(arguments, format);
	size = vasprintf(&config->warnings[config->warning_count], format, arguments);
	va_end(arguments);
	if (size < 0) {
		config->warnings[config->warning_count] = NULL;
		return ky_error_no_memory(error);
	}
	config->warning_count++;
	return KYMO_OK;
}

/* A bad value is one of the configuration, whatever was wrong with it. */
static int32_t refuse_value(struct kymo_str name, struct kymo_str text,
			    struct kymo_error *error)
{
	char quoted[2][KY_QUOTE_SIZE];

	ky_error_wrap(error, "%s \"%s\"", ky_quote(quoted[0], name),
		      ky_quote(quoted[1], text));
	if (error)
		error->status = KYMO_ERROR_CONFIG;
	return KYMO_ERROR_CONFIG;
}

/* ---- Texts ---- */

static int32_t warn_unknown(struct kymo_config *config, const char *origin,
			    struct kymo_str name, struct kymo_error *error)
{
	struct ky_nearest nearest = {.word = name};
	char quoted[KY_QUOTE_SIZE];
	const char *meant;

	ky_keys_offer(&nearest);
	meant = ky_nearest_found(&nearest);
	return warn(config, error, "%s: no key \"%s\"%s%s%s", origin,
		    ky_quote(quoted, name), meant ? "; did you mean " : "",
		    meant ? meant : "", meant ? "?" : "");
}

/* `before`: how many bytes of `origin` name the text, and not the line. */
static int32_t apply_entry(struct kymo_config *config, const struct ky_entry *entry,
			   const char *origin, size_t before, struct kymo_error *error)
{
	uint64_t factor;
	size_t index;
	const struct ky_key *key = ky_key_find(entry->key, &index, &factor);
	struct ky_value *value;
	int32_t status = KYMO_OK;

	if (!key)
		return warn_unknown(config, origin, entry->key, error);
	value = &config->values[index];
	/* Of this text, that is: that one file overrides another is as it should be. */
	if (value->origin && strncmp(value->origin, origin, before) == 0)
		status = warn(config, error, "%s: %s was set before, at %s: this holds",
			      origin, key->name, value->origin);
	if (status == KYMO_OK)
		status = ky_value_read(key, entry->value, factor, origin, value, error);
	if (status < 0 && status != KYMO_ERROR_NO_MEMORY)
		status = refuse_value(entry->key, entry->value, error);
	return status;
}

static int32_t apply_text(struct kymo_config *config, struct kymo_str text,
			  const char *name, struct kymo_error *error)
{
	const size_t room = strlen(name) + 16;
	char *origin = malloc(room);
	struct ky_entry entry;
	int32_t status = origin ? KYMO_OK : ky_error_no_memory(error);
	uint32_t line = 1;
	size_t at = 0;

	while (status == KYMO_OK) {
		status = ky_text_next(text, &at, &line, &entry, error);
		if (status == KYMO_END)
			break;
		snprintf(origin, room, "%s:%u", name,
			 status == KYMO_OK ? entry.line : line);
		if (status == KYMO_OK) {
			status = apply_entry(config, &entry, origin, strlen(name) + 1,
					     error);
			line = status == KYMO_OK ? line : entry.line;
		}
	}
	if (status < 0 && status != KYMO_ERROR_NO_MEMORY)
		ky_error_wrap(error, "%s:%u", name, line);
	free(origin);
	return status == KYMO_END ? KYMO_OK : status;
}

/* ---- Files and environment ---- */

/* How much a file is missed. */
enum need {
	MAY_BE_THERE,
	SHOULD_BE_THERE, /* a warning, as libkineto goes on without it */
	MUST_BE_THERE,
};

static int32_t apply_file(struct kymo_config *config, const char *path, enum need need,
			  struct kymo_error *error)
{
	struct kymo_str text;
	struct kymo_error reason = {0};
	int32_t status = ky_config_file_read(path, &config->files[config->file_count++],
					     &text, &reason);

	if (status == KYMO_OK) {
		status = apply_text(config, text, path, error);
		free((void *)(uintptr_t)text.data);
		return status;
	}
	if (status == KYMO_ERROR_NOT_FOUND && need == MAY_BE_THERE)
		return KYMO_OK;
	if (need != MUST_BE_THERE && status != KYMO_ERROR_CONFIG &&
	    status != KYMO_ERROR_NO_MEMORY)
		return warn(config, error, "%s%s: it is passed over",
			    need == SHOULD_BE_THERE ? KINETO_VARIABLE ": " : "",
			    reason.message);
	return ky_error_set(error, status, "%s", reason.message);
}

/*
 * The file that the variable names, "" being none, else the one of the system. Where
 * nothing but that one MAY_BE_THERE, the variable is not looked at.
 */
static int32_t apply_base_file(struct kymo_config *config, const char *variable,
			       const char *path, enum need need, struct kymo_error *error)
{
	const char *named = need == MAY_BE_THERE ? NULL : ky_env_get(variable);
	int32_t status;

	if (named && !named[0])
		return KYMO_OK;
	if (!named)
		return apply_file(config, path, MAY_BE_THERE, error);
	status = apply_file(config, named, need, error);
	if (status != KYMO_OK)
		ky_error_wrap(error, "%s", variable);
	return status;
}

/* Keys of files alone: libkineto does not look for them there, but people set them. */
static int32_t warn_not_read(struct kymo_config *config, const struct ky_key *key,
			     struct kymo_error *error)
{
	const char *text = key->variable || key->unused ? NULL : ky_env_get(key->name);

	return text && text[0]
		       ? warn(config, error,
			      ENVIRONMENT_NAME ": %s is not read from here: it is a key "
					       "of the files that " OWN_VARIABLE
					       " and " KINETO_VARIABLE " name",
			      key->name)
		       : KYMO_OK;
}

static int32_t apply_environment(struct kymo_config *config, struct kymo_error *error)
{
	const struct ky_key *key;
	int32_t status = KYMO_OK;

	for (size_t i = 0; (key = ky_key_at(i)) && status == KYMO_OK; i++) {
		const struct kymo_str name = {key->variable,
					      key->variable ? strlen(key->variable) : 0};
		struct kymo_str text = {name.data ? ky_env_get(name.data) : NULL, 0};

		status = warn_not_read(config, key, error);
		/* Of what has to say something, "" is as good as not set. */
		if (status != KYMO_OK || !text.data ||
		    (!text.data[0] && key->kind != KY_KIND_TEXT))
			continue;
		text.size = strlen(text.data);
		status = ky_value_read(key, text, 1, ENVIRONMENT_NAME, &config->values[i],
				       error);
		if (status < 0 && status != KYMO_ERROR_NO_MEMORY)
			status = refuse_value(name, text, error);
		if (status != KYMO_OK)
			ky_error_wrap(error, ENVIRONMENT_NAME);
	}
	return status;
}

static int32_t apply_all(struct kymo_config *config,
			 const struct kymo_config_options *options,
			 struct kymo_error *error)
{
	const int has_variables = !(options->flags & KYMO_CONFIG_NO_ENVIRONMENT);
	int32_t status = KYMO_OK;

	if (options->file) {
		status = apply_file(config, options->file, MUST_BE_THERE, error);
	} else if (!(options->flags & KYMO_CONFIG_NO_FILES)) {
		status = apply_base_file(config, KINETO_VARIABLE, KINETO_FILE,
					 has_variables ? SHOULD_BE_THERE : MAY_BE_THERE,
					 error);
		if (status == KYMO_OK)
			status = apply_base_file(
				config, OWN_VARIABLE, OWN_FILE,
				has_variables ? MUST_BE_THERE : MAY_BE_THERE, error);
	}
	if (status == KYMO_OK && has_variables)
		status = apply_environment(config, error);
	if (status == KYMO_OK && options->text.size > 0)
		status = apply_text(config, options->text, OPTIONS_NAME, error);
	return status;
}

/*
 * libkineto puts "_PID" in front of the first ".pt.trace.json" or ".json"; we look for
 * them in the file's name only, not in those of its folders. Nothing in it is a field.
 */
static int32_t make_log_file(struct kymo_config *config, struct kymo_error *error)
{
	static const char *const suffixes[] = {".pt.trace.json", ".json"};
	const char *path = config->values[KY_KEY_LOG_FILE].text;
	const char *name, *at = NULL;
	char *to;

	if (!path || !path[0])
		return KYMO_OK;
	name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	for (size_t i = 0; i < 2 && !at; i++)
		at = strstr(name, suffixes[i]);
	to = config->log_file = malloc(2 * strlen(path) + sizeof("_%p"));
	if (!to)
		return ky_error_no_memory(error);
	for (; *path; path++) {
		if (path == at)
			to = stpcpy(to, "_%p");
		if (*path == '%')
			*to++ = '%';
		*to++ = *path;
	}
	*to = '\0';
	return KYMO_OK;
}

void kymo_config_destroy(struct kymo_config *config)
{
	if (!config)
		return;
	for (size_t i = 0; i < KY_KEY_MAX; i++)
		ky_value_fini(&config->values[i]);
	for (size_t i = 0; i < config->file_count; i++)
		ky_config_file_fini(&config->files[i]);
	for (size_t i = 0; i < config->warning_count; i++)
		free(config->warnings[i]);
	free(config->log_file);
	free(config);
}

int32_t kymo_config_create(struct kymo_config **out,
			   const struct kymo_config_options *options,
			   struct kymo_error *error)
{
	struct kymo_config_options known;
	struct kymo_config *config;
	int32_t status;

	if (!out)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "no place for the configuration");
	*out = NULL;
	status = ky_options_read(options, sizeof(known),
				 offsetof(struct kymo_config_options, file), &known,
				 error);
	if (status == KYMO_OK &&
	    known.flags & ~(KYMO_CONFIG_NO_FILES | KYMO_CONFIG_NO_ENVIRONMENT))
		status = ky_error_set(
			error, KYMO_ERROR_UNSUPPORTED,
			"the options have a flag (%#x) that Kymo %s does not "
			"know: a newer library is needed",
			known.flags, KYMO_VERSION_STRING);
	if (status != KYMO_OK)
		return status;
	config = calloc(1, sizeof(*config));
	if (!config)
		return ky_error_no_memory(error);
	status = apply_all(config, &known, error);
	if (status == KYMO_OK)
		status = make_log_file(config, error);
	if (status == KYMO_OK)
		*out = config;
	else
		kymo_config_destroy(config);
	return status;
}

int32_t kymo_config_at(const struct kymo_config *config, size_t index,
		       struct kymo_config_value *out)
{
	const struct ky_key *key = ky_key_at(index);
	struct kymo_config_value whole = {.struct_size = sizeof(whole)};
	const struct ky_value *value;

	if (!config || ky_result_check(out, NULL) != KYMO_OK || !out)
		return KYMO_ERROR_INVALID;
	if (!key)
		return KYMO_END;
	value = &config->values[index];
	whole.is_set = value->text != NULL;
	whole.key = key->name;
	whole.value = value->text ? value->text : key->fallback ? key->fallback : "";
	whole.unit = key->unit ? key->unit : "";
	whole.origin = value->text ? value->origin : "default";
	whole.use = key->use;
	whole.unused = key->unused;
	ky_result_write(out, &whole, sizeof(whole));
	return KYMO_OK;
}

const char *kymo_config_warning(const struct kymo_config *config, size_t index)
{
	return config && index < config->warning_count ? config->warnings[index] : NULL;
}

int32_t kymo_config_has_changed(const struct kymo_config *config)
{
	for (size_t i = 0; config && i < config->file_count; i++)
		if (ky_config_file_has_changed(&config->files[i]))
			return 1;
	return 0;
}

const struct ky_value *ky_config_value(const struct kymo_config *config,
				       enum ky_key_id id)
{
	return &config->values[id];
}

uint64_t ky_config_number(const struct kymo_config *config, enum ky_key_id id)
{
	return config->values[id].number;
}

uint64_t ky_config_effective(const struct kymo_config *config, enum ky_key_id id)
{
	const struct ky_value *value = &config->values[id];

	return value->text ? value->number : strtoull(ky_key_at(id)->fallback, NULL, 10);
}

const char *ky_config_output(const struct kymo_config *config)
{
	const char *own = config->values[KY_KEY_OUTPUT].text;

	return own ? own : config->log_file;
}

uint64_t ky_config_buffer_size(const struct kymo_config *config)
{
	const uint64_t own = config->values[KY_KEY_BUFFER_SIZE].number;
	const struct ky_value *other = &config->values[KY_KEY_DEVICE_BUFFER_MB];
	const uint64_t size = other->number << MIB_SHIFT;

	if (own || !other->text)
		return own;
	/* What libkineto takes for device buffers may be less than a capture needs. */
	if (size < KY_BUDGET_MIN)
		return KY_BUDGET_MIN;
	return size < KY_BUDGET_MAX ? size : KY_BUDGET_MAX;
}

int32_t ky_config_blame(int32_t status, const char *origin, enum ky_key_id id,
			struct kymo_error *error)
{
	if (status != KYMO_OK && origin)
		ky_error_wrap(error, "%s: %s", origin, ky_key_at(id)->name);
	return status;
}
