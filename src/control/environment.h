/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment that a recorded program is given: the caller's, with our variables and
 * with what the wanted plug-ins ask for, so that the vendors' runtimes load them.
 */
#ifndef KYMO_CONTROL_ENVIRONMENT_H
#define KYMO_CONTROL_ENVIRONMENT_H

#include <kymo/plugin.h>

struct ky_environment {
	char **variables; /* "NAME=value", ends with NULL: as exec wants it */
	size_t count;
};

void ky_environment_destroy(struct ky_environment *environment);
/* Copies `variables`, all of it; zero the object before. */
int32_t ky_environment_create(struct ky_environment *out, char *const *variables,
			      struct kymo_error *error);

/* The value, borrowed until the variable is changed, or NULL. */
const char *ky_environment_get(const struct ky_environment *environment,
			       const char *name);
int32_t ky_environment_set(struct ky_environment *environment, const char *name,
			   const char *value, struct kymo_error *error);

/* The value with each `place`, such as "{plugin}", replaced; the caller's, or NULL. */
char *ky_environment_expand(const char *value, const char *place, const char *text);

/* What stands in the values of injections. */
#define KY_PLACE_PLUGIN "{plugin}"
#define KY_PLACE_OPTION "{option}"

/*
 * Does what an injection says, for the plug-in at `path`, with the text of the option
 * that it names (NULL or "": none, so nothing is done). A list that has the value already
 * stays as it is, so recording within a recording does no harm.
 */
int32_t ky_environment_inject(struct ky_environment *environment,
			      const struct kymo_injection_desc *injection,
			      const char *path, const char *option,
			      struct kymo_error *error);

/*
 * Leads the program to the recorder: KYMO_SESSION is `socket_path`, KYMO_AGENT this
 * library, whatever it is linked into.
 */
int32_t ky_environment_lead(struct ky_environment *environment, const char *socket_path,
			    struct kymo_error *error);

/* Whether it has the loader load the plug-in itself before all else. */
int ky_environment_is_preload(const struct kymo_injection_desc *injection);

/* The name of the option that the injection depends on, or NULL. */
const char *ky_environment_option_of(const struct kymo_injection_desc *injection);

#endif
