/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recording from inside the program itself.
 *
 *     struct kymo_session *session = NULL;
 *     struct kymo_error error = {0};
 *     int32_t status = kymo_session_create(&session, NULL, &error);
 *
 *     if (status == KYMO_OK)
 *             status = kymo_session_start(session, &error);
 *     work();                                 marks and sources record
 *     if (status == KYMO_OK)
 *             status = kymo_session_stop(session, &error);
 *     if (status == KYMO_OK)
 *             status = kymo_session_save(session, "trace.json", NULL, NULL, &error);
 *     if (status != KYMO_OK)
 *             fprintf(stderr, "not recorded: %s\n", error.message);
 *     kymo_session_destroy(session);
 *
 * stop cuts and converts nothing; save makes the file. What is not of interest stands
 * between pause and resume. examples/01-session is a whole program.
 *
 * One session of a process records at a time; under `kymo record` the recorder has it:
 * prepare is refused with KYMO_ERROR_BUSY, and what kymo_session_metadata() says goes
 * into that recording. Any thread may call anything; a call in the wrong order returns
 * KYMO_ERROR_STATE and changes nothing.
 */
#ifndef KYMO_SESSION_H
#define KYMO_SESSION_H

#include <kymo/base.h>
#include <kymo/config.h>
#include <kymo/key.h>
#include <kymo/sink.h>

KYMO_BEGIN_DECLS

struct kymo_session; /* opaque */

/* What becomes of new records when the capture's memory is full. */
#define KYMO_OVERFLOW_DROP      1u /* they are refused and counted */
#define KYMO_OVERFLOW_OVERWRITE 2u /* the oldest are overwritten and counted */
#define KYMO_OVERFLOW_STREAM    3u /* a recorder takes them to a file; see control.h */

/*
 * Zero a member to have its default; set struct_size. Members that this library does not
 * know must be zero, else KYMO_ERROR_UNSUPPORTED.
 */
struct kymo_session_options {
	uint32_t struct_size;
	uint32_t overflow; /* KYMO_OVERFLOW_DROP (default) or _OVERWRITE */
	/*
	 * Bytes of the capture, 10 MiB or more; default 64 MiB. 8.5 MiB of them (names an
	 * eighth, if that is more than 8) hold no records. The process keeps its names
	 * once more for what comes later, in 80 MiB at most.
	 */
	uint64_t buffer_size;
	/*
	 * Paths of source plug-ins (with a slash), or names of installed ones, each with
	 * ":OPTION=VALUE" if need be; ends with NULL. Checked by prepare: an option that
	 * a source does not have, or a number that is none, is KYMO_ERROR_CONFIG, and no
	 * source has begun. So is a value that a source refuses, with its reason; what
	 * had begun beside it is ended. A source that comes later, when its runtime loads
	 * it, and refuses has failed: see the trace. One that a vendor's runtime has to
	 * load has something to record where the variable that `kymo doctor` shows for it
	 * is set before the runtime is first used; else it is absent, and the trace says
	 * so. NULL: what is configured, else all that runtimes have loaded.
	 */
	const char *const *sources;
	uint64_t client_flags; /* KYMO_CLIENT_*: what the framework is to collect */
	/*
	 * What zero members become; NULL: what files and environment say, see config.h.
	 */
	const struct kymo_config *config;
	/*
	 * Activity types that are wanted, `[SOURCE:]NAME` separated by ',', as
	 * docs/activity-types.md has it: "kernel,npu:dma,-npu.poll". NULL: what the
	 * configuration says; "": those that are on by default. Checked by prepare
	 * (KYMO_ERROR_CONFIG).
	 */
	const char *types;
	/*
	 * What is recorded between start and stop: from the begin to the end of a range
	 * (kymo_range_begin), "mark:NAME", or of the first N, "mark:NAME,repeat:N". Until
	 * then and in between it rests. Pause and resume are refused. NULL: all.
	 */
	const char *capture_range;
	uint32_t start_paused; /* 1: start leaves it paused, until resume */
	uint32_t reserved0;
	/* End of ABI 1.0 */
};

#ifndef __cplusplus
#define KYMO_SESSION_OPTIONS(...)              \
	(&(const struct kymo_session_options){ \
		.struct_size = sizeof(struct kymo_session_options), __VA_ARGS__})
#endif

