/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Activity types with numbers and names that traces have had for years, and that never
 * change. Some are twins of a generic type by another vendor's name: such a number or
 * name is an alias, and stands for the generic type wherever it is said.
 */
#ifndef KYMO_REGISTRY_STATIC_TYPES_H
#define KYMO_REGISTRY_STATIC_TYPES_H

#include <kymo/base.h>

#include "record/type_number.h"

#define KY_TYPE_STATIC_COUNT 29u /* numbers 0 to 28 */

#define KY_TYPE_CPU_OP          0u
#define KY_TYPE_USER_ANNOTATION 1u

/*
 * The name of a number as it stands in the table, also of an alias; NULL: there is none.
 */
const char *ky_type_static_name(uint32_t number);

/* The generic number for an alias; any other number is itself. */
uint32_t ky_type_static_canonical(uint32_t number);

/* Whether it is recorded where nobody has said which types are wanted. */
int ky_type_static_is_default(uint32_t number);

/*
 * Names that are aliases, by index; NULL behind the last. `*number`: what it stands for.
 */
const char *ky_type_alias(uint32_t index, uint32_t *number);

/*
 * The number, an alias resolved, for exact bytes or for letters in any case;
 * KYMO_ERROR_NOT_FOUND. `*alias`: the index of the alias that it was, or -1.
 */
int32_t ky_type_static_find(struct kymo_str name, int any_case, uint32_t *number,
			    int *alias);

/*
 * Says to the log which name to use instead, once until they are forgotten, which a new
 * session does.
 */
void ky_type_alias_warn(int alias);
void ky_type_aliases_forget(void);

#endif
