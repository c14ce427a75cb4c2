/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The keeper: the process of a recording that holds the captures' memory, warms it,
 * writes it out and makes the trace. It has a session of its own and no terminal, so that
 * it lives on when the front, which has both, does not.
 *
 * The two talk over a socket of packets. The front hands over, the keeper tells:
 *
 *     MEMORY    a capture's memfd           READY     what was handed over first is warm
 *     PROCESS   its process's pidfd         ENDED     a capture is in the file, whole
 *     RELEASE   nobody uses it              OBEYED    what was commanded, or by how many
 * not COMMAND   for all processes           OUTCOME   the end: what became of it all
 *     FINISH    that was all
 *     ABANDON   nothing was recorded, leave nothing behind
 *
 * The front keeps what it has handed over until ENDED, so that it can hand it over to
 * another keeper, which goes on with the same file. If the front is gone, the keeper goes
 * on until all processes that it knows have ended.
 *
 * How far the output is stands in memory that both have: the keeper may be too busy to
 * tell, and nobody has to listen.
 */
#ifndef KYMO_CONTROL_KEEPER_H
#define KYMO_CONTROL_KEEPER_H

#include <limits.h>
#include <sys/types.h>

#include <kymo/control.h>

#include "base/progress.h"
#include "capture/capture.h"
#include "control/report.h"

#define KY_HANDOVER_MEMORY  1u
#define KY_HANDOVER_PROCESS 2u
#define KY_HANDOVER_RELEASE 3u
#define KY_HANDOVER_COMMAND 4u
#define KY_HANDOVER_FINISH  5u
#define KY_HANDOVER_ABANDON 6u

#define KY_RELEASE_IF_UNUSED 0x1u /* the program may have opened it all the same */

/* All have ended that are known: whoever goes on all the same is to be told of. */
#define KY_FINISH_LOOK_AROUND 0x1u

struct ky_handover {
	uint32_t kind;
	uint32_t flags;  /* KY_RELEASE_*, KY_FINISH_*; of COMMAND: KY_COMMAND_* */
	uint64_t number; /* of the capture; of COMMAND: its own */
};

#define KY_TOLD_READY   1u
#define KY_TOLD_ENDED   2u
#define KY_TOLD_OBEYED  3u
#define KY_TOLD_OUTCOME 4u

/* What became of the recording. */
struct ky_outcome {
	struct kymo_error error; /* status KYMO_OK: the output is complete */
	struct kymo_summary summary;
	char capture[PATH_MAX]; /* kept because the output could not be written, or "" */
	char left[128];         /* who goes on, and is not recorded, or "" */
	uint32_t written;       /* a bit for each output that is whole */
	uint32_t reserved0;
	struct ky_report report;
};

struct ky_told {
	uint32_t kind;
	uint32_t not_count; /* OBEYED: so many processes did not */
	uint64_t number;    /* READY, ENDED: of the capture; OBEYED: of the command */
	struct ky_outcome outcome; /* READY: only `error`; OUTCOME: all of it */
};
#define KY_TOLD_SHORT_SIZE offsetof(struct ky_told, outcome)

/* What a keeper knows from its birth. */
struct ky_keeper_setup {
	const char *const *outputs; /* to be made, ends with NULL; the first names more */
	uint32_t overwrite;
	uint32_t overflow;                       /* KY_OVERFLOW_* */
	const struct ky_capture_setup *captures; /* how they are made, but the number */
	uint64_t file_limit; /* of streaming, bytes; 0: by the space that is free */
	uint64_t session;
	struct kymo_str command_line;
	const char *compat;           /* or NULL */
	const char *const *require;   /* or NULL */
	const char *wanted;           /* names of sources, separated by ',' */
	const char *window;           /* what is to be recorded, for people, or NULL */
	const char *folder, *socket;  /* of the front, removed if that is gone */
	struct ky_progress *progress; /* of the output; shared with the front */
	pid_t recorder;               /* names the file: ".NAME.kymo-PID" */
	uint32_t generation;          /* 1, and 2 for the one that took over */
	uint32_t has_file;            /* 1: a capture has ENDED, so there must be one */
};

/*
 * Makes the keeper; `*socket_fd` is the front's end. Everything that the caller has open
 * is closed in the keeper. Its pid, or an error.
 */
int32_t ky_keeper_spawn(const struct ky_keeper_setup *setup, pid_t *pid, int *socket_fd,
			struct kymo_error *error);

/* What that does there, with the front at this descriptor, behind the standard ones. */
#define KY_KEEPER_FRONT_FD 3
void ky_keeper_run(const struct ky_keeper_setup *setup);

#endif
