/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kymo types: all activity types that there are, those of the installed plug-ins
 * included. Their tables are registered in this process, which gives them the numbers
 * that they have in any other.
 */
#include "commands.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kymo/activity_type.h>
#include <kymo/control.h>

#include "say.h"

static const char usage[] =
	"usage: kymo types [--json] [PLUGIN]...\n"
	"\n"
	"Lists all activity types: the static ones, their aliases, and those of the\n"
	"installed plug-ins; of PLUGINs, named or by path, theirs alone. Their names "
	"are\n"
	"what kymo record --types takes. Of PLUGINs also the options, as -t takes them.\n"
	"\n"
	"      --json   print one JSON object\n"
	"  -h, --help   show this\n";

enum { OPTION_JSON = 256 };

#define OPTION_WIDTH 20 /* of NAME=VALUE */

static const struct option long_options[] = {
	{"json", no_argument, NULL, OPTION_JSON},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* A type as a source declares it. */
struct declared {
	const struct kymo_type_desc *desc;
	struct kymo_activity_type type; /* of the table; of a static one its own words */
};

struct source {
	const struct kymo_plugin *plugin;
	const struct kymo_source_desc *desc;
	char *path;
	struct declared *types;
	size_t count;
};

struct list {
	struct source *sources;
	size_t count;
	struct kymo_error *error;
};

/* ---- What there is ---- */

static bool find_entry(uint32_t id, struct kymo_activity_type *out)
{
	for (size_t i = 0; i < kymo_activity_type_count(); i++) {
		out->struct_size = sizeof(*out);
		if (kymo_activity_type_at(i, out) == KYMO_OK && out->id == id)
			return true;
	}
	return false;
}

/* The number of a static type by its exact name, which is what a table may say. */
static bool find_static(const char *name, uint32_t *id)
{
	struct kymo_activity_type entry = {.struct_size = sizeof(entry)};
	const char *alias;
	size_t i;

	for (i = 0; (alias = kymo_activity_type_alias(i, id)); i++)
		if (strcmp(alias, name) == 0)
			return true;
	for (i = 0; kymo_activity_type_at(i, &entry) == KYMO_OK &&
		    (entry.flags & KYMO_ACTIVITY_TYPE_STATIC);
	     i++) {
		*id = entry.id;
		if (strcmp(entry.name, name) == 0)
			return true;
	}
	return false;
}

/* What the source says is added to what is known; false, with a note, if it cannot be. */
static bool declare(const struct source *source, const struct kymo_type_desc *desc,
		    struct kymo_activity_type *out)
{
	const struct kymo_activity_type_attributes attributes = {
		.struct_size = sizeof(attributes),
		.shapes = desc->shapes,
		.side = desc->side,
		.flags = desc->flags,
		.category = desc->category,
	};
	struct kymo_error error = {0};
	uint32_t id;

	if (find_static(desc->name, &id)) {
		if (!find_entry(id, out))
			return false;
		out->side = desc->side;
		out->shapes = desc->shapes;
		if (desc->flags & KYMO_TYPE_OPT_IN)
			out->flags &= ~KYMO_ACTIVITY_TYPE_DEFAULT;
		return true;
	}
	if (kymo_activity_type_register(source->plugin->name, desc->name, &attributes,
					&id, &error) == KYMO_OK)
		return find_entry(id, out);
	ky_say_error(0, "%s: %s", source->path, error.message);
	return false;
}

static void add_source(struct list *list, const char *path,
		       const struct kymo_plugin *plugin,
		       const struct kymo_source_desc *desc)
{
	struct source *source;
	size_t i;

	list->sources =
		ky_must_grow(list->sources, list->count + 1, sizeof(*list->sources));
	source = &list->sources[list->count++];
	*source = (struct source){
		.plugin = plugin,
		.desc = desc,
		.path = ky_must_copy(path, strlen(path)),
	};
	for (i = 0; desc->types && desc->types[i]; i++) {
		struct declared *to;

		source->types = ky_must_grow(source->types, source->count + 1,
					     sizeof(*source->types));
		to = &source->types[source->count];
		to->desc = desc->types[i];
		source->count += declare(source, to->desc, &to->type);
	}
}

static int32_t visit(void *context, const char *path, const struct kymo_plugin *plugin)
{
	struct list *list = context;
	size_t i;

	if (!plugin)
		ky_say_error(0, "left out: %s", list->error->message);
	else if (!plugin->sources || !plugin->sources[0])
		ky_say_error(0, "%s: it has no source, and so no types", path);
	for (i = 0; plugin && plugin->sources && plugin->sources[i]; i++)
		add_source(list, path, plugin, plugin->sources[i]);
	return KYMO_OK;
}

static void free_list(struct list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++) {
		free(list->sources[i].path);
		free(list->sources[i].types);
	}
	free(list->sources);
}

