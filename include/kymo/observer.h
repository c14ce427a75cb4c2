/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Observers: who is told what the library has to say, and what becomes of sessions and
 * requests of this process. Nothing is printed by the library itself.
 *
 * Stages are those of libkineto. A session that is recorded and saved tells WARM_UP,
 * COLLECTION and, for each save, POST_PROCESSING, each once, in this order, when it has
 * ended. A snapshot is a save too; it comes before COLLECTION, which has not ended then.
 * What ends otherwise tells CANCELLATION as its last: what was destroyed before it
 * was stopped, a request that was cancelled or failed. A save that fails says so in its
 * own status. A prepare that is refused tells nothing: nothing has begun.
 */
#ifndef KYMO_OBSERVER_H
#define KYMO_OBSERVER_H

#include <kymo/session.h>

KYMO_BEGIN_DECLS

/* libkineto's VERBOSE is KYMO_SEVERITY_DEBUG; its STAGE lines are stages here. */
struct kymo_log_record {
	uint32_t struct_size;
	uint32_t severity; /* KYMO_SEVERITY_* */
	int64_t unix_ns;   /* when; since the epoch */
	int64_t thread;    /* who, as the system numbers it */
	const char *message;
	/* End of ABI 1.0 */
};

#define KYMO_STAGE_WARM_UP         1u
#define KYMO_STAGE_COLLECTION      2u
#define KYMO_STAGE_POST_PROCESSING 3u
#define KYMO_STAGE_CANCELLATION    4u

/* A stage that has ended. Texts are never NULL. */
struct kymo_stage {
	uint32_t struct_size;
	uint32_t stage;   /* KYMO_STAGE_* */
	int32_t status;   /* KYMO_OK, or the error that ended it */
	uint32_t ordinal; /* 1, 2, ... within the session or request */
	uint64_t request; /* its number; 0: a session that the program began itself */
	uint64_t duration_ns;
	uint64_t events, lost; /* of POST_PROCESSING: as in struct kymo_summary */
	const char *trace_id, *group_trace_id; /* REQUEST_TRACE_ID and its GROUP */
	const char *destination;               /* what was written or kept, or "" */
	const char *reason;                    /* of an error or a cancellation, or "" */
					       /* End of ABI 1.0 */
};

/*
 * Members may be NULL. Each is called by the thread that has something to tell, with no
 * lock of the library held, so it may call anything; stages one at a time, and before
 * the request's `ended`, unless another thread is just telling them.
 */
struct kymo_observer_ops {
	uint32_t struct_size;
	uint32_t severity; /* log is called from this one on */
	void (*log)(void *context, const struct kymo_log_record *record);
	void (*stage)(void *context, const struct kymo_stage *stage);
	/* End of ABI 1.0 */
};

/*
 * Adds an observer of this process, 16 at most (KYMO_ERROR_NO_MEMORY); children have it
 * too. `ops` must stay. The same again is KYMO_OK, and one observer. Any thread.
 */
KYMO_API int32_t kymo_observer_register(const struct kymo_observer_ops *ops,
					void *context, struct kymo_error *error);

/* It may still be in a call of another thread. KYMO_ERROR_NOT_FOUND. */
KYMO_API int32_t kymo_observer_unregister(const struct kymo_observer_ops *ops,
					  void *context);

KYMO_END_DECLS

#endif
