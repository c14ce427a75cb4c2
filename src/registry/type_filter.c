/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading is by scanning the text: it is short, and asked for when a session begins. */
#include "registry/type_filter.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "registry/static_types.h"
#include "registry/type_lookup.h"

static const char unknown_name[] = "Unknown or non-member activity type name";

static int is_wildcard(struct kymo_str name)
{
	return name.size > 2 && name.data[name.size - 1] == '*';
}

static struct kymo_str text_of(const char *text)
{
	return (struct kymo_str){text, strlen(text)};
}

/* ---- What is declared ---- */

int32_t ky_type_declare(struct ky_type_table *table, const char *plugin,
			const struct kymo_type_desc *desc, uint32_t *number,
			uint32_t *flags, struct kymo_error *error)
{
	const struct ky_type_opinion opinion = ky_type_opinion_of(desc);
	struct ky_type type;
	int32_t status;
	int alias;

	*flags = opinion.flags;
	if (ky_type_static_find(text_of(desc->name), 0, number, &alias) == KYMO_OK)
		return KYMO_OK;
	status = ky_type_table_add(table, text_of(plugin), text_of(desc->name), &opinion,
				   0, &type, error);
	if (status == KYMO_OK) {
		*number = type.number;
		*flags |= type.flags;
	}
	return status;
}

/* ---- Making a list ---- */

struct maker {
	struct ky_type_table *table;
	const struct ky_type_source *sources;
	size_t count;
	struct kymo_error *error;
};

static const struct ky_type_source *find_source(const struct maker *maker,
						struct kymo_str name)
{
	for (size_t i = 0; i < maker->count; i++)
		if (ky_str_is(name, maker->sources[i].name))
			return &maker->sources[i];
	return NULL;
}

static int32_t refuse_source(const struct maker *maker, struct kymo_str name)
{
	struct ky_nearest nearest = {.word = name};
	struct ky_candidates all = {0};
	char meant[KY_TYPE_FULL_MAX + 24], quoted[KY_QUOTE_SIZE];

	for (size_t i = 0; i < maker->count; i++) {
		ky_candidates_add(&all, maker->sources[i].name);
		ky_nearest_offer(&nearest, maker->sources[i].name);
	}
	ky_nearest_say(&nearest, meant, sizeof(meant));
	return ky_error_set(maker->error, KYMO_ERROR_CONFIG,
			    "no source \"%s\" is to be recorded%s: there are %s",
			    ky_quote(quoted, name), meant,
			    all.text[0] ? all.text : "none");
}

static int32_t refuse_member(const struct maker *maker,
			     const struct ky_type_source *source, struct kymo_str name)
{
	struct ky_nearest nearest = {.word = name};
	struct ky_candidates all = {0};
	char meant[KY_TYPE_FULL_MAX + 24], quoted[KY_QUOTE_SIZE];

	for (size_t i = 0; source->types && source->types[i]; i++) {
		ky_candidates_add(&all, source->types[i]->name);
		ky_nearest_offer(&nearest, source->types[i]->name);
	}
	ky_nearest_say(&nearest, meant, sizeof(meant));
	return ky_error_set(maker->error, KYMO_ERROR_CONFIG,
			    "%s: '%s'%s; the source \"%s\" has %s: see kymo types",
			    unknown_name, ky_quote(quoted, name), meant, source->name,
			    all.text[0] ? all.text : "none");
}

/* The number of what the source declares by that name, bare or in full. */
static int32_t find_member(const struct maker *maker, const struct ky_type_source *source,
			   struct kymo_str name, uint32_t *number)
{
	for (size_t i = 0; source->types && source->types[i]; i++) {
		uint32_t flags;

		if (ky_str_is(name, source->types[i]->name))
			return ky_type_declare(maker->table, source->plugin,
					       source->types[i], number, &flags, NULL);
	}
	return KYMO_ERROR_NOT_FOUND;
}

static int has_number(const struct maker *maker, const struct ky_type_source *source,
		      uint32_t wanted)
{
	for (size_t i = 0; source->types && source->types[i]; i++) {
		uint32_t number, flags;

		if (ky_type_declare(maker->table, source->plugin, source->types[i],
				    &number, &flags, NULL) == KYMO_OK &&
		    number == wanted)
			return 1;
	}
	return 0;
}

