/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/source_load.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plugin/loader.h"
#include "plugin/option.h"
#include "session/source.h"

/* Adds the names of a plug-in's sources to the list of those wanted, with the option. */
static int32_t want_sources(char *wanted, const struct kymo_plugin *plugin,
			    const char *option, struct kymo_error *error)
{
	size_t size = strlen(wanted);

	for (size_t i = 0; plugin->sources && plugin->sources[i]; i++) {
		const char *name = plugin->sources[i]->name;
		int added = snprintf(wanted + size, KY_WANTED_MAX - size, "%s%s,", name,
				     option);

		size += (size_t)added;
		if (size >= KY_WANTED_MAX)
			return ky_error_set(error, KYMO_ERROR_INVALID,
					    "too many sources");
	}
	return KYMO_OK;
}

/* Of the table alone: the source's own check is for a process that is thrown away. */
static int32_t check_option(const struct kymo_plugin *plugin, const char *option,
			    struct kymo_error *error)
{
	int32_t status = KYMO_OK;

	for (size_t i = 0; option[0] && plugin->sources && plugin->sources[i]; i++)
		if (status == KYMO_OK)
			status = ky_option_check(plugin->sources[i], option + 1, error);
	return status;
}

/* `*out` stays NULL for the program's own marks, which are recorded in any case. */
static int32_t load_plugin(const char *item, const struct kymo_plugin **out,
			   struct kymo_error *error)
{
	const char *option = ky_plugin_option(item);
	char name[PATH_MAX], path[PATH_MAX];
	int32_t status = KYMO_OK;

	if (strcmp(item, "app") == 0)
		return KYMO_OK;
	if ((size_t)snprintf(name, sizeof(name), "%.*s", (int)(option - item), item) >=
	    sizeof(name))
		status = ky_error_set(error, KYMO_ERROR_INVALID,
				      "the name of a source is too long");
	if (status == KYMO_OK)
		status = ky_plugin_path("source", name, path, sizeof(path), error);
	if (status == KYMO_OK)
		status = ky_plugin_load(path, out, error);
	if (status == KYMO_OK)
		status = check_option(*out, option, error);
	return status;
}

static int32_t add_source(const char *item, const struct kymo_plugin *plugin,
			  char *wanted, struct kymo_error *error)
{
	int32_t status = ky_sources_add(plugin, error);

	return status == KYMO_OK
		       ? want_sources(wanted, plugin, ky_plugin_option(item), error)
		       : status;
}

/* The plug-in of each name, in their order: the list is the caller's. */
static int32_t load_plugins(char *const *names, const struct kymo_plugin ***out,
			    struct kymo_error *error)
{
	const struct kymo_plugin **plugins;
	int32_t status = KYMO_OK;
	size_t count = 0;

	while (names[count])
		count++;
	plugins = calloc(count + 1, sizeof(*plugins));
	if (!plugins)
		return ky_error_no_memory(error);
	for (size_t i = 0; i < count && status == KYMO_OK; i++)
		status = load_plugin(names[i], &plugins[i], error);
	if (status == KYMO_OK)
		*out = plugins;
	else
		free(plugins);
	return status;
}

int32_t ky_sources_check(char *const *names, struct kymo_error *error)
{
	const struct kymo_plugin **plugins = NULL;
	int32_t status = names ? load_plugins(names, &plugins, error) : KYMO_OK;

	free(plugins);
	return status;
}

int32_t ky_sources_load(char *const *names, char **wanted, struct kymo_error *error)
{
	const struct kymo_plugin **plugins = NULL;
	int32_t status;
	char *list;

	*wanted = NULL;
	if (!names)
		return KYMO_OK;
	list = malloc(KY_WANTED_MAX);
	if (!list)
		return ky_error_no_memory(error);
	/* Not "", which is all sources, where none is named. */
	snprintf(list, KY_WANTED_MAX, ",");
	status = load_plugins(names, &plugins, error);
	/* Only now, so that none is there when another one is refused. */
	for (size_t i = 0; status == KYMO_OK && names[i]; i++)
		if (plugins[i])
			status = add_source(names[i], plugins[i], list, error);
	free(plugins);
	if (status == KYMO_OK)
		*wanted = list;
	else
		free(list);
	return status;
}
