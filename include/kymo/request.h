/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recording a part of a program that goes on: a request says when, and the library
 * prepares, starts, stops and saves a session for it.
 *
 *     idle -> waiting -> warm-up -> recording -> processing -> idle
 *
 * In the warm-up the sources run and nothing is recorded, so that what they do at first
 * is not in the trace. A request goes by time, or by the iterations that the program
 * tells with kymo_session_step().
 *
 * A process has one request at a time: a further one is refused with KYMO_ERROR_BUSY and
 * the moment until which. A session that the program begins itself has precedence: the
 * request ends as cancelled, "pre-empted", and what it had recorded by then is saved.
 *
 * Each request has a number that is never used again in the process, and ends in exactly
 * one way: done, failed or cancelled. In a forked child there is none.
 *
 * Where the trace cannot be written (a full disk, a folder that is gone, a sink that
 * fails), the request ends as failed, and what was recorded is kept as a capture:
 * `.NAME.kymo-PID` beside the path or, if nothing can be written there, in TMPDIR and
 * then in /tmp. `kymo export` or kymo_timeline_export() makes the trace of it. A process
 * keeps one of these, the last; one that somebody has changed since stays. What can be
 * kept nowhere is lost; `reason` says why.
 *
 * When the program exits normally (exit, or the end of main), a request under way ends as
 * cancelled, "the program has ended", and what it had recorded by then is saved; the exit
 * waits for that, 5 s at most. What is not written by then, or when the program ends in
 * another way while it is saved, is in `.NAME.kymo-PID` beside the path, which `kymo
 * export` reads. In the middle of a recording that ends in another way, it is lost, as
 * the program's memory is: record from outside, then.
 *
 * Any thread may call anything. One thread of the library ("kymo", every signal blocked)
 * lives while there is a request.
 */
#ifndef KYMO_REQUEST_H
#define KYMO_REQUEST_H

#include <kymo/session.h>

KYMO_BEGIN_DECLS

#define KYMO_REQUEST_WAITING    1u
#define KYMO_REQUEST_WARM_UP    2u
#define KYMO_REQUEST_RECORDING  3u
#define KYMO_REQUEST_PROCESSING 4u
/* It has ended: */
#define KYMO_REQUEST_DONE      5u /* the trace is at `path` */
#define KYMO_REQUEST_FAILED    6u /* `reason`; if `path` is not empty, a capture */
#define KYMO_REQUEST_CANCELLED 7u /* `reason`; if `path` is not empty, that was kept */

/* How it stands with a request, or how it ended. */
struct kymo_request_status {
	uint32_t struct_size;
	uint32_t state; /* KYMO_REQUEST_* */
	uint64_t id;
	uint64_t late_ns;      /* by so much the recording began after its time */
	uint64_t events, lost; /* of what was saved, as in struct kymo_summary */
	int64_t duration_ns;
	char path[4096];
	char reason[512];
	uint32_t percent; /* of the processing that is done */
	uint32_t reserved0;
	/* End of ABI 1.0 */
};

/*
 * Zero a member to have its default; set struct_size. One of duration_ms and iterations
 * is needed. With iterations the request goes by iterations; if the program has not told
 * of any by then, by duration_ms, and without that it is refused.
 */
struct kymo_request_options {
	uint32_t struct_size;
	uint32_t overwrite;    /* 1: a file at `path` is replaced */
	int64_t start_unix_ms; /* since the epoch; 0: as soon as it is warm */
	uint64_t warmup_ms, duration_ms;
	/*
	 * Iterations count from 0, the first that was told of. 0: as soon as it is warm;
	 * then, and if start_iteration is over, at the next multiple of `round_up`.
	 */
	uint64_t start_iteration, round_up;
	uint64_t warmup_iterations, iterations;
	const char *path;                           /* as for kymo_session_save */
	const struct kymo_session_options *session; /* NULL: defaults */
	/*
	 * Told once, when it has ended, by a thread of the library or by the one whose
	 * call ended it; no lock is held, so it may submit the next. Who waits may hear
	 * of the end before that: `context` has to stay until it has been called and has
	 * returned. NULL: poll.
	 */
	void (*ended)(void *context, const struct kymo_request_status *status);
	void *context;
	/* End of ABI 1.0 */
};

/*
 * Accepts a request, or refuses it with the reason and changes nothing: KYMO_ERROR_BUSY,
 * KYMO_ERROR_INVALID (a value, a start in the past, iterations that nobody tells of),
 * KYMO_ERROR_EXISTS, _NOT_FOUND or _PERMISSION (the path), _UNSUPPORTED (its suffix),
 * _CONFIG (the files that a session reads, an option that a source does not have). What a
 * source says of a value is known when its session is prepared, as the warm-up begins:
 * the request has failed then, with that reason.
 */
KYMO_API int32_t kymo_request_submit(const struct kymo_request_options *options,
				     uint64_t *id, struct kymo_error *error);

/*
 * Fills members that are zero with what the configuration says of requests: duration,
 * warm-up and start, by time and by iterations, by libkineto's keys or, before those, by
 * KYMO_DURATION and KYMO_DELAY (counted from now). The duration, 500 ms, and the warm-up,
 * 5 s, have libkineto's defaults; where nobody has set the warm-up, half of KYMO_DELAY is
 * the most. `path` is the caller's: see kymo_output_name. config NULL: what files and
 * environment say now.
 */
KYMO_API int32_t kymo_request_configure(struct kymo_request_options *options,
					const struct kymo_config *config,
					struct kymo_error *error);

/*
 * How it stands. The last 64 that ended are remembered; for older ones, and numbers that
 * never were, KYMO_ERROR_NOT_FOUND.
 */
KYMO_API int32_t kymo_request_poll(uint64_t id, struct kymo_request_status *status);

/*
 * The same when it has ended; KYMO_AGAIN if that takes longer. -1: for ever. Where the
 * calling thread is the library's that would have to end it (in `ended`, or an observer),
 * it is not waited for: KYMO_ERROR_STATE.
 */
KYMO_API int32_t kymo_request_wait(uint64_t id, int64_t timeout_ms,
				   struct kymo_request_status *status);

/*
 * What was recorded is dropped, and what was written of it removed: processing is given
 * up within some hundred events. A trace that is whole by then stays, and the request is
 * done. KYMO_ERROR_STATE if it has ended.
 */
KYMO_API int32_t kymo_request_cancel(uint64_t id, struct kymo_error *error);

/*
 * An iteration of the program begins: of a training loop, of a server's requests. Costs
 * an addition and a load; the call at which a request is due prepares, starts or cuts, so
 * that exactly the iterations asked for are recorded.
 */
KYMO_API void kymo_session_step(void);

KYMO_END_DECLS

#endif
