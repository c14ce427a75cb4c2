/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of the types that plug-ins bring: made from the full name, so that they are the
 * same in every process and rank without anybody agreeing on them.
 */
#ifndef KYMO_REGISTRY_CUSTOM_TYPE_H
#define KYMO_REGISTRY_CUSTOM_TYPE_H

#include <kymo/base.h>

#define KY_TYPE_CUSTOM_BEGIN 65536u

/* Where a custom type's number begins to be looked for: by its plug-in and own name. */
uint32_t ky_type_custom_first(struct kymo_str plugin, struct kymo_str name);

/*
 * The number of the custom type whose full name is string `full_name` of the dictionary:
 * `first`, or the next number behind it that no other name of this process has. Any
 * thread; KYMO_ERROR_NO_MEMORY when there are more types than a process may have.
 */
int32_t ky_type_custom_claim(uint32_t first, uint32_t full_name, uint32_t *number);

#endif
