/* SPDX-License-Identifier: BSD-3-Clause */
/* Which sources a recording has, and the environment that brings them in. */
#ifndef KYMO_CONTROL_SELECTION_H
#define KYMO_CONTROL_SELECTION_H

#include "control/environment.h"
#include "control/protocol.h"

/* What a program's own marks are called; they need no plug-in and are always recorded. */
#define KY_SOURCE_APP "app"

/* A list of 1024 bytes has no room for more names. */
#define KY_SELECTION_MAX 256u

struct ky_selection {
	struct ky_environment environment;
	/*
	 * Names of sources, separated by ','; `wanted` with options, "": whatever comes.
	 */
	char names[sizeof(((struct ky_welcome *)0)->wanted)];
	char wanted[sizeof(((struct ky_welcome *)0)->wanted)];
	char types[KY_TYPE_LIST_MAX]; /* wanted, put in full; "": on by default */
	/* Those that are brought in; theirs for ever. */
	const struct kymo_source_desc *brought[KY_SELECTION_MAX];
	size_t brought_count;
	char broken[256]; /* an installed plug-in that cannot be used, and why, or "" */
	/* The caller's, before ky_selection_make: told of each such one instead. */
	void (*warning)(void *context, const char *text);
	void *warning_context;
	/* The same: of the program, see ky_foreign_loader. */
	char foreign_loader[128];
	/* The same: who has set them ("/etc/kymo.conf:3"), where it was no argument. */
	const char *sources_origin, *types_origin;
};

/*
 * Loads the plug-ins of `sources` ("NAME", "/PATH", each with ":OPTION=VALUE" if need be;
 * ends with NULL; NULL: all installed sources that are not explicit; KY_SOURCE_APP is
 * none and stands for itself) and copies
 * `variables` with their injections, KYMO_AGENT, and KYMO_SESSION as `socket_path`.
 * A source none of whose activity types is wanted (`types`: as in
 * registry/type_filter.h, checked here) is not brought into the program.
 * Nothing of a plug-in is run but its entry, and its check of options in a process that
 * is thrown away. Zero the object, but for what is the caller's, before.
 */
int32_t ky_selection_make(struct ky_selection *out, const char *const *sources,
			  const char *types, char *const *variables,
			  const char *socket_path, struct kymo_error *error);
void ky_selection_destroy(struct ky_selection *selection);

/* KYMO_ERROR_NOT_FOUND if one of `required`, which ends with NULL, is not selected. */
int32_t ky_selection_require(const struct ky_selection *selection,
			     const char *const *required, struct kymo_error *error);

/* Whether the list, "x,y" or "x, y", has the name. */
int ky_selection_has(const char *list, const char *name);

#endif
