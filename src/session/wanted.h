/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of sources that a recording wants: items separated by ',', each a source's
 * name or `NAME:OPTION=VALUE`, which names the source as well. "" wants every source that
 * does not ask to be named.
 */
#ifndef KYMO_SESSION_WANTED_H
#define KYMO_SESSION_WANTED_H

#include <kymo/base.h>

int ky_wanted_has(const char *list, const char *name, uint32_t is_explicit);

/* The value set for an option, by the last item that sets it; {NULL, 0} if none does. */
struct kymo_str ky_wanted_option(const char *list, const char *name, const char *option);

#endif
