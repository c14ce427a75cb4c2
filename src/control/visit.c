/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding plug-ins for the commands: by path, by name, or all that are installed. */
#include <kymo/control.h>

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "control/checkup.h"
#include "plugin/loader.h"

struct search {
	kymo_plugin_visit_fn visit;
	void *context;
	const char *source; /* only the plug-in with this source; NULL: all */
	int is_found;
	int32_t status;
	struct kymo_error *error;
};

static int has_source(const struct kymo_plugin *plugin, const char *name)
{
	for (size_t i = 0; plugin->sources && plugin->sources[i]; i++)
		if (strcmp(plugin->sources[i]->name, name) == 0)
			return 1;
	return 0;
}

/* Where loading it kills, it is not us that it kills. */
static int32_t load(const char *path, const struct kymo_plugin **out,
		    struct kymo_error *error)
{
	int32_t status = ky_checkup_load(path, error);

	return status ? status : ky_plugin_load(path, out, error);
}

static int visit_file(void *context, const char *path)
{
	struct search *search = context;
	const struct kymo_plugin *plugin = NULL;
	int32_t status = load(path, &plugin, search->error);

	/*
	 * Other files may lie there, and one that is looked for by source is not broken.
	 */
	if (status == KYMO_ERROR_UNSUPPORTED || (status && search->source))
		return 0;
	if (search->source && !has_source(plugin, search->source))
		return 0;
	search->is_found = 1;
	search->status = search->visit(search->context, path, plugin);
	return search->status != KYMO_OK || search->source;
}

static int32_t visit_installed(struct search *search)
{
	int32_t status = ky_plugin_each("source", visit_file, search, search->error);

	return status ? status : search->status;
}

static int32_t visit_named(struct search *search, const char *name)
{
	const struct kymo_plugin *plugin = NULL;
	struct kymo_error not_there = {0};
	char path[PATH_MAX];
	int32_t status = ky_plugin_path("source", name, path, sizeof(path), &not_there);

	if (!status) {
		status = load(path, &plugin, search->error);
		return status ? status : search->visit(search->context, path, plugin);
	}
	/* A plug-in may hold sources of other names. */
	search->source = name;
	search->is_found = 0;
	if (status == KYMO_ERROR_NOT_FOUND)
		status = visit_installed(search);
	search->source = NULL;
	if (search->is_found)
		return status;
	if (search->error)
		*search->error = not_there;
	return not_there.status;
}

int32_t kymo_plugin_visit(const char *const *sources, kymo_plugin_visit_fn visit,
			  void *context, struct kymo_error *error)
{
	struct kymo_error own = {0};
	struct search search = {
		.visit = visit,
		.context = context,
		.error = error ? error : &own,
	};
	int32_t status = KYMO_OK;

	if (!visit)
		return ky_error_set(error, KYMO_ERROR_INVALID, "nothing to visit with");
	if (!sources)
		return visit_installed(&search);
	for (size_t i = 0; sources[i] && !status; i++)
		status = visit_named(&search, sources[i]);
	return status;
}
