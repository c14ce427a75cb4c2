/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/selection.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kymo/control.h>

#include "base/error.h"
#include "config/config.h"
#include "control/option.h"
#include "plugin/loader.h"
#include "plugin/option.h"
#include "registry/static_types.h"
#include "registry/type_filter.h"

/* One item of -t. */
struct request {
	char *name;         /* or path; ours */
	const char *option; /* "OPTION=VALUE", within what was given, or NULL */
};

struct visit;

/* A source that was asked for. */
struct chosen {
	const struct visit *visit;
	const struct kymo_plugin *plugin;
	const struct kymo_source_desc *source;
	char *path; /* of its plug-in; ours */
};

struct visit {
	struct ky_selection *selection;
	struct ky_type_table *table; /* types of all that was looked at */
	struct chosen chosen[KY_SELECTION_MAX];
	struct ky_type_source
		types[KY_SELECTION_MAX + 1]; /* of the same, and of the program */
	size_t chosen_count;
	struct request *requests; /* NULL: all installed ones */
	size_t request_count;
	struct kymo_error *error;
};

/* Adds "name" or "name:option" to a list of the selection. */
static int32_t add_item(char *list, const char *name, const char *option,
			struct kymo_error *error)
{
	const size_t size = sizeof(((struct ky_selection *)0)->names);
	size_t used = strlen(list);
	int added = snprintf(list + used, size - used, "%s%s%s%s", used ? "," : "", name,
			     option ? ":" : "", option ? option : "");

	if ((size_t)added < size - used)
		return KYMO_OK;
	return ky_error_set(error, KYMO_ERROR_INVALID,
			    "too many sources: their names and options do not fit in %zu "
			    "bytes",
			    size);
}

/* ---- What was asked for ---- */

static void free_requests(struct request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(requests[i].name);
	free(requests);
}

static int32_t read_request(const char *text, struct request *out,
			    struct kymo_error *error)
{
	const char *option = ky_plugin_option(text);
	char path[PATH_MAX];
	int32_t status;

	out->name = strndup(text, (size_t)(option - text));
	if (!out->name)
		return ky_error_no_memory(error);
	out->option = option[0] ? option + 1 : NULL;
	if (!ky_plugin_is_path(text))
		return KYMO_OK;
	/* As it will be visited. */
	status = ky_plugin_path("source", out->name, path, sizeof(path), error);
	free(out->name);
	out->name = status ? NULL : strdup(path);
	return status || out->name ? status : ky_error_no_memory(error);
}

static int32_t read_requests(const char *const *sources, struct visit *visit)
{
	size_t count = 0;
	int32_t status = KYMO_OK;

	while (sources[count])
		count++;
	visit->requests = calloc(count + 1, sizeof(*visit->requests));
	if (!visit->requests)
		return ky_error_no_memory(visit->error);
	for (; visit->request_count < count && !status; visit->request_count++)
		status = read_request(sources[visit->request_count],
				      &visit->requests[visit->request_count],
				      visit->error);
	return status;
}

/* ---- What is there ---- */

/* "/folder/name.so" is the plug-in called "name". */
static int is_file_of(const char *path, const char *name)
{
	const char *base = strrchr(path, '/') + 1;
	size_t size = strlen(name);

	return strncmp(base, name, size) == 0 && strcmp(base + size, ".so") == 0;
}

static int has_source(const struct kymo_plugin *plugin, const char *name)
{
	for (size_t i = 0; plugin->sources[i]; i++)
		if (strcmp(plugin->sources[i]->name, name) == 0)
			return 1;
	return 0;
}

/* A plug-in's name stands for all of its sources, unless one of them is called so. */
static int is_requested(const struct request *request, const char *path,
			const struct kymo_plugin *plugin,
			const struct kymo_source_desc *source)
{
	if (request->name[0] == '/')
		return strcmp(request->name, path) == 0;
	if (strcmp(request->name, source->name) == 0)
		return 1;
	return is_file_of(path, request->name) && !has_source(plugin, request->name);
}