static int is_plugin(const struct maker *maker, struct kymo_str name)
{
	struct ky_type type;

	for (size_t i = 0; i < maker->count; i++)
		if (maker->sources[i].plugin && ky_str_is(name, maker->sources[i].plugin))
			return 1;
	for (uint32_t i = 0; ky_type_table_at(maker->table, i, &type) == KYMO_OK; i++)
		if (type.plugin_size == name.size &&
		    memcmp(type.full_name, name.data, name.size) == 0)
			return 1;
	return 0;
}

/* The item's name as a process that records knows it. */
static int32_t resolve(const struct maker *maker, const struct ky_type_item *item,
		       const struct ky_type_source *source, char *out, size_t size)
{
	const struct kymo_str name = item->name;
	char quoted[KY_QUOTE_SIZE];
	uint32_t number;
	int32_t status;

	snprintf(out, size, "%.*s", (int)name.size, name.data);
	if (ky_str_is_any_case(name, "default") || ky_str_is_any_case(name, "all")) {
		snprintf(out, size, "%s",
			 ky_str_is_any_case(name, "all") ? "all" : "default");
		return KYMO_OK;
	}
	if (is_wildcard(name)) {
		if (is_plugin(maker, (struct kymo_str){name.data, name.size - 2}) ||
		    (source && source->is_open))
			return KYMO_OK;
		return ky_error_set(maker->error, KYMO_ERROR_CONFIG,
				    "%s: '%s': no such plug-in", unknown_name,
				    ky_quote(quoted, name));
	}
	/* What a source calls its own, it is, whoever else has one of that name. */
	if (source && find_member(maker, source, name, &number) == KYMO_OK)
		return ky_type_full_name(maker->table, number, out, size);
	status = ky_type_lookup(maker->table, name, unknown_name, &number, maker->error);
	if (status != KYMO_OK && source && source->is_open)
		return KYMO_OK;
	if (status != KYMO_OK && source)
		return refuse_member(maker, source, name);
	if (status != KYMO_OK) {
		if (maker->error)
			maker->error->status = KYMO_ERROR_CONFIG;
		return KYMO_ERROR_CONFIG;
	}
	if (source && !source->is_open && !has_number(maker, source, number))
		return refuse_member(maker, source, name);
	return ky_type_full_name(maker->table, number, out, size);
}

static int32_t put_item(const struct maker *maker, const struct ky_type_item *item,
			char *out)
{
	const struct ky_type_source *source = NULL;
	char name[KY_TYPE_FULL_MAX + 1];
	const size_t used = strlen(out);
	int32_t status;
	int added;

	if (item->source.data) {
		source = find_source(maker, item->source);
		if (!source)
			return refuse_source(maker, item->source);
	}
	status = resolve(maker, item, source, name, sizeof(name));
	if (status != KYMO_OK)
		return status;
	added = snprintf(out + used, KY_TYPE_LIST_MAX - used, "%s%s%s%s%s",
			 used ? "," : "", item->removes ? "-" : "",
			 source ? source->name : "", source ? ":" : "", name);
	if ((size_t)added < KY_TYPE_LIST_MAX - used)
		return KYMO_OK;
	return ky_error_set(maker->error, KYMO_ERROR_CONFIG,
			    "too many activity types: their full names do not fit in %u "
			    "bytes; PLUGIN.* stands for all of a plug-in",
			    KY_TYPE_LIST_MAX);
}

int32_t ky_type_filter_make(char *out, const char *list, struct ky_type_table *table,
			    const struct ky_type_source *sources, size_t count,
			    struct kymo_error *error)
{
	const struct maker maker = {table, sources, count, error};
	struct ky_type_item item;
	int32_t status;

	out[0] = '\0';
	if (!list)
		return KYMO_OK;
	do {
		status = ky_type_list_next(&list, &item, error);
		if (status == KYMO_OK)
			status = put_item(&maker, &item, out);
	} while (status == KYMO_OK);
	return status == KYMO_END ? KYMO_OK : status;
}

int32_t ky_type_filter_check(const char *list, const struct ky_type_source *sources,
			     size_t count, struct kymo_error *error)
{
	struct ky_type_item item;
	char quoted[KY_QUOTE_SIZE], plugin[KY_TYPE_NAME_MAX + 1];
	int32_t status;

	while ((status = ky_type_list_next(&list, &item, error)) == KYMO_OK) {
		const char *dot = memchr(item.name.data, '.', item.name.size);
		size_t i = 0;

		if (!dot || item.source.data || item.removes)
			continue;
		snprintf(plugin, sizeof(plugin), "%.*s", (int)(dot - item.name.data),
			 item.name.data);
		while (i < count && strcmp(sources[i].plugin, plugin) != 0)
			i++;
		if (i == count)
			return ky_error_set(error, KYMO_ERROR_CONFIG,
					    "activity type '%s': nothing of the plug-in "
					    "\"%s\" is to be recorded: name it by -t",
					    ky_quote(quoted, item.name), plugin);
	}
	return status == KYMO_END ? KYMO_OK : status;
}

