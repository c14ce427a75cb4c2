/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One function per table of the plug-in ABI, each a sequence of single checks; the caller
 * puts the name of what it was checking in front of the message, so that it reads
 * `source "x": type 2: no name`.
 *
 * The tables are trusted to be readable memory, nothing more. Texts are quoted shortened,
 * and a list is followed for LIST_MAX entries at most: one that forgot its NULL runs into
 * whatever lies behind it.
 */
#include "plugin/check.h"

#include <string.h>

#include "base/error.h"
#include "plugin/option.h"
#include "record/known_keys.h"
#include "record/type_list.h"

#define LIST_MAX 1024 /* entries; far more than any list has */
#define QUOTED   "\"%.64s\""

/* The size that a struct of ABI 1.0 has at least; its last member is a pointer. */
#define SIZE_1_0(type, last) (offsetof(struct type, last) + sizeof(void *))

struct operation {
	const char *name;
	size_t offset;
};

static const struct operation source_operations[] = {
	{"create", offsetof(struct kymo_source_ops, create)},
	{"start", offsetof(struct kymo_source_ops, start)},
	{"stop", offsetof(struct kymo_source_ops, stop)},
};

static const struct operation sink_operations[] = {
	{"open", offsetof(struct kymo_sink_ops, open)},
	{"begin", offsetof(struct kymo_sink_ops, begin)},
	{"batch", offsetof(struct kymo_sink_ops, batch)},
	{"end", offsetof(struct kymo_sink_ops, end)},
	{"abort", offsetof(struct kymo_sink_ops, abort)},
	{"close", offsetof(struct kymo_sink_ops, close)},
};

#define bad(error, ...) ky_error_set(error, KYMO_ERROR_PLUGIN, __VA_ARGS__)

static int32_t check_size(uint32_t size, size_t least, const char *type,
			  struct kymo_error *error)
{
	if (size >= least)
		return KYMO_OK;
	return bad(error, "struct_size is %u, but %s has at least %zu bytes", size, type,
		   least);
}

/* 1 to 64 of [A-Za-z0-9_-]: names that people type and that become file names. */
static int32_t check_name(const char *name, struct kymo_error *error)
{
	size_t size = 0;

	if (!name)
		return bad(error, "no name");
	for (; size <= KY_TYPE_NAME_MAX && name[size]; size++)
		if (!ky_type_letters[(uint8_t)name[size]])
			return bad(error,
				   "the name " QUOTED
				   " has more than letters, digits, '_' and '-'",
				   name);
	if (size == 0 || size > KY_TYPE_NAME_MAX)
		return bad(error, "the name " QUOTED " is not 1 to %u characters long",
			   name, KY_TYPE_NAME_MAX);
	return KYMO_OK;
}

static int32_t check_text(const char *text, const char *what, struct kymo_error *error)
{
	if (text && text[0])
		return KYMO_OK;
	return bad(error, "no %s", what);
}

static int32_t check_value_type(uint32_t type, int arrays, struct kymo_error *error)
{
	uint32_t element = arrays ? type & ~KYMO_VALUE_ARRAY : type;

	if ((element >= KYMO_VALUE_INT64 && element <= KYMO_VALUE_TIME) ||
	    (arrays && type == KYMO_VALUE_NESTED))
		return KYMO_OK;
	return bad(error, "value_type %#x is none", type);
}

static int32_t check_operations(const void *table, uint32_t size,
				const struct operation *required, size_t count,
				struct kymo_error *error)
{
	for (size_t i = 0; i < count; i++) {
		void (*function)(void) = NULL;

		if (size >= required[i].offset + sizeof(function))
			memcpy(&function, (const char *)table + required[i].offset,
			       sizeof(function));
		if (!function)
			return bad(error, "the operation \"%s\" is missing",
				   required[i].name);
	}
	return KYMO_OK;
}

static int32_t check_type(const struct kymo_type_desc *type, struct kymo_error *error)
{
	int32_t status = check_size(type->struct_size, SIZE_1_0(kymo_type_desc, help),
				    "kymo_type_desc", error);

	if (status == KYMO_OK)
		status = check_name(type->name, error);
	if (status == KYMO_OK && type->side > KYMO_SIDE_ACCELERATOR)
		status = bad(error, "side %u is none", type->side);
	return status;
}

/* What would be refused when the source is started, and can be seen here already. */
static int32_t check_known_key(const struct kymo_key_desc *key, struct kymo_error *error)
{
	struct kymo_error why = {0};

	if (ky_known_key_check(key->name, key->value_type, &why) == KYMO_OK)
		return KYMO_OK;
	return bad(error, "%s", why.message);
}

