/* SPDX-License-Identifier: BSD-3-Clause */
#include "registry/type_lookup.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "registry/static_types.h"

#define MORE_SIZE 26 /* enough for what stands around a candidate and behind the last */

/* ---- For people ---- */

void ky_candidates_add(struct ky_candidates *candidates, const char *name)
{
	char *text = candidates->text;
	const size_t used = candidates->left_out ? (size_t)(strrchr(text, '"') + 1 - text)
						 : strlen(text);
	const size_t room = sizeof(candidates->text) - used;

	if (candidates->left_out == 0 && strlen(name) + MORE_SIZE < room)
		snprintf(text + used, room, "%s\"%s\"", used ? ", " : "", name);
	else
		snprintf(text + used, room, " and %zu more", ++candidates->left_out);
}

/* ---- Custom types ---- */

/* Those of that bare name. */
struct bare {
	uint32_t count, number;
	char full_name[KY_TYPE_FULL_MAX + 1]; /* of the first */
	struct ky_candidates all;
};

static void find_bare(struct ky_type_table *table, struct kymo_str name, struct bare *out)
{
	struct ky_type type;

	*out = (struct bare){.count = 0};
	for (uint32_t i = 0; ky_type_table_at(table, i, &type) == KYMO_OK; i++) {
		const struct kymo_str own = ky_type_name(&type);

		if (own.size != name.size || memcmp(own.data, name.data, name.size) != 0)
			continue;
		if (out->count++ == 0) {
			out->number = type.number;
			memcpy(out->full_name, type.full_name, sizeof(out->full_name));
		}
		ky_candidates_add(&out->all, type.full_name);
	}
}

/* By "plugin.name", exactly. */
static int32_t find_full(struct ky_type_table *table, struct kymo_str name,
			 uint32_t *number)
{
	const char *dot = name.size ? memchr(name.data, '.', name.size) : NULL;
	struct kymo_str plugin, own;
	struct ky_type type;

	if (!dot)
		return KYMO_ERROR_NOT_FOUND;
	plugin = (struct kymo_str){name.data, (size_t)(dot - name.data)};
	own = (struct kymo_str){dot + 1, name.size - plugin.size - 1};
	if (!ky_type_name_is_good(plugin) || !ky_type_name_is_good(own))
		return KYMO_ERROR_NOT_FOUND;
	if (ky_type_table_add(table, plugin, own, &(const struct ky_type_opinion){0}, 1,
			      &type, NULL) != KYMO_OK)
		return KYMO_ERROR_NOT_FOUND;
	*number = type.number;
	return KYMO_OK;
}

/* ---- Names ---- */

static int32_t unknown(struct ky_type_table *table, struct kymo_str name,
		       const char *complaint, struct kymo_error *error)
{
	struct ky_nearest nearest = {.word = name};
	struct ky_type type;
	struct ky_candidates all = {0};
	char meant[KY_TYPE_FULL_MAX + 24], quoted[KY_QUOTE_SIZE];
	const char *alias;
	uint32_t number;

	for (uint32_t i = 0; ky_type_table_at(table, i, &type) == KYMO_OK; i++) {
		ky_nearest_offer(&nearest, type.full_name);
		ky_nearest_offer(&nearest, type.full_name + type.plugin_size + 1);
		ky_candidates_add(&all, type.full_name);
	}
	for (uint32_t i = 0; ky_type_static_name(i); i++) {
		if (ky_type_static_canonical(i) != i)
			continue;
		ky_nearest_offer(&nearest, ky_type_static_name(i));
		ky_candidates_add(&all, ky_type_static_name(i));
	}
	for (uint32_t i = 0; (alias = ky_type_alias(i, &number)); i++)
		ky_nearest_offer(&nearest, alias);
	ky_nearest_say(&nearest, meant, sizeof(meant));
	return ky_error_set(error, KYMO_ERROR_NOT_FOUND,
			    "%s: '%s'%s; there are %s: see kymo types", complaint,
			    ky_quote(quoted, name), meant, all.text);
}

static int32_t take_static(uint32_t found, int alias, uint32_t *number)
{
	ky_type_alias_warn(alias);
	*number = found;
	return KYMO_OK;
}

int ky_type_number_read(struct kymo_str text, uint32_t *number)
{
	uint32_t value = 0;

	if (text.size == 0 || text.size > 9 + 1 || (text.data[0] == '0' && text.size > 1))
		return 0;
	for (size_t i = 0; i < text.size; i++) {
		const uint32_t digit = (uint32_t)text.data[i] - '0';

		if (digit > 9 || value > (INT32_MAX - digit) / 10)
			return 0;
		value = value * 10 + digit;
	}
	*number = value;
	return 1;
}

/* By its number, that of an alias too. */
static int32_t find_number(struct ky_type_table *table, struct kymo_str name,
			   uint32_t *number)
{
	struct ky_type type;
	uint32_t written, found;
	const char *own;
	int alias;

	if (!ky_type_number_read(name, &written))
		return KYMO_ERROR_NOT_FOUND;
	own = ky_type_static_name(written);
	if (own && ky_type_static_find(kymo_text(own), 0, &found, &alias) == KYMO_OK)
		return take_static(found, alias, number);
	if (ky_type_table_get(table, written, &type) != KYMO_OK)
		return KYMO_ERROR_NOT_FOUND;
	*number = written;
	return KYMO_OK;
}

int32_t ky_type_lookup(struct ky_type_table *table, struct kymo_str name,
		       const char *complaint, uint32_t *number, struct kymo_error *error)
{
	struct bare bare;
	uint32_t found;
	int alias;

	if (find_full(table, name, number) == KYMO_OK)
		return KYMO_OK;
	find_bare(table, name, &bare);
	if (ky_type_static_find(name, 0, &found, &alias) == KYMO_OK) {
		if (bare.count > 0)
			ky_log(KYMO_SEVERITY_INFO,
			       "\"%.*s\" is taken for the static activity type; there is "
			       "also %s",
			       (int)name.size, name.data, bare.all.text);
		return take_static(found, alias, number);
	}
	if (bare.count > 1)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "%s: '%.*s' is the name of several: %s", complaint,
				    (int)name.size, name.data, bare.all.text);
	if (bare.count == 1) {
		*number = bare.number;
		return KYMO_OK;
	}
	if (ky_type_static_find(name, 1, &found, &alias) == KYMO_OK)
		return take_static(found, alias, number);
	if (find_number(table, name, number) == KYMO_OK)
		return KYMO_OK;
	return unknown(table, name, complaint, error);
}

int32_t ky_type_full_name(struct ky_type_table *table, uint32_t number, char *out,
			  size_t size)
{
	const char *name = ky_type_static_name(ky_type_static_canonical(number));
	struct ky_type type;

	if (!name) {
		if (ky_type_table_get(table, number, &type) != KYMO_OK)
			return KYMO_ERROR_NOT_FOUND;
		name = type.full_name;
	}
	if (strlen(name) >= size)
		return KYMO_ERROR_INVALID;
	snprintf(out, size, "%s", name);
	return KYMO_OK;
}