/* Adds the source as often as it was asked for; KYMO_AGAIN: not at all. */
static int32_t add_requests(struct visit *visit, const char *path,
			    const struct kymo_plugin *plugin,
			    const struct kymo_source_desc *source)
{
	int32_t status = KYMO_AGAIN;

	for (size_t i = 0; i < visit->request_count && status >= 0; i++) {
		const struct request *request = &visit->requests[i];

		if (!is_requested(request, path, plugin, source))
			continue;
		status = KYMO_OK;
		if (request->option)
			status = ky_option_check(source, request->option, visit->error);
		if (!status)
			status = add_item(visit->selection->wanted, source->name,
					  request->option, visit->error);
	}
	return status;
}

static const struct chosen *find_chosen(const struct visit *visit, const char *name)
{
	for (size_t i = 0; i < visit->chosen_count; i++)
		if (strcmp(visit->chosen[i].source->name, name) == 0)
			return &visit->chosen[i];
	return NULL;
}

static struct ky_type_source types_of(const struct kymo_plugin *plugin,
				      const struct kymo_source_desc *source)
{
	return (struct ky_type_source){
		.name = source->name,
		.plugin = plugin->name,
		.types = source->types,
	};
}

static int32_t choose(struct visit *visit, const char *path,
		      const struct kymo_plugin *plugin,
		      const struct kymo_source_desc *source)
{
	struct chosen *chosen = &visit->chosen[visit->chosen_count];

	if (visit->chosen_count == KY_SELECTION_MAX)
		return ky_error_set(visit->error, KYMO_ERROR_INVALID,
				    "more than %u sources", KY_SELECTION_MAX);
	chosen->path = strdup(path);
	if (!chosen->path)
		return ky_error_no_memory(visit->error);
	chosen->visit = visit;
	chosen->plugin = plugin;
	chosen->source = source;
	visit->types[visit->chosen_count++] = types_of(plugin, source);
	return KYMO_OK;
}

static void tell_broken(struct ky_selection *selection, const char *why)
{
	if (selection->warning)
		selection->warning(selection->warning_context, why);
	else
		ky_text_copy(selection->broken, sizeof(selection->broken), why);
}

/* Two sources of one name cannot be told apart, so the second one is left out. */
static int32_t refuse_second(struct visit *visit, const char *path,
			     const struct kymo_plugin *plugin,
			     const struct kymo_source_desc *source,
			     const struct chosen *first)
{
	struct kymo_error error = {0};

	if (source == first->source)
		return KYMO_OK; /* it was named twice */
	ky_error_set(&error, KYMO_ERROR_CONFIG,
		     "the source \"%s\" of %s: there is one of that name in %s; name "
		     "only one of them",
		     source->name, path, first->path);
	if (!visit->requests) {
		tell_broken(visit->selection, error.message);
		return KYMO_OK;
	}
	for (size_t i = 0; i < visit->request_count; i++)
		if (is_requested(&visit->requests[i], path, plugin, source))
			return ky_error_set(visit->error, error.status, "%s",
					    error.message);
	return KYMO_OK;
}

static int32_t look_at_source(struct visit *visit, const char *path,
			      const struct kymo_plugin *plugin,
			      const struct kymo_source_desc *source)
{
	const struct chosen *first = find_chosen(visit, source->name);
	const struct ky_type_source types = types_of(plugin, source);
	int32_t status = KYMO_OK;

	if (first)
		return refuse_second(visit, path, plugin, source, first);
	ky_type_declare_all(visit->table, &types);
	if (visit->requests)
		status = add_requests(visit, path, plugin, source);
	else if (source->flags & KYMO_SOURCE_EXPLICIT)
		status = KYMO_AGAIN;
	if (status == KYMO_AGAIN)
		return KYMO_OK;
	return status ? status : choose(visit, path, plugin, source);
}

