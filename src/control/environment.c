/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/environment.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/place.h"
#include "control/protocol.h"

#define DEFAULT_SEPARATOR ":"
#define LOADER_VARIABLE   "LD_PRELOAD"
#define LOADER_SEPARATORS ": " /* it takes either, whatever the list has had so far */

static int has_name(const char *variable, const char *name)
{
	size_t size = strlen(name);

	return strncmp(variable, name, size) == 0 && variable[size] == '=';
}

/* Takes `variable`, also on failure; it replaces all of its name. */
static int32_t take_variable(struct ky_environment *environment, const char *name,
			     char *variable, struct kymo_error *error)
{
	size_t kept = 0;
	char **grown = realloc(environment->variables,
			       (environment->count + 2) * sizeof(*grown));

	if (!grown) {
		free(variable);
		return ky_error_no_memory(error);
	}
	environment->variables = grown;
	for (size_t i = 0; i < environment->count; i++) {
		if (has_name(grown[i], name))
			free(grown[i]);
		else
			grown[kept++] = grown[i];
	}
	grown[kept++] = variable;
	grown[kept] = NULL;
	environment->count = kept;
	return KYMO_OK;
}

static int list_has(const char *list, const char *separator, const char *value)
{
	size_t size = strlen(value), separator_size = strlen(separator);

	for (const char *at = list; at; at += separator_size) {
		const char *end = strstr(at, separator);
		size_t part = end ? (size_t)(end - at) : strlen(at);

		if (part == size && memcmp(at, value, size) == 0)
			return 1;
		if (!end)
			return 0;
		at = end;
	}
	return 0;
}

/* "first" + separator + "second"; the caller's, or NULL. */
static char *join(const char *first, const char *separator, const char *second)
{
	char *out;

	return asprintf(&out, "%s%s%s", first, separator, second) < 0 ? NULL : out;
}

/* Puts the value in front of or behind what the list has. */
static int32_t add_to_list(struct ky_environment *environment,
			   const struct kymo_injection_desc *injection,
			   const char *separator, const char *value,
			   struct kymo_error *error)
{
	const char *old = ky_environment_get(environment, injection->variable);
	char *list;
	int32_t status;

	if (!old || !old[0])
		return ky_environment_set(environment, injection->variable, value, error);
	if (list_has(old, separator, value))
		return KYMO_OK;
	if (injection->how == KYMO_INJECT_PREPEND)
		list = join(value, separator, old);
	else
		list = join(old, separator, value);
	if (!list)
		return ky_error_no_memory(error);
	status = ky_environment_set(environment, injection->variable, list, error);
	free(list);
	return status;
}

void ky_environment_destroy(struct ky_environment *environment)
{
	for (size_t i = 0; i < environment->count; i++)
		free(environment->variables[i]);
	free(environment->variables);
	*environment = (struct ky_environment){0};
}

int32_t ky_environment_create(struct ky_environment *out, char *const *variables,
			      struct kymo_error *error)
{
	size_t count = 0;

	while (variables[count])
		count++;
	*out = (struct ky_environment){.variables = calloc(count + 1, sizeof(char *))};
	if (!out->variables)
		return ky_error_no_memory(error);
	for (; out->count < count; out->count++) {
		out->variables[out->count] = strdup(variables[out->count]);
		if (!out->variables[out->count]) {
			ky_environment_destroy(out);
			return ky_error_no_memory(error);
		}
	}
	return KYMO_OK;
}

const char *ky_environment_get(const struct ky_environment *environment, const char *name)
{
	for (size_t i = 0; i < environment->count; i++)
		if (has_name(environment->variables[i], name))
			return environment->variables[i] + strlen(name) + 1;
	return NULL;
}

int32_t ky_environment_set(struct ky_environment *environment, const char *name,
			   const char *value, struct kymo_error *error)
{
	char *variable = join(name, "=", value);

	if (!variable)
		return ky_error_no_memory(error);
	return take_variable(environment, name, variable, error);
}

char *ky_environment_expand(const char *value, const char *place, const char *text)
{
	size_t size = strlen(value) + 1;
	char *out, *to;

	for (const char *at = value; (at = strstr(at, place)); at++)
		size += strlen(text);
	to = out = malloc(size);
	if (!out)
		return NULL;
	while (*value) {
		if (strncmp(value, place, strlen(place)) == 0) {
			to = stpcpy(to, text);
			value += strlen(place);
		} else {
			*to++ = *value++;
		}
	}
	*to = '\0';
	return out;
}