/* ---- For people ---- */

static const char *full_name(const struct kymo_activity_type *type, char out[160])
{
	snprintf(out, 160, "%s%s%s", type->plugin, type->plugin[0] ? "." : "",
		 type->name);
	return out;
}

static const char *when_text(uint32_t flags)
{
	return flags & KYMO_ACTIVITY_TYPE_DEFAULT ? "default" : "when named";
}

static const char *side_text(uint32_t side)
{
	return side == KYMO_SIDE_HOST          ? "host"
	       : side == KYMO_SIDE_ACCELERATOR ? "accelerator"
					       : "";
}

static void print_type(const struct kymo_activity_type *type)
{
	const char *side = side_text(type->side);
	char name[160];

	printf("%12" PRIu32 "  %-36s  %s%*s%s\n", type->id, full_name(type, name),
	       when_text(type->flags),
	       side[0] ? 12 - (int)strlen(when_text(type->flags)) : 0, "", side);
}

static void print_static(void)
{
	struct kymo_activity_type type = {.struct_size = sizeof(type)};
	size_t i;

	puts("Static types, the same for ever:\n");
	for (i = 0; kymo_activity_type_at(i, &type) == KYMO_OK; i++) {
		if ((type.flags & KYMO_ACTIVITY_TYPE_STATIC) &&
		    !(type.flags & KYMO_ACTIVITY_TYPE_ALIAS))
			print_type(&type);
	}
}

/* Those that had a number of their own have it still. */
static void print_aliases(void)
{
	struct kymo_activity_type entry = {.struct_size = sizeof(entry)};
	const char *alias;
	uint32_t id;
	size_t i, k;

	puts("\nDeprecated names and numbers, and what they stand for:\n");
	for (i = 0; (alias = kymo_activity_type_alias(i, &id)); i++) {
		char number[16] = "", name[80];

		for (k = 0; kymo_activity_type_at(k, &entry) == KYMO_OK &&
			    (entry.flags & KYMO_ACTIVITY_TYPE_STATIC);
		     k++)
			if (strcmp(entry.name, alias) == 0)
				snprintf(number, sizeof(number), "%" PRIu32, entry.id);
		kymo_activity_type_name(id, name, sizeof(name));
		printf("%12s  %-36s  %s\n", number, alias, name);
	}
}

static void print_options(const struct kymo_source_desc *source)
{
	size_t i;

	if (!source->options || !source->options[0])
		return;
	printf("\nOptions of kymo record -t %s:OPTION=VALUE, with their defaults:\n\n",
	       source->name);
	for (i = 0; source->options[i]; i++) {
		const struct kymo_option_desc *option = source->options[i];
		const char *fallback = option->fallback ? option->fallback : "";
		const int size = (int)(strlen(option->name) + 1 + strlen(fallback));

		fputs("  ", stdout);
		ky_say_text(stdout, option->name);
		fputc('=', stdout);
		ky_say_text(stdout, fallback);
		printf("%*s  ", size < OPTION_WIDTH ? OPTION_WIDTH - size : 0, "");
		ky_say_text(stdout, option->help ? option->help : "");
		fputc('\n', stdout);
	}
}

static void print_source(const struct source *source)
{
	size_t i;

	printf("Source %s", source->desc->name);
	if (strcmp(source->plugin->name, source->desc->name) != 0)
		printf(", of the plug-in %s", source->plugin->name);
	puts(source->desc->flags & KYMO_SOURCE_EXPLICIT ? ", recorded when named by -t:\n"
							: ":\n");
	for (i = 0; i < source->count; i++)
		print_type(&source->types[i].type);
}

/* Which share one of the 8-bit numbers, which is then of no use for a way back. */
static void print_clashes(void)
{
	uint32_t number;

	for (number = 0; number < 255; number++) {
		struct kymo_error error = {0};
		uint32_t id;

		if (kymo_activity_type_from_kineto_id(number, &id, &error) ==
		    KYMO_ERROR_INVALID)
			printf("\nA clash: %s\n", error.message);
	}
}

/* Who names plug-ins wants to see what they have, not what there is anyway. */
static void print_list(const struct list *list, bool is_named)
{
	size_t i;

	if (!is_named) {
		print_static();
		print_aliases();
	}
	for (i = 0; i < list->count; i++) {
		fputs(is_named && i == 0 ? "" : "\n", stdout);
		print_source(&list->sources[i]);
		if (is_named)
			print_options(list->sources[i].desc);
	}
	print_clashes();
}