/* A plug-in of sinks alone, say, is none to record. */
static int32_t refuse_without_source(const struct visit *visit, const char *path)
{
	for (size_t i = 0; i < visit->request_count; i++)
		if (strcmp(visit->requests[i].name, path) == 0)
			return ky_error_set(visit->error, KYMO_ERROR_CONFIG,
					    "the plug-in %s has no source", path);
	return KYMO_OK;
}

static int32_t visit_plugin(void *context, const char *path,
			    const struct kymo_plugin *plugin)
{
	struct visit *visit = context;
	int32_t status = KYMO_OK;

	if (!plugin) {
		tell_broken(visit->selection, visit->error->message);
		return KYMO_OK;
	}
	if (!plugin->sources || !plugin->sources[0])
		return refuse_without_source(visit, path);
	for (size_t i = 0; !status && plugin->sources[i]; i++)
		status = look_at_source(visit, path, plugin, plugin->sources[i]);
	return status;
}

/* What the request says of an option of the source, "NAME=VALUE", or NULL. */
static const char *option_of(const struct request *request, const struct chosen *chosen)
{
	return is_requested(request, chosen->path, chosen->plugin, chosen->source)
		       ? request->option
		       : NULL;
}

/* The option's text: what was asked for last, else what stands for it. */
static const char *option_text(void *context, const char *name)
{
	const struct chosen *chosen = context;
	const struct visit *visit = chosen->visit;
	const struct kymo_source_desc *source = chosen->source;
	const size_t size = strlen(name);
	const char *text = NULL;

	for (size_t i = 0; source->options && source->options[i]; i++)
		if (strcmp(source->options[i]->name, name) == 0)
			text = source->options[i]->fallback;
	for (size_t i = 0; i < visit->request_count; i++) {
		const char *option = option_of(&visit->requests[i], chosen);

		if (option && strncmp(option, name, size) == 0 && option[size] == '=')
			text = option + size + 1;
	}
	return text;
}

/* What is not set is the source's own and need not be looked at. */
static int32_t try_options(const struct visit *visit, struct chosen *chosen)
{
	for (size_t i = 0; i < visit->request_count; i++)
		if (option_of(&visit->requests[i], chosen))
			return ky_option_try(chosen->source, option_text, chosen,
					     visit->error);
	return KYMO_OK;
}

static int32_t bring_in(struct visit *visit, struct chosen *chosen)
{
	const struct kymo_source_desc *source = chosen->source;
	struct ky_selection *selection = visit->selection;
	int32_t status = add_item(selection->names, source->name, NULL, visit->error);

	selection->brought[selection->brought_count++] = source;
	if (!status)
		status = try_options(visit, chosen);
	for (size_t i = 0; !status && source->injections && source->injections[i]; i++) {
		const struct kymo_injection_desc *injection = source->injections[i];
		const char *option = ky_environment_option_of(injection);

		if (selection->foreign_loader[0] && ky_environment_is_preload(injection))
			continue;
		status = ky_environment_inject(
			&selection->environment, injection, chosen->path,
			option ? option_text(chosen, option) : NULL, visit->error);
	}
	return status;
}

/* Now that all names are known: which types, and so which sources, there will be. */
static int32_t bring_all_in(struct visit *visit, const char *types)
{
	struct ky_selection *selection = visit->selection;
	int32_t status;

	visit->types[visit->chosen_count] = (struct ky_type_source){
		.name = KY_SOURCE_APP,
		.plugin = KY_SOURCE_APP,
		.is_open = 1,
	};
	ky_type_aliases_forget();
	status = ky_type_filter_make(selection->types, types, visit->table, visit->types,
				     visit->chosen_count + 1, visit->error);
	if (!status)
		status = ky_type_filter_check(selection->types, visit->types,
					      visit->chosen_count + 1, visit->error);
	if (status)
		return ky_config_blame(status, selection->types_origin,
				       KY_KEY_ACTIVITY_TYPES, visit->error);
	for (size_t i = 0; i < visit->chosen_count && !status; i++)
		if (ky_type_filter_wants_any(selection->types, visit->table,
					     &visit->types[i]))
			status = bring_in(visit, &visit->chosen[i]);
	return ky_config_blame(status, selection->sources_origin, KY_KEY_SOURCES,
			       visit->error);
}

