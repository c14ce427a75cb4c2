/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of metadata: the names that readers of traces know already, with the types of
 * their values, and an application's own keys.
 *
 * A key has one type of value and one unit, which it gets when it is registered. What is
 * registered under a known name must be of the type that readers expect there: they would
 * misread anything else. Integers are alike to them, with and without a sign, and times.
 * A few of the names are words that mean other things too ("name", "kind"): these are
 * listed, and may be of any type.
 */
#ifndef KYMO_KEY_H
#define KYMO_KEY_H

#include <kymo/base.h>
#include <kymo/plugin.h>

KYMO_BEGIN_DECLS

/*
 * The known key of exactly that name, or at the index, from 0; NULL if there is none.
 * `help` is the group that it belongs to ("operation", "collective", "kernel", "device",
 * ...). Static.
 */
KYMO_API const struct kymo_key_desc *kymo_key_known(const char *name);
KYMO_API const struct kymo_key_desc *kymo_key_known_at(size_t index);

/*
 * Registers a key of the application's own, for values of marks and sessions; `*key` is
 * its number, 0 on failure. The same description again gives the same number, in children
 * too.
 *
 * KYMO_ERROR_INVALID: no name, no such type, or a known name that has another type.
 * KYMO_ERROR_EXISTS: the application has it with another type or unit.
 * KYMO_ERROR_NO_MEMORY: no more than 4096 fit. The error says which type is expected.
 */
KYMO_API int32_t kymo_key_register(const struct kymo_key_desc *desc, uint16_t *key,
				   struct kymo_error *error);

KYMO_END_DECLS

#endif
