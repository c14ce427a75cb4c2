/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting the program that is to be recorded. It is made in two steps, so that its pid
 * can stand in names and everything can be checked before anything of it has run.
 */
#ifndef KYMO_CONTROL_PROGRAM_H
#define KYMO_CONTROL_PROGRAM_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <kymo/base.h>

/* What of the caller we change while we record, and what the program shall have. */
struct ky_inheritance {
	sigset_t mask;
	sigset_t handled;       /* signals that had no handler, and have ours */
	struct sigaction child; /* of SIGCHLD */
	struct rlimit files, file_size;
};

/*
 * Blocks the signals that the front reads, has them come to this thread whoever takes
 * them, makes sure that ended children can be waited for, and raises the limits of
 * descriptors and of file sizes (memory in files has one) as far as may be; keeps what
 * was there.
 */
void ky_inheritance_take(struct ky_inheritance *out, sigset_t *signals);
void ky_inheritance_give_back(const struct ky_inheritance *inheritance);

struct ky_program {
	pid_t pid;           /* 0: none */
	int go_fd, error_fd; /* -1: closed */
};

/*
 * Makes the process, which waits. `arguments` and `variables` end with NULL. Undone by
 * ky_program_abandon, which a program that was started survives. Zero the object before.
 */
int32_t ky_program_prepare(struct ky_program *out, char *const *arguments,
			   char *const *variables,
			   const struct ky_inheritance *inheritance,
			   struct kymo_error *error);
void ky_program_abandon(struct ky_program *program);

/* Lets it go; 0 once the program runs, or the errno of the failed exec. */
int ky_program_start(struct ky_program *program);

/* Arguments with a NUL behind each, as in /proc/PID/cmdline; the caller's, or NULL. */
char *ky_program_join(char *const *arguments, size_t *size);

/* What a shell would give for what waitpid() said. */
int32_t ky_exit_status(int wait_status);

#endif
