/* SPDX-License-Identifier: BSD-3-Clause */
/* From the plug-ins that a session's options name to sources that take part in it. */
#ifndef KYMO_SESSION_SOURCE_LOAD_H
#define KYMO_SESSION_SOURCE_LOAD_H

#include <kymo/base.h>

/*
 * Loads each of `names`, a path or the name of an installed plug-in with ":OPTION=VALUE"
 * if need be, and makes of their sources the list of those wanted, of KY_WANTED_MAX
 * bytes, for ky_sources_begin: the caller's. `names` NULL: `*wanted` is NULL, all that
 * are there. Options are held against the tables first (plugin/option.h): where one is
 * refused, no source is added. Without session_lock, since loading runs constructors of
 * others.
 */
int32_t ky_sources_load(char *const *names, char **wanted, struct kymo_error *error);

/* Whether that would be refused; no source is added. */
int32_t ky_sources_check(char *const *names, struct kymo_error *error);

#endif
