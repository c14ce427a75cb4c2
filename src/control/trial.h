/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Running code that nobody vouches for: in a process that is thrown away. Whatever it
 * does there - crash, hang, exit, print, leave processes behind - is told and harms
 * nobody.
 */
#ifndef KYMO_CONTROL_TRIAL_H
#define KYMO_CONTROL_TRIAL_H

#include <kymo/base.h>

#define KY_TRIAL_RETURNED 0u
#define KY_TRIAL_EXITED   1u
#define KY_TRIAL_KILLED   2u
#define KY_TRIAL_LATE     3u /* it had not ended at its limit */

struct ky_trial {
	uint32_t end;   /* KY_TRIAL_* */
	int32_t number; /* the exit status, or the signal */
	uint32_t left;  /* processes that it left behind, which were ended */
	uint32_t reserved0;
	char said[512]; /* the beginning of what it printed */
};

typedef void (*ky_trial_fn)(void *context);

/*
 * Calls `run` in a process of its own on a copy of the `size` bytes of `context`, which
 * then become what it has made of them: to be read with mistrust. An error if the process
 * could not be made; how it ended is no error. For callers with a single thread, since
 * the process goes on without exec.
 */
int32_t ky_trial_run(ky_trial_fn run, void *context, size_t size, uint64_t limit_ns,
		     struct ky_trial *out, struct kymo_error *error);

/* "crashed (SIGSEGV)": how it ended, to stand behind what it was that ran. */
void ky_trial_describe(const struct ky_trial *trial, char *out, size_t size);

#endif
