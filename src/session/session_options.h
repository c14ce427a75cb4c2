/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a session, with what the configuration says of those that are zero. */
#ifndef KYMO_SESSION_SESSION_OPTIONS_H
#define KYMO_SESSION_SESSION_OPTIONS_H

#include <kymo/session.h>

/*
 * Copies what is there into `out`, the rest of which becomes the defaults. `out` borrows
 * from the options and from `*own`, a configuration that the caller destroys, also on
 * failure; NULL where the options bring one.
 */
int32_t ky_session_options_read(const struct kymo_session_options *options,
				struct kymo_session_options *out,
				struct kymo_config **own, struct kymo_error *error);

/* A list that ends with NULL. What a copy that failed has made is to be freed as well. */
void ky_session_sources_free(char **sources);
int32_t ky_session_sources_copy(const char *const *from, char ***out,
				struct kymo_error *error);

#endif
