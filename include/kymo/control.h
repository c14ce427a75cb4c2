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

struct kymo_record_options {
	uint32_t struct_size;
	uint32_t wait;           /* KYMO_WAIT_* */
	uint32_t overwrite;      /* 1: an existing output is replaced */
	uint32_t no_follow_fork; /* 1: forked children are not recorded */
	uint64_t buffer_size;    /* bytes per process; 0: 64 MiB */
	const char *output;      /* NULL: kymo-PROG-PID.json.gz */
	const char *const
		*sources; /* names or absolute paths, ends with NULL; NULL: all */
	const char *const *require; /* sources that must have recorded, or NULL */
	char *const *arguments;     /* the program and its arguments, ends with NULL */
	const char *compat;         /* or NULL */
				    /* End of ABI 1.0 */
};

struct kymo_record_result {
	uint32_t struct_size;
	int32_t exit_status; /* as a shell would give it: 126, 127, 128+n included */
	struct kymo_summary summary;
	char output[4096];  /* the file written */
	char capture[4096]; /* the capture that was kept because writing failed, or "" */
};

/*
 * Runs the program, records it and its children, writes the output. Takes over SIGINT,
 * SIGTERM, SIGQUIT, SIGHUP and SIGCHLD of the calling thread while it runs; meant for
 * single-threaded callers such as the command. KYMO_OK when the recording is complete,
 * whatever the program's own status; result->exit_status is set whenever it was started.
 */
KYMO_API int32_t kymo_record_run(const struct kymo_record_options *options,
				 struct kymo_record_result *result,
				 struct kymo_error *error);

/*
 * Visits the plug-ins that can be found: those given by path or name, or (sources NULL)
 * all installed ones. Nothing of them is run but their entry.
 */
typedef int32_t (*kymo_plugin_visit_fn)(void *context, const char *path,
					const struct kymo_plugin *plugin);
KYMO_API int32_t kymo_plugin_visit(const char *const *sources, kymo_plugin_visit_fn visit,
				   void *context, struct kymo_error *error);

KYMO_END_DECLS

#endif
