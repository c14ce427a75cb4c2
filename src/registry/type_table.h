/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Custom types: which number belongs to which name, and what has been said of it. The
 * process has one table; whoever only looks at manifests makes one of its own.
 *
 * Every function takes the table's lock. The process's lies on the wiped page, and a type
 * is counted after it is whole, so a forked child goes on with the types that there were,
 * whatever a thread was about to add.
 */
#ifndef KYMO_REGISTRY_TYPE_TABLE_H
#define KYMO_REGISTRY_TYPE_TABLE_H

#include <kymo/plugin.h>

#include "record/type_list.h"
#include "record/type_number.h"

#define KY_TYPES_MAX   131072u
#define KY_TYPE_SHAPES (KYMO_SHAPE_SPAN | KYMO_SHAPE_INSTANT | KYMO_SHAPE_COUNTER)

struct ky_type_table;

/* What is said of a type; zero: no opinion. */
struct ky_type_opinion {
	uint32_t shapes, side, flags;
	struct kymo_str category;
};

/* What a plug-in says; flags and shapes of a later Kymo are none of ours. */
static inline struct ky_type_opinion ky_type_opinion_of(const struct kymo_type_desc *desc)
{
	return (struct ky_type_opinion){
		.shapes = desc->shapes & KY_TYPE_SHAPES,
		.side = desc->side,
		.flags = desc->flags & KYMO_TYPE_OPT_IN,
		.category = kymo_text(desc->category),
	};
}

struct ky_type {
	uint32_t number;
	uint32_t shapes, side, flags;
	uint8_t plugin_size, full_size, category_size;
	char full_name[KY_TYPE_FULL_MAX + 1]; /* "plugin.name", terminated */
	char category[KY_TYPE_NAME_MAX + 1];
};

/* The process's table, or NULL without memory for it. */
struct ky_type_table *ky_types(void);

/* `first`: where a number begins to be looked for; NULL: as the process's has it. */
typedef uint32_t (*ky_type_first_fn)(struct kymo_str plugin, struct kymo_str name);
struct ky_type_table *ky_type_table_create(ky_type_first_fn first);
void ky_type_table_destroy(struct ky_type_table *table);

/*
 * Finds the type or adds it, which `is_frozen` forbids (KYMO_ERROR_STATE), and takes the
 * opinion in. `*out` is a copy of what is known then. KYMO_ERROR_INVALID: a bad name, or
 * another opinion than before; KYMO_ERROR_NO_MEMORY: KY_TYPES_MAX.
 */
int32_t ky_type_table_add(struct ky_type_table *table, struct kymo_str plugin,
			  struct kymo_str name, const struct ky_type_opinion *opinion,
			  int is_frozen, struct ky_type *out, struct kymo_error *error);

/*
 * Takes an opinion into a type that stands in no table, as ky_type_table_add does into
 * those that do; its number and name are the caller's.
 */
int32_t ky_type_agree(struct ky_type *type, const struct ky_type_opinion *opinion,
		      struct kymo_error *error);

/* Copies of the type by number or by its place; KYMO_ERROR_NOT_FOUND. */
int32_t ky_type_table_get(struct ky_type_table *table, uint32_t number,
			  struct ky_type *out);
int32_t ky_type_table_at(struct ky_type_table *table, uint32_t index,
			 struct ky_type *out);
uint32_t ky_type_table_count(const struct ky_type_table *table);

static inline struct kymo_str ky_type_plugin(const struct ky_type *type)
{
	return (struct kymo_str){type->full_name, type->plugin_size};
}

static inline struct kymo_str ky_type_name(const struct ky_type *type)
{
	return (struct kymo_str){type->full_name + type->plugin_size + 1,
				 (size_t)type->full_size - type->plugin_size - 1};
}

#endif
