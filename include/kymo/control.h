/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recording another program: what `kymo record` does, as a function.
 */
#ifndef KYMO_CONTROL_H
#define KYMO_CONTROL_H

#include <kymo/plugin.h>
#include <kymo/session.h>

KYMO_BEGIN_DECLS

#define KYMO_WAIT_ALL     0u /* until every process that attached has ended */
#define KYMO_WAIT_PRIMARY 1u /* until the started program has ended */

/*
 * Zero a member to have its default; set struct_size. Members that this library does not
 * know must be zero, else KYMO_ERROR_UNSUPPORTED.
 */
struct kymo_recorder_options {
	uint32_t struct_size;
	uint32_t wait;           /* KYMO_WAIT_* */
	uint32_t overwrite;      /* 1: an existing output is replaced */
	uint32_t no_follow_fork; /* 1: forked children are not recorded */
	uint64_t buffer_size;    /* bytes a process; 0: 64 MiB, less if short of it */
	/*
	 * With %p (pid of the program), %h (host), %r (rank, from the launcher's
	 * environment), %t (start time), %n (first number that no file has), %q{NAME}
	 * (environment) and %%; its suffix says what it is. NULL: a name that no other
	 * recording has, kymo-PROGRAM-HOST-PID[-rRANK]-NS.json.gz
	 */
	const char *output;
	/* Lists end with NULL. Plug-ins by name or path; NULL: all installed. */
	const char *const *sources;
	const char *const *require; /* sources that must have recorded, or NULL */
	char *const *arguments;     /* the program and its arguments */
	const char *compat;         /* or NULL */

	/* Told in one line what is still waited for, once it takes long; may be NULL. */
	void (*notice)(void *context, const char *text);
	void *notice_context;

	/*
	 * KYMO_OVERFLOW_*; 0: STREAM. Streaming ends when the file has `file_limit` bytes
	 * (0: half of what is free on its disk at the start) or the disk is nearly full;
	 * from then on it is DROP, which the trace and the result say.
	 */
	uint32_t overflow;
	/*
	 * 1: orders to rest and to go on are taken, for which each process that is
	 * recorded has a thread of ours.
	 */
	uint32_t controlled;
	uint64_t file_limit;

	/*
	 * Told before the program is started, one line each: installed plug-ins that
	 * cannot be used, and why. NULL: result.failed has the last one.
	 */
	void (*warning)(void *context, const char *text);
	void *warning_context;

	/*
	 * What zero members become; NULL: what files and environment say, see config.h.
	 */
	const struct kymo_config *config;

	/*
	 * Further outputs of the same recording, as `output`; at most one in all is a
	 * capture (.kymo). Ends with NULL; NULL: none. One that fails is told of in the
	 * error, and does no harm to the others.
	 */
	const char *const *more_outputs;

	/* Activity types, as in struct kymo_session_options. */
	const char *types;

	/*
	 * What is recorded of the program's life. It runs from the first moment on; the
	 * processes rest until `delay_ns` after its start (the warm-up: their sources are
	 * started already), and `duration_ns` later (0: at its end) the recording is over
	 * and the outputs are made, while the program goes on. Implies `controlled`.
	 */
	uint64_t delay_ns, duration_ns;
	/*
	 * Each process records from the begin to the end of a range (kymo_range_begin) of
	 * its own, and rests before and after: "mark:NAME", or "mark:NAME,repeat:N" for
	 * the first N. Not together with the other members here, nor with `controlled`.
	 * NULL: none.
	 */
	const char *capture_range;
	/*
	 * 1: all rest until somebody orders KYMO_ORDER_RECORD. Not with a delay or a
	 * duration. Implies `controlled`.
	 */
	uint32_t start_paused;
	uint32_t reserved0;

	/*
	 * How far the outputs are, in percent, some times a second while the caller waits
	 * for nothing else; not if that is soon over. May be NULL.
	 */
	void (*progress)(void *context, uint32_t percent);
	void *progress_context;

	/* End of ABI 1.0 */
};

/*
 * Set struct_size; as much of the rest as that has room for is filled. Texts are for
 * people, "" if there is nothing.
 */
struct kymo_recorder_result {
	uint32_t struct_size;
	int32_t exit_status; /* as a shell would give it: 126, 127, 128+n included */
	char output[4096];   /* the first file, whether it was written or not */
	char capture[4096];  /* the capture that was kept because writing failed */
	char losses[256];    /* by reason: "buffer full 12, too big 1" */
	char failed[512];    /* sources that could not record: "x: denied: why; y: ..." */
	char absent[256];    /* sources that no process loaded: "x, y" */
	/*
	 * The first process that could not attach, and why; or that is a recorder
	 * itself, and where what it started went.
	 */
	char refused[400];
	char stopped[128]; /* why streaming ended before the program did */
	uint32_t refused_count;
	uint32_t was_started; /* 1: the program ran */
	char written[4096];   /* the outputs that are whole: "a.json, b.kymo" */
	char window[384];     /* what was recorded of the program's life; "": all */
	/* Of those in `absent`, a line each: "x: what may help". */
	char absent_remedy[512];
	/*
	 * Sources that recorded, but not all that they could, a line each: "x: why;
	 * remedy".
	 */
	char partly[1024];
	/* Processes of the program that go on, and had nothing to record until now. */
	char left[128];

	/* End of ABI 1.0 */
};

/*
 * Runs the program, records it and its children, writes the output. Takes over SIGINT,
 * SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ, SIGPIPE and SIGCHLD while
 * it runs: the calling thread blocks them, and those that would end the process have a
 * handler by which other threads hand them over. Meant for callers that are
 * single-threaded but for what plug-ins do, such as the command, since it forks processes
 * that go on without exec. Everything that can be checked is checked before the program
 * is started.
 *
 * KYMO_OK when the output is complete, whatever the program's own status and whatever was
 * lost. If the program could not be run: its error, with exit_status 126 or 127. Errors
 * after was_started leave exit_status at the program's own. summary may be NULL; all of
 * it is 0 if nothing was written.
 */
KYMO_API int32_t kymo_recorder_run(const struct kymo_recorder_options *options,
				   struct kymo_recorder_result *result,
				   struct kymo_summary *summary,
				   struct kymo_error *error);

#define KYMO_ORDER_RECORD 1u /* go on */
#define KYMO_ORDER_REST   2u

/*
 * Has every process of a recording that takes orders (`controlled`) rest or go on, also
 * those that come later. Returns when all have obeyed; KYMO_ERROR_BUSY if some have not
 * after 2 s, or that is not known after 6 s at most. `socket` is the recorder's; NULL:
 * the one in KYMO_SESSION, so a recorded program says what is worth recording.
 * KYMO_ERROR_NOT_FOUND: nobody records.
 */
KYMO_API int32_t kymo_recorder_order(const char *socket, uint32_t order,
				     struct kymo_error *error);

/*
 * Visits plug-ins with sources until `visit` returns an error: those given by path (with
 * a slash), by name, or by the name of one of their sources; with `sources` NULL all that
 * are installed. Nothing of them is run but their entry, and that only after it has been
 * tried in a process that is thrown away (so this is for callers with a single thread).
 * What was given and cannot be used is an error; what is merely installed and cannot be
 * used is visited with `plugin` NULL, while `*error` says why.
 */
typedef int32_t (*kymo_plugin_visit_fn)(void *context, const char *path,
					const struct kymo_plugin *plugin);
KYMO_API int32_t kymo_plugin_visit(const char *const *sources, kymo_plugin_visit_fn visit,
				   void *context, struct kymo_error *error);

KYMO_END_DECLS

#endif
