/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can be recorded on this machine, what cannot, why, and what to do about it: what
 * `kymo doctor` does, as a function.
 */
#ifndef KYMO_DOCTOR_H
#define KYMO_DOCTOR_H

#include <kymo/plugin.h>

KYMO_BEGIN_DECLS

#define KYMO_FINDING_SOURCE  1u
#define KYMO_FINDING_PLUGIN  2u /* a file that cannot be used */
#define KYMO_FINDING_SINK    3u
#define KYMO_FINDING_MACHINE 4u /* what the recording of any program rests on */

/* Borrowed until `tell` returns. Texts are for people, never NULL, "" for nothing. */
struct kymo_finding {
	uint32_t struct_size;
	uint32_t kind;    /* KYMO_FINDING_* */
	uint32_t state;   /* KYMO_STATE_* */
	uint32_t flags;   /* of a source: KYMO_SOURCE_* */
	const char *name; /* of the source, sink or fact; of a PLUGIN: "" */
	const char *what, *why, *remedy;
	const char *path;             /* of the plug-in's file */
	const char *plugin, *version; /* as the plug-in names itself */
	const char *description;
	const char *said; /* what it printed while it was asked */
	/* "NAME=VALUE" of what a recorded program is given; ends with NULL. */
	const char *const *variables;
	/* End of ABI 1.0 */
};

typedef int32_t (*kymo_finding_fn)(void *context, const struct kymo_finding *finding);

/*
 * Asks every installed source and tells what was found, then the sinks and the machine;
 * with `sources` (names or paths of plug-ins, or names of sources; ends with
 * NULL) those alone, and KYMO_ERROR_NOT_FOUND where there is no such one. Ends early when
 * `tell` returns an error, which is then the result.
 *
 * Nothing of a plug-in is run in this process: each is loaded and asked in one that is
 * thrown away, which has five seconds. For callers with a single thread, since those
 * processes go on without exec.
 */
KYMO_API int32_t kymo_doctor_run(const char *const *sources, kymo_finding_fn tell,
				 void *context, struct kymo_error *error);

KYMO_END_DECLS

#endif
