/* SPDX-License-Identifier: BSD-3-Clause */
/* Who reads a session's capture: it is not freed under them. */
#include <unistd.h>

#include "base/lock.h"
#include "base/thread.h"
#include "capture/gate.h"
#include "session/page.h"
#include "session/session.h"

/* Readers of the parent process are not in this one. session_lock held. */
static uint32_t *users_of(struct kymo_session *session)
{
	if (session->users_pid != getpid()) {
		session->users_pid = getpid();
		session->users = 0;
	}
	return &session->users;
}

static int32_t use(struct kymo_session *session, uint32_t state, const char *what,
		   struct kymo_error *error)
{
	int32_t status;

	ky_lock(&ky_gate()->session_lock);
	/* Paused it records as well, only nothing. */
	if (state == KY_SESSION_RECORDING && session &&
	    session->state == KY_SESSION_PAUSED)
		state = KY_SESSION_PAUSED;
	status = ky_session_check(session, state, what, error);
	if (session && status == KYMO_OK)
		++*users_of(session);
	ky_unlock(&ky_gate()->session_lock);
	return status;
}

int32_t ky_session_use(struct kymo_session *session, const char *what,
		       struct kymo_error *error)
{
	return use(session, KY_SESSION_STOPPED, what, error);
}

int32_t ky_session_use_live(struct kymo_session *session, const char *what,
			    struct kymo_error *error)
{
	return use(session, KY_SESSION_RECORDING, what, error);
}

void ky_session_unuse(struct kymo_session *session)
{
	ky_lock(&ky_gate()->session_lock);
	--*users_of(session);
	ky_unlock(&ky_gate()->session_lock);
	ky_tell_change(&ky_session_page()->session_change);
}

void ky_session_wait_for_users(struct kymo_session *session)
{
	uint32_t *change = &ky_session_page()->session_change;

	session->is_leaving = 1;
	while (*users_of(session) > 0) {
		const uint32_t seen = __atomic_load_n(change, __ATOMIC_RELAXED);

		ky_unlock(&ky_gate()->session_lock);
		ky_wait_for_change(change, seen, UINT64_MAX);
		ky_lock(&ky_gate()->session_lock);
	}
}
