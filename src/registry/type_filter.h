/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which types are wanted: a list as record/type_list.h reads it.
 *
 *     NAME      a type, also by alias or bare name; `plugin.*`; `default`; `all`
 *     -NAME     takes away
 *     SOURCE:   the item is of that source alone
 *
 * A source that is named by qualified items records exactly those and the unqualified
 * ones; if there are unqualified items every other source records exactly those, else
 * what is on by default. Items that concern a source and begin with `-` start from that.
 *
 * A list is made once, where all names are known, before anything starts: names are
 * checked and put as the process that records will know them. There it is only looked at.
 */
#ifndef KYMO_REGISTRY_TYPE_FILTER_H
#define KYMO_REGISTRY_TYPE_FILTER_H

#include "registry/type_table.h"

/* A source that will be recorded, and what its tables declare. */
struct ky_type_source {
	const char *name, *plugin;
	const struct kymo_type_desc *const *types; /* ends with NULL; NULL: none */
	uint32_t is_open; /* nobody knows beforehand what it has: the program's own */
	uint32_t reserved0;
};

/*
 * Makes `list` into `out` of KY_TYPE_LIST_MAX bytes; NULL and "" give "", what is on by
 * default. KYMO_ERROR_CONFIG, with what there is: a name that is not known, or that the
 * source of its item does not have; a source that is none of `sources`.
 */
int32_t ky_type_filter_make(char *out, const char *list, struct ky_type_table *table,
			    const struct ky_type_source *sources, size_t count,
			    struct kymo_error *error);

/*
 * KYMO_ERROR_CONFIG if an item of the list that was made wants a plug-in's types and none
 * of the sources is the plug-in's. For who knows all sources that there will be.
 */
int32_t ky_type_filter_check(const char *list, const struct ky_type_source *sources,
			     size_t count, struct kymo_error *error);

/* Whether the type of that number is wanted of the source; `flags`: KYMO_TYPE_*. */
int ky_type_filter_wants(const char *list, struct ky_type_table *table,
			 const char *source, uint32_t number, uint32_t flags);

/*
 * Whether any of those that the source declares is wanted; if it declares none, whether
 * the list leaves it any that it could bring later.
 */
int ky_type_filter_wants_any(const char *list, struct ky_type_table *table,
			     const struct ky_type_source *source);

/*
 * The number of a type as a plug-in declares it: static by its exact name, else its own,
 * added to the table if need be. Its flags beside it.
 */
int32_t ky_type_declare(struct ky_type_table *table, const char *plugin,
			const struct kymo_type_desc *desc, uint32_t *number,
			uint32_t *flags, struct kymo_error *error);

/*
 * Adds all that a source declares to the table, so that they can be looked up before it
 * is created. What is wrong with one is said when that is done.
 */
void ky_type_declare_all(struct ky_type_table *table,
			 const struct ky_type_source *source);

#endif
