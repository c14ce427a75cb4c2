/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The request of this process: what request.c, which the program calls, and
 * request_run.c, which does what the schedule says, have in common.
 */
#ifndef KYMO_SESSION_REQUEST_H
#define KYMO_SESSION_REQUEST_H

#include <kymo/request.h>

#include "base/progress.h"
#include "session/schedule.h"

struct ky_request {
	uint64_t id;
	struct ky_schedule schedule;
	struct kymo_session *session; /* NULL: there is no request */
	char *path;
	uint32_t overwrite;
	struct ky_progress progress; /* of its save */
	const char *preempted;       /* why it will end as cancelled, though it is kept */
	uint64_t late_ns;
	void (*ended)(void *context, const struct kymo_request_status *status);
	void *context;
};

/* Whom to tell of an end, when no lock is held any more. */
struct ky_ending {
	struct kymo_request_status status;
	void (*ended)(void *context, const struct kymo_request_status *status);
	void *context;
};

/*
 * request_lock. It is taken before session_lock, and not held while sources stop and the
 * trace is saved. A session belongs to its request: who holds the lock finds it alive.
 */
void ky_requests_lock(void);
void ky_requests_unlock(void);

/* KYMO_ERROR_BUSY, and until when, if there is one. */
int32_t ky_request_check_idle(struct kymo_error *error);

/* What `options` ask for, from now on; KYMO_ERROR_INVALID with what cannot be met. */
int32_t ky_request_plan(const struct kymo_request_options *options,
			struct ky_schedule_plan *out, struct kymo_error *error);

/* Takes over a request and goes on with it, unless there is one. */
int32_t ky_request_accept(const struct ky_request *request,
			  const struct kymo_request_options *options, uint64_t *id,
			  struct kymo_error *error);

void ky_request_free(struct ky_request *request);

/* How it stands with one, under the lock; KYMO_ERROR_NOT_FOUND. */
int32_t ky_request_find(uint64_t id, struct kymo_request_status *out);

/* Ends the one there is, or has its thread do so, under the lock. */
void ky_request_cancel(struct ky_ending *ending);

/* Without the lock. */
void ky_request_tell(const struct ky_ending *ending);

/*
 * The program begins a session of its own: a request that is under way ends, and leaves
 * the gate to it.
 */
void ky_request_preempt(void);

#endif