/* ---- JSON ---- */

static void print_json_type(const struct kymo_activity_type *type, const char *help,
			    bool is_first)
{
	char name[160];

	printf("%s\n  {\"number\": %" PRIu32 ", \"kineto_id\": %" PRIu32,
	       is_first ? "" : ",", type->id, type->kineto_id);
	ky_say_member(stdout, ", ", "name", full_name(type, name));
	if (type->flags & KYMO_ACTIVITY_TYPE_ALIAS)
		printf(", \"stands_for\": %" PRIu32, type->canonical);
	printf(", \"default\": %s",
	       type->flags & KYMO_ACTIVITY_TYPE_DEFAULT ? "true" : "false");
	if (type->side)
		ky_say_member(stdout, ", ", "side", side_text(type->side));
	if (type->category[0])
		ky_say_member(stdout, ", ", "category", type->category);
	if (type->shapes)
		printf(", \"span\": %s, \"instant\": %s, \"counter\": %s",
		       type->shapes & KYMO_SHAPE_SPAN ? "true" : "false",
		       type->shapes & KYMO_SHAPE_INSTANT ? "true" : "false",
		       type->shapes & KYMO_SHAPE_COUNTER ? "true" : "false");
	if (help)
		ky_say_member(stdout, ", ", "help", help);
	fputs("}", stdout);
}

static void print_json_source(const struct source *source, bool is_first)
{
	size_t i;

	ky_say_member(stdout, is_first ? "\n {" : ",\n {", "source", source->desc->name);
	ky_say_member(stdout, ", ", "plugin", source->plugin->name);
	ky_say_member(stdout, ", ", "path", source->path);
	printf(", \"explicit\": %s, \"types\": [",
	       source->desc->flags & KYMO_SOURCE_EXPLICIT ? "true" : "false");
	for (i = 0; i < source->count; i++)
		print_json_type(&source->types[i].type, source->types[i].desc->help,
				i == 0);
	fputs("], \"options\": [", stdout);
	for (i = 0; source->desc->options && source->desc->options[i]; i++) {
		const struct kymo_option_desc *option = source->desc->options[i];

		ky_say_member(stdout, i > 0 ? ", {" : "{", "name", option->name);
		ky_say_member(stdout, ", ", "default",
			      option->fallback ? option->fallback : "");
		ky_say_member(stdout, ", ", "help", option->help ? option->help : "");
		fputc('}', stdout);
	}
	fputs("]}", stdout);
}

static void print_json(const struct list *list)
{
	struct kymo_activity_type type = {.struct_size = sizeof(type)};
	const char *alias;
	uint32_t id;
	size_t i;

	fputs("{\"static\": [", stdout);
	for (i = 0; kymo_activity_type_at(i, &type) == KYMO_OK &&
		    (type.flags & KYMO_ACTIVITY_TYPE_STATIC);
	     i++)
		print_json_type(&type, NULL, i == 0);
	fputs("],\n\"aliases\": {", stdout);
	for (i = 0; (alias = kymo_activity_type_alias(i, &id)); i++)
		printf("%s\"%s\": %" PRIu32, i > 0 ? ", " : "", alias, id);
	fputs("},\n\"sources\": [", stdout);
	for (i = 0; i < list->count; i++)
		print_json_source(&list->sources[i], i == 0);
	fputs("]}\n", stdout);
}

/* ---- The command ---- */

static int list_types(const char *const *plugins, bool is_json)
{
	struct kymo_error error = {0};
	struct list list = {.error = &error};
	int status = 0;

	if (kymo_plugin_visit(plugins, visit, &list, &error) != KYMO_OK) {
		status = ky_say_error(KY_EXIT_FAILED, "%s", error.message);
	} else {
		if (is_json)
			print_json(&list);
		else
			print_list(&list, plugins != NULL);
		if (!ky_say_end(stdout))
			status = KY_EXIT_FAILED;
	}
	free_list(&list);
	return status;
}

int ky_cli_types(int argc, char **argv)
{
	bool is_json = false;
	int option;

	opterr = 0; /* we say it ourselves */
	while ((option = getopt_long(argc, argv, ":h", long_options, NULL)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return ky_say_end(stdout) ? 0 : KY_EXIT_FAILED;
		}
		if (option != OPTION_JSON)
			return ky_say_usage(KY_EXIT_USAGE, option, argv, long_options);
		is_json = true;
	}
	return list_types(optind < argc ? (const char *const *)&argv[optind] : NULL,
			  is_json);
}
