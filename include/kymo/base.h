/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all other headers of Kymo stand on: linkage, sized text, growing structs.
 */
#ifndef KYMO_BASE_H
#define KYMO_BASE_H

#include <stddef.h>
#include <stdint.h>

#include <kymo/error.h>
#include <kymo/version.h>

#ifdef __cplusplus
#define KYMO_BEGIN_DECLS              extern "C" {
#define KYMO_END_DECLS                }
#define KYMO_STATIC_ASSERT(condition) static_assert(condition, #condition)
#else
#define KYMO_BEGIN_DECLS
#define KYMO_END_DECLS
#define KYMO_STATIC_ASSERT(condition) _Static_assert(condition, #condition)
#endif

#if defined(__GNUC__)
#define KYMO_API                 __attribute__((visibility("default")))
#define KYMO_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#else
#define KYMO_API
#define KYMO_UNLIKELY(condition) (condition)
#endif

/*
 * Structs that cross the ABI begin with `uint32_t struct_size` and grow only at the
 * end. A member exists if the other side's struct reaches past it; a function pointer
 * must also be non-NULL.
 */
#define KYMO_HAS_FIELD(object, member) \
	((object)->struct_size >=      \
	 (size_t)((const char *)(&(object)->member + 1) - (const char *)(object)))
#define KYMO_HAS_FUNCTION(object, member) \
	(KYMO_HAS_FIELD(object, member) && (object)->member != NULL)

KYMO_BEGIN_DECLS

/* Frozen. Borrowed text by pointer and size: any bytes, no end mark; {NULL, 0}: none. */
struct kymo_str {
	const char *data;
	size_t size;
};

#ifndef __cplusplus
#define KYMO_STR(literal) ((struct kymo_str){"" literal, sizeof(literal) - 1})
#endif

/* "0.1.0": the library that was loaded, which may be newer than these headers. */
KYMO_API const char *kymo_version(void);

KYMO_END_DECLS

#endif
