/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Activity types with numbers and names that traces have had for years, and that never
 * change.
 */
#ifndef KYMO_REGISTRY_STATIC_TYPES_H
#define KYMO_REGISTRY_STATIC_TYPES_H

#include <kymo/base.h>

#define KY_TYPE_STATIC_COUNT 29u /* numbers 0 to 28 */
#define KY_TYPE_STATIC_END   50u /* what is below is static, or kept for static ones */

#define KY_TYPE_USER_ANNOTATION 1u

/*
 * The number of a static type by its exact name, the generic ones ("runtime") and those
 * that they replace ("cuda_runtime") alike; KYMO_ERROR_NOT_FOUND if it is not static.
 */
int32_t ky_type_static_number(struct kymo_str name, uint32_t *number);

/* The name to show for a static number, the generic one where there is one, or NULL. */
const char *ky_type_static_name(uint32_t number);

#endif
