/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of activity types that come from their names, so that they are the same in
 * every process and rank without anybody agreeing on them. Stable for ever.
 */
#ifndef KYMO_RECORD_TYPE_NUMBER_H
#define KYMO_RECORD_TYPE_NUMBER_H

#include <kymo/base.h>

#define KY_TYPE_STATIC_END   50u /* what is below is static, or kept for static ones */
#define KY_TYPE_CUSTOM_BEGIN 65536u
#define KY_TYPE_KINETO_END   255u

/*
 * Where a custom type's number begins to be looked for: by its plug-in and own name. 0:
 * one of the two is no name (ky_type_name_is_good).
 */
uint32_t ky_type_number_first(struct kymo_str plugin, struct kymo_str name);

/* The number behind it, from the last back to the first. */
uint32_t ky_type_number_next(uint32_t number);

/*
 * Its 8-bit number, KY_TYPE_STATIC_END to KY_TYPE_KINETO_END - 1: others may have it too.
 */
uint32_t ky_type_number_kineto(struct kymo_str plugin, struct kymo_str name);

#endif