/* ---- Reading it ---- */

/* A type that is asked about. */
struct subject {
	uint32_t number, flags;
	struct ky_type custom; /* full_size 0: static */
};

static int is_on(const struct subject *subject)
{
	return !(subject->flags & KYMO_TYPE_OPT_IN) &&
	       (subject->custom.full_size > 0 ||
		ky_type_static_is_default(subject->number));
}

static int matches(struct kymo_str name, const struct subject *subject)
{
	const struct ky_type *custom = &subject->custom;
	uint32_t number;
	int alias;

	if (ky_str_is(name, "all"))
		return 1;
	if (ky_str_is(name, "default"))
		return is_on(subject);
	if (custom->full_size == 0)
		return ky_type_static_find(name, 0, &number, &alias) == KYMO_OK &&
		       number == subject->number;
	/* Of those that only the program knows. */
	if (ky_type_number_read(name, &number) && number == subject->number)
		return 1;
	if (is_wildcard(name))
		return custom->plugin_size == name.size - 2 &&
		       memcmp(custom->full_name, name.data, name.size - 1) == 0;
	return ky_str_is(name, custom->full_name) ||
	       ky_str_is(name, custom->full_name + custom->plugin_size + 1);
}

static int concerns(const struct ky_type_item *item, const char *source)
{
	return !item->source.data || ky_str_is(item->source, source);
}

int ky_type_filter_wants(const char *list, struct ky_type_table *table,
			 const char *source, uint32_t number, uint32_t flags)
{
	struct subject subject = {.number = number, .flags = flags};
	struct ky_type_item item;
	int is_wanted = -1; /* no item has concerned the source */

	if (number >= KY_TYPE_STATIC_END &&
	    ky_type_table_get(table, number, &subject.custom) != KYMO_OK)
		return 0;
	while (ky_type_list_next(&list, &item, NULL) == KYMO_OK) {
		if (!concerns(&item, source))
			continue;
		if (is_wanted < 0)
			is_wanted = item.removes && is_on(&subject);
		if (matches(item.name, &subject))
			is_wanted = !item.removes;
	}
	return is_wanted < 0 ? is_on(&subject) : is_wanted;
}

/* Whether an item may want a custom type of the plug-in that nobody has heard of. */
static int may_bring(struct kymo_str name, const char *plugin)
{
	const size_t size = strlen(plugin);

	if (ky_str_is(name, "all") || ky_str_is(name, "default"))
		return 1;
	return name.size > size && memcmp(name.data, plugin, size) == 0 &&
	       name.data[size] == '.';
}

static int may_want(const char *list, const struct ky_type_source *source)
{
	struct ky_type_item item;
	int is_wanted = -1;

	while (ky_type_list_next(&list, &item, NULL) == KYMO_OK) {
		if (!concerns(&item, source->name))
			continue;
		if (is_wanted < 0)
			is_wanted = item.removes;
		if (!item.removes && may_bring(item.name, source->plugin))
			is_wanted = 1;
		if (item.removes &&
		    (ky_str_is(item.name, "all") || is_wildcard(item.name)))
			is_wanted = is_wanted && !may_bring(item.name, source->plugin);
	}
	return is_wanted != 0;
}

int ky_type_filter_wants_any(const char *list, struct ky_type_table *table,
			     const struct ky_type_source *source)
{
	if (!source->types || !source->types[0])
		return may_want(list, source);
	for (size_t i = 0; source->types[i]; i++) {
		uint32_t number, flags;

		if (ky_type_declare(table, source->plugin, source->types[i], &number,
				    &flags, NULL) != KYMO_OK)
			continue;
		if (ky_type_filter_wants(list, table, source->name, number, flags))
			return 1;
	}
	return 0;
}

void ky_type_declare_all(struct ky_type_table *table, const struct ky_type_source *source)
{
	for (size_t i = 0; source->types && source->types[i]; i++) {
		uint32_t number, flags;

		ky_type_declare(table, source->plugin, source->types[i], &number, &flags,
				NULL);
	}
}
