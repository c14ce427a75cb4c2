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

/*
 * Copies what the session keeps of what was read so. What a copy that failed has made is
 * to be freed as well.
 */
struct kymo_session;
void ky_session_options_free(struct kymo_session *session);
int32_t ky_session_options_keep(struct kymo_session *session,
				const struct kymo_session_options *known,
				const struct kymo_config *own, struct kymo_error *error);

#endif