static int32_t check_key(const struct kymo_key_desc *key, struct kymo_error *error)
{
	int32_t status = check_size(key->struct_size, SIZE_1_0(kymo_key_desc, help),
				    "kymo_key_desc", error);

	if (status == KYMO_OK)
		status = check_text(key->name, "name", error);
	if (status == KYMO_OK)
		status = check_value_type(key->value_type, 1, error);
	return status == KYMO_OK ? check_known_key(key, error) : status;
}

/* It would reach the source unseen, for only what users give is looked at. */
static int32_t check_fallback(const struct kymo_option_desc *option,
			      struct kymo_error *error)
{
	const char *text = option->fallback;
	char type[KY_TYPE_TEXT_MAX];

	if (!text || !text[0] || ky_option_is_value(text, option->value_type))
		return KYMO_OK;
	return bad(error, "the fallback " QUOTED " of " QUOTED " is no %s", text,
		   option->name, ky_value_type_text(option->value_type, type));
}

static int32_t check_option(const struct kymo_option_desc *option,
			    struct kymo_error *error)
{
	int32_t status = check_size(option->struct_size, SIZE_1_0(kymo_option_desc, help),
				    "kymo_option_desc", error);

	if (status == KYMO_OK)
		status = check_name(option->name, error);
	if (status == KYMO_OK)
		status = check_value_type(option->value_type, 0, error);
	if (status == KYMO_OK)
		status = check_fallback(option, error);
	return status;
}

static int32_t check_injection(const struct kymo_injection_desc *injection,
			       struct kymo_error *error)
{
	int32_t status =
		check_size(injection->struct_size, SIZE_1_0(kymo_injection_desc, value),
			   "kymo_injection_desc", error);

	if (status != KYMO_OK)
		return status;
	if (injection->how < KYMO_INJECT_SET || injection->how > KYMO_INJECT_KEEP)
		return bad(error, "how %u is none", injection->how);
	status = check_text(injection->variable, "variable", error);
	if (status != KYMO_OK)
		return status;
	if (strchr(injection->variable, '='))
		return bad(error, "the variable " QUOTED " holds a '='",
			   injection->variable);
	if (!injection->value)
		return bad(error, "no value for " QUOTED, injection->variable);
	return KYMO_OK;
}

static int32_t check_domain(const struct kymo_domain_desc *domain,
			    struct kymo_error *error)
{
	int32_t status = check_size(domain->struct_size, SIZE_1_0(kymo_domain_desc, help),
				    "kymo_domain_desc", error);

	if (status == KYMO_OK)
		status = check_text(domain->name, "name", error);
	if (status == KYMO_OK && domain->scope > KYMO_DOMAIN_GLOBAL)
		status = bad(error, "scope %u is none", domain->scope);
	return status;
}

static int32_t check_link_kind(const struct kymo_link_kind_desc *kind,
			       struct kymo_error *error)
{
	int32_t status =
		check_size(kind->struct_size, SIZE_1_0(kymo_link_kind_desc, help),
			   "kymo_link_kind_desc", error);

	if (status == KYMO_OK)
		status = check_text(kind->name, "name", error);
	return status;
}

/*
 * Follows a list that ends with NULL and checks each entry. A macro, since the entries'
 * types differ and a pointer to one list may not be read through another's type.
 */
#define check_list(list, what, check, error, status)                                    \
	do {                                                                            \
		size_t i_ = 0;                                                          \
                                                                                        \
		while ((status) == KYMO_OK && (list) && i_ < LIST_MAX && (list)[i_]) {  \
			(status) = check((list)[i_++], error);                          \
			if ((status) != KYMO_OK)                                        \
				ky_error_wrap(error, "%s %zu", what, i_);               \
		}                                                                       \
		if ((status) == KYMO_OK && i_ == LIST_MAX)                              \
			(status) = bad(error, "the list of %ss does not end with NULL", \
				       what);                                           \
	} while (0)

/* An option that an injection names is one of the source's. */
static int32_t check_injected_options(const struct kymo_source_desc *source,
				      struct kymo_error *error)
{
	for (size_t i = 0; source->injections && source->injections[i]; i++) {
		const struct kymo_injection_desc *injection = source->injections[i];
		int is_known = 0;

		if (!KYMO_HAS_FIELD(injection, option) || !injection->option)
			continue;
		for (size_t j = 0; source->options && source->options[j]; j++)
			is_known |=
				strcmp(source->options[j]->name, injection->option) == 0;
		if (!is_known)
			return bad(error,
				   "%s is set from the option " QUOTED
				   ", which there is not",
				   injection->variable, injection->option);
	}
	return KYMO_OK;
}

