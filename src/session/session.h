/* SPDX-License-Identifier: BSD-3-Clause */
/* A session from inside: what session.c and save.c share. */
#ifndef KYMO_SESSION_SESSION_H
#define KYMO_SESSION_SESSION_H

#include <sys/types.h>

#include <kymo/session.h>

#include "record/type_list.h"
#include "session/embedded.h"
#include "session/stage.h"

#define KY_SESSION_NEW       0u
#define KY_SESSION_PREPARED  1u
#define KY_SESSION_RECORDING 2u
#define KY_SESSION_STOPPED   3u
#define KY_SESSION_PAUSED    4u

struct ky_session_value; /* session_metadata.c */

struct kymo_session {
	uint32_t state;    /* KY_SESSION_*; under session_lock */
	pid_t pid;         /* of the process that made it */
	uint32_t overflow; /* KY_OVERFLOW_* */
	uint32_t reserved0;
	uint64_t buffer_size;
	uint64_t client_flags;
	uint64_t paused_ticks; /* when, in host ticks */
	struct ky_stages stages;
	char **sources; /* as given in the options, or NULL */
	char *types;    /* the same */
	char *range;    /* the same */
	/* Where the first two were configured, if not there: "/etc/kymo.conf:3". */
	char *sources_origin, *types_origin;
	uint32_t start_paused;
	uint32_t is_leaving; /* freed when nobody uses it any more; under session_lock */
	char *wanted;        /* for ky_sources_begin; NULL until prepared, and for all */
	struct ky_embedded *embedded;        /* from PREPARED on */
	struct ky_session_value *metadata;   /* what was said of it, in order */
	char wanted_types[KY_TYPE_LIST_MAX]; /* made of `types` by prepare */
	/* Who reads what it has captured, in which process; under session_lock. */
	uint32_t users;
	pid_t users_pid;
};

/* Whether it may do `what` ("start"), which needs `state`; session_lock held. */
int32_t ky_session_check(const struct kymo_session *session, uint32_t state,
			 const char *what, struct kymo_error *error);

/* session_metadata.c: tells the capture, which is mirrored, what was said so far. */
void ky_session_metadata_publish(const struct kymo_session *session);
void ky_session_metadata_free(struct kymo_session *session);

/*
 * KYMO_OK if it is stopped (live: recording, or paused); until unuse its capture stays,
 * and whoever destroys it waits.
 */
int32_t ky_session_use(struct kymo_session *session, const char *what,
		       struct kymo_error *error);
int32_t ky_session_use_live(struct kymo_session *session, const char *what,
			    struct kymo_error *error);
void ky_session_unuse(struct kymo_session *session);
/* session_lock held, and open while it waits. */
void ky_session_wait_for_users(struct kymo_session *session);

/* Whether what prepare sees without beginning anything is good: names and options. */
int32_t ky_session_check_sources(const struct kymo_session *session,
				 struct kymo_error *error);

/* kymo_session_prepare without precedence: a request's own. */
int32_t ky_session_prepare(struct kymo_session *session, struct kymo_error *error);

/* What stop begins with: the client is heard a last time, and the gate is shut. */
void ky_session_close(struct kymo_session *session);

/* KYMO_ERROR_BUSY, and who it is, if somebody records in this process. */
int32_t ky_session_check_free(struct kymo_error *error);

#endif