const char *ky_environment_option_of(const struct kymo_injection_desc *injection)
{
	return KYMO_HAS_FIELD(injection, option) ? injection->option : NULL;
}

int ky_environment_is_preload(const struct kymo_injection_desc *injection)
{
	return strcmp(injection->variable, LOADER_VARIABLE) == 0 &&
	       strstr(injection->value, KY_PLACE_PLUGIN) != NULL;
}

static const char *separator_of(const struct kymo_injection_desc *injection)
{
	return injection->separator && injection->separator[0] ? injection->separator
							       : DEFAULT_SEPARATOR;
}

/* Sets the value, or makes it a part of the list that there is. */
static int32_t apply(struct ky_environment *environment,
		     const struct kymo_injection_desc *injection, const char *value,
		     struct kymo_error *error)
{
	if (injection->how == KYMO_INJECT_SET || injection->how == KYMO_INJECT_KEEP)
		return ky_environment_set(environment, injection->variable, value, error);
	return add_to_list(environment, injection, separator_of(injection), value, error);
}

/* What its reader would take for several parts of the list cannot be one of them. */
static int32_t check_part(const struct kymo_injection_desc *injection, const char *part,
			  struct kymo_error *error)
{
	const int is_loader = strcmp(injection->variable, LOADER_VARIABLE) == 0;
	const char *separator = separator_of(injection);

	if (injection->how == KYMO_INJECT_SET || injection->how == KYMO_INJECT_KEEP)
		return KYMO_OK;
	if (is_loader ? !strpbrk(part, LOADER_SEPARATORS) : !strstr(part, separator))
		return KYMO_OK;
	return ky_error_set(error, KYMO_ERROR_INVALID,
			    "%s cannot stand in %s, whose parts are separated by "
			    "\"%s\"%s: install it elsewhere",
			    part, injection->variable, is_loader ? ":" : separator,
			    is_loader ? " or a blank" : "");
}

/* A path that is not there would be told by somebody else, in the program's output. */
static int32_t check_text(const struct kymo_injection_desc *injection, const char *text,
			  struct kymo_error *error)
{
	const char *name = ky_environment_option_of(injection);

	if (check_part(injection, text, error) != KYMO_OK)
		return ky_error_wrap(error, "option \"%s\"", name);
	if (text[0] != '/' || access(text, R_OK) == 0)
		return KYMO_OK;
	return ky_error_set(error, KYMO_ERROR_CONFIG, "option \"%s\": cannot read %s: %s",
			    name, text, strerror(errno));
}

int32_t ky_environment_inject(struct ky_environment *environment,
			      const struct kymo_injection_desc *injection,
			      const char *path, const char *option,
			      struct kymo_error *error)
{
	const char *name = ky_environment_option_of(injection);
	char *value;
	int32_t status = KYMO_OK;

	if (injection->how == KYMO_INJECT_KEEP &&
	    ky_environment_get(environment, injection->variable))
		return KYMO_OK;
	if (name && (!option || !option[0]))
		return KYMO_OK;
	if (name)
		status = check_text(injection, option, error);
	if (!status && strstr(injection->value, KY_PLACE_PLUGIN))
		status = check_part(injection, path, error);
	if (status)
		return status;
	/* The option last: what stands in it is nobody's place. */
	value = ky_environment_expand(injection->value, KY_PLACE_PLUGIN, path);
	if (value && name) {
		char *plain = value;

		value = ky_environment_expand(plain, KY_PLACE_OPTION, option);
		free(plain);
	}
	status = value ? apply(environment, injection, value, error)
		       : ky_error_no_memory(error);
	free(value);
	return status;
}

/* This library, whatever it is linked into. */
static int32_t set_agent(struct ky_environment *environment, struct kymo_error *error)
{
	int32_t (*const self)(struct ky_environment *, struct kymo_error *) = set_agent;
	const void *address;
	char path[PATH_MAX];
	int32_t status;

	memcpy(&address, &self, sizeof(address));
	status = ky_object_path(address, path, sizeof(path));
	if (status)
		return ky_error_set(error, status,
				    "cannot find the file of this library");
	return ky_environment_set(environment, KY_AGENT_VARIABLE, path, error);
}

int32_t ky_environment_lead(struct ky_environment *environment, const char *socket_path,
			    struct kymo_error *error)
{
	int32_t status = set_agent(environment, error);

	return status ? status
		      : ky_environment_set(environment, KY_SESSION_VARIABLE, socket_path,
					   error);
}
