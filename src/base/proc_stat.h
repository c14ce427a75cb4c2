/* SPDX-License-Identifier: BSD-3-Clause */
/* What /proc says about a process. */
#ifndef KYMO_BASE_PROC_STAT_H
#define KYMO_BASE_PROC_STAT_H

#include <sys/types.h>

#include <kymo/base.h>

#define KY_PROC_PATH_SIZE 48
#define KY_PROC_NAME_SIZE 24 /* of what stands there, its end included */

/* "/proc/PID/NAME", of pid 0 "/proc/self/NAME"; `out`. No stdio. */
const char *ky_proc_path(char out[static KY_PROC_PATH_SIZE], pid_t pid, const char *name);

struct ky_process {
	uint64_t start_time;      /* clock ticks since boot */
	uint32_t forked_not_exec; /* 1: it runs the image of the process that forked it */
};

/*
 * Reads it of a process of this namespace, 0: the calling one. 0 or an errno, with all
 * of `out` zero then. System calls only, no allocation, no stdio.
 */
int ky_process_read(pid_t pid, struct ky_process *out);

/*
 * Its name as it may be shown: it may hold anything, also what moves a terminal's cursor.
 * "unknown" where there is none: it has ended, or pid is 0, as the system has it for one
 * of a namespace that we do not see into.
 */
void ky_process_name(pid_t pid, char *out, size_t size);

/* What the calling process has mapped, in bytes, as limits count it. */
struct ky_mapped {
	uint64_t address_space; /* RLIMIT_AS */
	uint64_t data;          /* RLIMIT_DATA; and stacks, which are not counted */
};

/* As above. */
int ky_mapped_read(struct ky_mapped *out);

#endif