static int32_t check_source_tables(const struct kymo_source_desc *source,
				   struct kymo_error *error)
{
	int32_t status = KYMO_OK;

	check_list(source->types, "type", check_type, error, status);
	check_list(source->keys, "key", check_key, error, status);
	check_list(source->domains, "domain", check_domain, error, status);
	check_list(source->link_kinds, "link kind", check_link_kind, error, status);
	check_list(source->options, "option", check_option, error, status);
	check_list(source->injections, "injection", check_injection, error, status);
	if (status == KYMO_OK)
		status = check_injected_options(source, error);
	if (status != KYMO_OK)
		return status;
	if (!source->ops)
		return bad(error, "no operations");
	return check_operations(source->ops, source->ops->struct_size, source_operations,
				sizeof(source_operations) / sizeof(source_operations[0]),
				error);
}

static int32_t check_source(const struct kymo_source_desc *source,
			    struct kymo_error *error)
{
	int32_t status = check_size(source->struct_size, SIZE_1_0(kymo_source_desc, ops),
				    "kymo_source_desc", error);

	if (status == KYMO_OK)
		status = check_name(source->name, error);
	if (status != KYMO_OK)
		return status;
	status = check_source_tables(source, error);
	if (status != KYMO_OK)
		ky_error_wrap(error, QUOTED, source->name);
	return status;
}

static int32_t check_suffix(const char *suffix, struct kymo_error *error)
{
	if (suffix[0] == '.' && suffix[1])
		return KYMO_OK;
	return bad(error, QUOTED " does not begin with '.'", suffix);
}

static int32_t check_sink_tables(const struct kymo_sink_desc *sink,
				 struct kymo_error *error)
{
	int32_t status = KYMO_OK;

	check_list(sink->suffixes, "suffix", check_suffix, error, status);
	if (status != KYMO_OK)
		return status;
	if (!sink->ops)
		return bad(error, "no operations");
	return check_operations(sink->ops, sink->ops->struct_size, sink_operations,
				sizeof(sink_operations) / sizeof(sink_operations[0]),
				error);
}

int32_t ky_plugin_check_sink(const struct kymo_sink_desc *sink, struct kymo_error *error)
{
	int32_t status = check_size(sink->struct_size, SIZE_1_0(kymo_sink_desc, ops),
				    "kymo_sink_desc", error);

	if (status == KYMO_OK)
		status = check_name(sink->protocol, error);
	if (status != KYMO_OK)
		return status;
	status = check_sink_tables(sink, error);
	if (status != KYMO_OK)
		ky_error_wrap(error, QUOTED, sink->protocol);
	return status;
}

static int32_t check_version(const struct kymo_plugin *plugin, struct kymo_error *error)
{
	/* The one part that all majors share; without it there are no numbers to say. */
	int32_t status =
		check_size(plugin->struct_size, offsetof(struct kymo_plugin, name),
			   "kymo_plugin", error);

	if (status != KYMO_OK || plugin->abi_major == KYMO_PLUGIN_ABI_MAJOR)
		return status;
	return ky_error_set(error, KYMO_ERROR_VERSION,
			    "it was built for plug-in ABI %u.%u, this Kymo has %u.%u: "
			    "rebuild it with the headers of Kymo %s",
			    plugin->abi_major, plugin->abi_minor, KYMO_PLUGIN_ABI_MAJOR,
			    KYMO_PLUGIN_ABI_MINOR, KYMO_VERSION_STRING);
}

int32_t ky_plugin_check(const struct kymo_plugin *plugin, struct kymo_error *error)
{
	int32_t status;

	if (!plugin)
		return bad(error, "the entry gave no table");
	status = check_version(plugin, error);
	if (status == KYMO_OK)
		status = check_size(plugin->struct_size, SIZE_1_0(kymo_plugin, sinks),
				    "kymo_plugin", error);
	if (status == KYMO_OK)
		status = check_name(plugin->name, error);
	if (status == KYMO_OK)
		status = check_text(plugin->version, "version", error);
	if (status == KYMO_OK)
		status = check_text(plugin->license, "license", error);
	if (status != KYMO_OK)
		return status;
	check_list(plugin->sources, "source", check_source, error, status);
	check_list(plugin->sinks, "sink", ky_plugin_check_sink, error, status);
	if (status != KYMO_OK)
		return status;
	if (!(plugin->sources && plugin->sources[0]) &&
	    !(plugin->sinks && plugin->sinks[0]))
		return bad(error, "it has neither a source nor a sink");
	return KYMO_OK;
}
