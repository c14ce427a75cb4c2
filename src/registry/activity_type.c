/* SPDX-License-Identifier: BSD-3-Clause */
/* <kymo/activity_type.h>: the process's table as applications see it. */
#include <kymo/activity_type.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/gate_page.h"
#include "base/log.h"
#include "base/options.h"
#include "registry/static_types.h"
#include "registry/type_lookup.h"
#include "registry/type_table.h"

#define NO_TYPE UINT32_MAX

static int32_t no_memory(struct kymo_error *error)
{
	return ky_error_set(error, KYMO_ERROR_NO_MEMORY,
			    "no memory for the table of activity types");
}

static int32_t read_opinion(const struct kymo_activity_type_attributes *attributes,
			    struct ky_type_opinion *out, struct kymo_error *error)
{
	struct kymo_activity_type_attributes known;
	int32_t status;

	*out = (struct ky_type_opinion){0};
	if (!attributes)
		return KYMO_OK;
	status = ky_options_read(attributes, sizeof(known), sizeof(known.struct_size),
				 &known, error);
	if (status == KYMO_OK)
		*out = (struct ky_type_opinion){known.shapes, known.side, known.flags,
						kymo_text(known.category)};
	return status;
}

int32_t
kymo_activity_type_register(const char *plugin, const char *name,
			    const struct kymo_activity_type_attributes *attributes,
			    uint32_t *id, struct kymo_error *error)
{
	const int is_frozen =
		(int)__atomic_load_n(&ky_gate()->types_frozen, __ATOMIC_RELAXED);
	struct ky_type_table *table = ky_types();
	struct kymo_error own; /* for the log; not cleared, which would cost most */
	struct ky_type_opinion opinion;
	struct ky_type type;
	int32_t status;

	own.message[0] = '\0';
	if (!error)
		error = &own;
	if (!id)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no place for the number");
	*id = NO_TYPE;
	status = read_opinion(attributes, &opinion, error);
	if (status != KYMO_OK)
		return status;
	if (!table)
		return no_memory(error);
	status = ky_type_table_add(table, kymo_text(plugin), kymo_text(name), &opinion,
				   is_frozen, &type, error);
	if (status == KYMO_OK)
		*id = type.number;
	else if (status == KYMO_ERROR_STATE)
		ky_log(KYMO_SEVERITY_WARNING, "%s", error->message);
	return status;
}

int32_t kymo_activity_type_lookup(const char *name, uint32_t *id,
				  struct kymo_error *error)
{
	if (!name || !id)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "no name, or no place for the number");
	*id = NO_TYPE;
	if (!ky_types())
		return no_memory(error);
	return ky_type_lookup(ky_types(), kymo_text(name), "Invalid activity type", id,
			      error);
}

int32_t kymo_activity_type_name(uint32_t id, char *out, size_t size)
{
	if (!out || size == 0)
		return KYMO_ERROR_INVALID;
	out[0] = '\0';
	if (!ky_types())
		return KYMO_ERROR_NO_MEMORY;
	return ky_type_full_name(ky_types(), id, out, size);
}

uint32_t kymo_activity_type_canonical(uint32_t id)
{
	return ky_type_static_canonical(id);
}

size_t kymo_activity_type_count(void)
{
	return KY_TYPE_STATIC_COUNT + (ky_types() ? ky_type_table_count(ky_types()) : 0);
}

static void fill_static(uint32_t number, struct kymo_activity_type *out)
{
	out->id = out->kineto_id = number;
	out->canonical = ky_type_static_canonical(number);
	out->flags = KYMO_ACTIVITY_TYPE_STATIC;
	if (out->canonical != number)
		out->flags |= KYMO_ACTIVITY_TYPE_ALIAS;
	if (ky_type_static_is_default(number))
		out->flags |= KYMO_ACTIVITY_TYPE_DEFAULT;
	snprintf(out->name, sizeof(out->name), "%s", ky_type_static_name(number));
}

static void fill_custom(const struct ky_type *type, struct kymo_activity_type *out)
{
	const struct kymo_str plugin = ky_type_plugin(type), name = ky_type_name(type);

	out->id = out->canonical = type->number;
	out->kineto_id = ky_type_number_kineto(plugin, name);
	out->shapes = type->shapes;
	out->side = type->side;
	out->flags = type->flags;
	if (!(type->flags & KYMO_TYPE_OPT_IN))
		out->flags |= KYMO_ACTIVITY_TYPE_DEFAULT;
	memcpy(out->plugin, plugin.data, plugin.size);
	memcpy(out->name, name.data, name.size);
	memcpy(out->category, type->category, type->category_size);
}

int32_t kymo_activity_type_at(size_t index, struct kymo_activity_type *out)
{
	struct kymo_activity_type entry = {.struct_size = sizeof(entry)};
	struct ky_type type;

	if (!out || out->struct_size < sizeof(out->struct_size))
		return KYMO_ERROR_INVALID;
	if (index < KY_TYPE_STATIC_COUNT) {
		fill_static((uint32_t)index, &entry);
	} else {
		index -= KY_TYPE_STATIC_COUNT;
		if (index >= KY_TYPES_MAX || !ky_types() ||
		    ky_type_table_at(ky_types(), (uint32_t)index, &type) != KYMO_OK)
			return KYMO_END;
		fill_custom(&type, &entry);
	}
	ky_result_write(out, &entry, sizeof(entry));
	return KYMO_OK;
}

const char *kymo_activity_type_alias(size_t index, uint32_t *id)
{
	uint32_t number;
	const char *name =
		index < UINT32_MAX ? ky_type_alias((uint32_t)index, &number) : NULL;

	if (name && id)
		*id = number;
	return name;
}

uint32_t kymo_activity_type_kineto_id(uint32_t id)
{
	struct ky_type type;

	if (id < KY_TYPE_STATIC_COUNT)
		return id;
	if (!ky_types() || ky_type_table_get(ky_types(), id, &type) != KYMO_OK)
		return NO_TYPE;
	return ky_type_number_kineto(ky_type_plugin(&type), ky_type_name(&type));
}

int32_t kymo_activity_type_from_kineto_id(uint32_t kineto_id, uint32_t *id,
					  struct kymo_error *error)
{
	struct ky_candidates all = {0};
	struct ky_type type;
	uint32_t count = 0, found = NO_TYPE;

	if (!id)
		return ky_error_set(error, KYMO_ERROR_INVALID, "no place for the number");
	*id = NO_TYPE;
	if (kineto_id < KY_TYPE_STATIC_COUNT) {
		*id = kineto_id;
		return KYMO_OK;
	}
	for (uint32_t i = 0;
	     ky_types() && ky_type_table_at(ky_types(), i, &type) == KYMO_OK; i++) {
		if (ky_type_number_kineto(ky_type_plugin(&type), ky_type_name(&type)) !=
		    kineto_id)
			continue;
		found = type.number;
		count++;
		ky_candidates_add(&all, type.full_name);
	}
	if (count == 0)
		return ky_error_set(error, KYMO_ERROR_NOT_FOUND,
				    "no activity type has the 8-bit number %u here",
				    kineto_id);
	if (count > 1)
		return ky_error_set(error, KYMO_ERROR_INVALID,
				    "the 8-bit number %u is that of %u activity types: "
				    "%s",
				    kineto_id, count, all.text);
	*id = found;
	return KYMO_OK;
}
