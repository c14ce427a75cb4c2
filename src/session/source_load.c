/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/source_load.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "plugin/loader.h"
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

static int32_t load_source(const char *item, char *wanted, struct kymo_error *error)
{
	const char *option = ky_plugin_option(item);
	const struct kymo_plugin *plugin;
	char name[PATH_MAX], path[PATH_MAX];
	int32_t status = KYMO_OK;

	/* The program's own marks, which are recorded in any case. */
	if (strcmp(item, "app") == 0)
		return KYMO_OK;
	if ((size_t)snprintf(name, sizeof(name), "%.*s", (int)(option - item), item) >=
	    sizeof(name))
		status = ky_error_set(error, KYMO_ERROR_INVALID,
				      "the name of a source is too long");
	if (status == KYMO_OK)
		status = ky_plugin_path("source", name, path, sizeof(path), error);
	if (status == KYMO_OK)
		status = ky_plugin_load(path, &plugin, error);
	if (status == KYMO_OK)
		status = ky_sources_add(plugin, error);
	if (status == KYMO_OK)
		status = want_sources(wanted, plugin, option, error);
	return status;
}

int32_t ky_sources_load(char *const *names, char **wanted, struct kymo_error *error)
{
	int32_t status = KYMO_OK;
	char *list;

	*wanted = NULL;
	if (!names)
		return KYMO_OK;
	list = malloc(KY_WANTED_MAX);
	if (!list)
		return ky_error_no_memory(error);
	/* Not "", which is all sources, where none is named. */
	snprintf(list, KY_WANTED_MAX, ",");
	for (size_t i = 0; names[i] && status == KYMO_OK; i++)
		status = load_source(names[i], list, error);
	if (status == KYMO_OK)
		*wanted = list;
	else
		free(list);
	return status;
}
