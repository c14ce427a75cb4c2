/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a list of activity types is written: items `[SOURCE:]NAME` separated by ',', blanks
 * around them; `-` in front of an item, or of its NAME, takes away. NAME: letters,
 * digits, '_' and '-', at most one '.' in it, behind which a '*' may stand. What the
 * names mean is decided in src/registry; a type's number may stand there too.
 */
#ifndef KYMO_RECORD_TYPE_LIST_H
#define KYMO_RECORD_TYPE_LIST_H

#include <kymo/base.h>

#define KY_TYPE_NAME_MAX 64u    /* bytes of a plug-in's, source's or type's name */
#define KY_TYPE_FULL_MAX 129u   /* and of "plugin.type" */
#define KY_TYPE_LIST_MAX 16384u /* and of a list, with its NUL */

struct ky_type_item {
	struct kymo_str source; /* {NULL, 0}: of all sources */
	struct kymo_str name;
	int removes;
};

/*
 * The next item of `*list`, which is moved behind it. KYMO_END at the end;
 * KYMO_ERROR_CONFIG for what is no item.
 */
int32_t ky_type_list_next(const char **list, struct ky_type_item *item,
			  struct kymo_error *error);

/* Whether all of the list is made of items; "" has none. For whoever reads settings. */
int32_t ky_type_list_check(const char *list, struct kymo_error *error);

/* 1 for each byte that may stand in a name, else 0. */
extern const uint8_t ky_type_letters[256];

/* 1 to KY_TYPE_NAME_MAX of [A-Za-z0-9_-]. */
int ky_type_name_is_good(struct kymo_str name);

#endif
