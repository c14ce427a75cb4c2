/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stages of sessions, for observers: noted where they end, under whatever lock that is,
 * and told afterwards, when the thread holds none. What is noted is told in that order,
 * by one thread at a time.
 */
#ifndef KYMO_SESSION_STAGE_H
#define KYMO_SESSION_STAGE_H

#include <kymo/observer.h>

/* What a session knows of its stages; zero: none has begun. Under session_lock. */
struct ky_stages {
	char *trace_id, *group_trace_id; /* or NULL */
	uint64_t request;                /* its number, or 0 */
	uint64_t begun_ns;               /* when the stage under way began */
	uint32_t ordinal;                /* of the last that was noted */
	uint32_t is_over;                /* 1: nothing follows */
};

struct kymo_config;
int32_t ky_stages_open(struct ky_stages *stages, const struct kymo_config *config,
		       struct kymo_error *error);
void ky_stages_close(struct ky_stages *stages);

/* Puts the trace ids into the capture that has begun. */
void ky_stages_publish(const struct ky_stages *stages);

/* A first stage begins. */
void ky_stages_begin(struct ky_stages *stages);

/* A stage has ended, as it should, and the next one begins. */
void ky_stages_next(struct ky_stages *stages, uint32_t stage);

/* A save that began at `begun_ns` has ended; error NULL: well. `path` as below. */
void ky_stages_saved(struct ky_stages *stages, uint64_t begun_ns, const char *path,
		     const struct kymo_summary *summary, const struct kymo_error *error);

/*
 * It ends here and otherwise than it should. `path` is what was kept all the same, or "".
 * Nothing where that was told before: by a save that failed.
 */
void ky_stages_cancel(struct ky_stages *stages, int32_t status, const char *reason,
		      const char *path);

/*
 * Tells what was noted, or under request_lock or session_lock leaves it to a later one.
 */
void ky_stages_tell(void);

/* Of the calling thread: ky_stages_tell does nothing between these. */
void ky_stages_hold(int is_held);
/* Whether it is between them, and so has request_lock. */
int ky_stages_are_held(void);

#endif