/* What was written, in short; the whole ledger stands in the file. */
struct kymo_summary {
	uint32_t struct_size;
	uint32_t process_count;
	uint64_t events; /* activities in the trace: spans, instants, counter samples */
	uint64_t kernels, copies, arrows;
	uint64_t lost;       /* of all reasons, the vendors' own included */
	uint64_t bytes;      /* of the file */
	int64_t duration_ns; /* from the first event to the last */
	uint32_t incomplete; /* 1: a capture ends early; what followed is not counted */
	uint32_t reserved0;
	uint64_t untimed; /* recorded, but with times that cannot be drawn */
	uint64_t launches_without_result;
	uint64_t cut; /* of those lost: with a part of the file, or of a stuck thread */
	uint64_t out_of_window; /* of those lost: of another time than the recording's */

	/* End of ABI 1.0 */
};

/* options NULL: defaults. The session is the caller's, to be destroyed. */
KYMO_API int32_t kymo_session_create(struct kymo_session **out,
				     const struct kymo_session_options *options,
				     struct kymo_error *error);

/*
 * Stops it if need be and frees what was captured. NULL is allowed. Waits for whatever is
 * writing it at the moment: nothing is lost that was begun, unless it is cancelled.
 */
KYMO_API void kymo_session_destroy(struct kymo_session *session);

/*
 * prepare makes the capture and starts the sources, of which nothing is recorded yet: the
 * warm-up. start opens the gate (and prepares first if that was not done). A source that
 * fails is left out: see the trace. A prepare that is refused changes nothing: it may be
 * tried again.
 */
KYMO_API int32_t kymo_session_prepare(struct kymo_session *session,
				      struct kymo_error *error);
KYMO_API int32_t kymo_session_start(struct kymo_session *session,
				    struct kymo_error *error);

/*
 * Between pause and resume nothing is recorded, at the cost of nothing where points look
 * at the gate. The trace has a gap there that says so; what a source hands in all the
 * same is counted as filtered.
 */
KYMO_API int32_t kymo_session_pause(struct kymo_session *session,
				    struct kymo_error *error);
KYMO_API int32_t kymo_session_resume(struct kymo_session *session,
				     struct kymo_error *error);

/*
 * Says something of the whole session: a key of kymo_key_register with its value, which
 * is copied and stands at the top of the trace. From create to stop, in any state
 * between. INT64 "rank" and "world_size" identify the process. Under a recorder, which
 * leaves the session as it is created, it stands in the recorder's trace; of a key that
 * several sessions have a value for, the last one there.
 *
 * KYMO_ERROR_INVALID: no such key, a value of another type than the key's, an empty array
 * or a time. KYMO_ERROR_EXISTS: the session has a value for the key, which stays.
 * KYMO_ERROR_NO_MEMORY: there is no room for it.
 */
KYMO_API int32_t kymo_session_metadata(struct kymo_session *session,
				       const struct kymo_value *value,
				       struct kymo_error *error);

/*
 * Closes the gate, stops the sources, takes what they still have of before, and cuts.
 * What was recorded waits to be saved.
 */
KYMO_API int32_t kymo_session_stop(struct kymo_session *session,
				   struct kymo_error *error);

/*
 * Writes the stopped session to `path` (kymo_output_name() makes one): .json, .json.gz,
 * .kymo. The file appears whole or not at all; one that is there already is kept
 * (KYMO_ERROR_EXISTS) unless the options say `overwrite`. May be called again, with
 * another path. options NULL: defaults; summary may be NULL. See also save.h.
 */
KYMO_API int32_t kymo_session_save(struct kymo_session *session, const char *path,
				   const struct kymo_sink_options *options,
				   struct kymo_summary *summary,
				   struct kymo_error *error);

/*
 * Writes what a session has that goes on recording, or is paused, and does not hold it
 * up: as often as wanted, from any thread, several at once. With KYMO_OVERFLOW_OVERWRITE
 * that is a flight recorder: it runs for ever and always has the latest of what happened.
 *
 * The trace has what was recorded by the moment of the call and not overwritten before it
 * could be copied, which is counted as overwritten. With `last_ns` it has only what had
 * not ended by then, so long ago; the rest is counted as out of window. A .kymo has all
 * that there is. path, options, summary: as of kymo_session_save().
 */
KYMO_API int32_t kymo_session_snapshot(struct kymo_session *session, const char *path,
				       uint64_t last_ns,
				       const struct kymo_sink_options *options,
				       struct kymo_summary *summary,
				       struct kymo_error *error);

/*
 * Who is told, in one line each (observer.h has more of it, and for several), what is
 * worth a word although nothing has failed: an activity type's deprecated name, a type
 * that came too late. NULL, as at the beginning: nobody. Replaces the one before, which
 * may still be called once by another thread. `log` runs in the thread that has something
 * to say, with no lock held; `message` is borrowed until it returns. Any thread.
 */
typedef void (*kymo_log_fn)(void *context, uint32_t severity, const char *message);
KYMO_API void kymo_log_to(kymo_log_fn log, void *context);

KYMO_END_DECLS

#endif