/* The program's own marks: no plug-in is looked for. */
static int32_t add_app(struct visit *visit, const struct request *request)
{
	struct ky_selection *selection = visit->selection;
	int32_t status;

	if (request->option)
		return ky_error_set(visit->error, KYMO_ERROR_CONFIG,
				    "source \"%s\" has no option \"%s\"; it has none",
				    request->name, request->option);
	if (ky_selection_has(selection->names, request->name))
		return KYMO_OK;
	status = add_item(selection->names, request->name, NULL, visit->error);
	if (!status)
		status = add_item(selection->wanted, request->name, NULL, visit->error);
	return status;
}

static int32_t visit_all(struct visit *visit, const char *const *sources)
{
	const char **names;
	size_t count = 0;
	int32_t status;

	if (!sources)
		return kymo_plugin_visit(NULL, visit_plugin, visit, visit->error);
	status = read_requests(sources, visit);
	if (status)
		return status;
	names = calloc(visit->request_count + 1, sizeof(*names));
	if (!names)
		return ky_error_no_memory(visit->error);
	for (size_t i = 0; i < visit->request_count && !status; i++) {
		if (strcmp(visit->requests[i].name, KY_SOURCE_APP) == 0)
			status = add_app(visit, &visit->requests[i]);
		else
			names[count++] = visit->requests[i].name;
	}
	if (!status)
		status = kymo_plugin_visit(names, visit_plugin, visit, visit->error);
	free(names);
	return status;
}

void ky_selection_destroy(struct ky_selection *selection)
{
	ky_environment_destroy(&selection->environment);
}

static void destroy_visit(struct visit *visit)
{
	free_requests(visit->requests, visit->request_count);
	for (size_t i = 0; i < visit->chosen_count; i++)
		free(visit->chosen[i].path);
	ky_type_table_destroy(visit->table);
	free(visit);
}

int32_t ky_selection_make(struct ky_selection *out, const char *const *sources,
			  const char *types, char *const *variables,
			  const char *socket_path, struct kymo_error *error)
{
	struct visit *visit = calloc(1, sizeof(*visit));
	struct kymo_error own = {0};
	int32_t status = KYMO_OK;

	if (!visit)
		return ky_error_no_memory(error);
	visit->selection = out;
	visit->error = error ? error : &own;
	visit->table = ky_type_table_create(NULL);
	if (!visit->table)
		status = ky_error_no_memory(error);
	if (!status)
		status = ky_environment_create(&out->environment, variables, error);
	if (!status)
		status = ky_config_blame(visit_all(visit, sources), out->sources_origin,
					 KY_KEY_SOURCES, visit->error);
	if (!status)
		status = bring_all_in(visit, types);
	if (!status)
		status = ky_environment_lead(&out->environment, socket_path, error);
	destroy_visit(visit);
	if (status)
		ky_selection_destroy(out);
	return status;
}

int ky_selection_has(const char *list, const char *name)
{
	size_t size = strlen(name);

	while (*list) {
		size_t part;

		list += strspn(list, " ");
		part = strcspn(list, ",");

		if (part == size && memcmp(list, name, size) == 0)
			return 1;
		list += part + (list[part] == ',');
	}
	return 0;
}

/* What is not even selected will not have recorded in the end. */
int32_t ky_selection_require(const struct ky_selection *selection,
			     const char *const *required, struct kymo_error *error)
{
	const char *names = selection->names;

	for (size_t i = 0; required && required[i]; i++)
		if (strcmp(required[i], KY_SOURCE_APP) != 0 &&
		    !ky_selection_has(names, required[i]))
			return ky_error_set(
				error, KYMO_ERROR_NOT_FOUND,
				"the required source \"%s\" is none of those to "
				"be recorded: %s",
				required[i], names[0] ? names : "there are none");
	return KYMO_OK;
}
