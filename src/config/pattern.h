/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of outputs, given as patterns:
 *
 *     %p        pid of the recorded program
 *     %h        host
 *     %r        rank, as the launcher's environment says it
 *     %q{NAME}  a variable of the environment
 *     %t        start of the recording, as 20260131-142500
 *     %n        the first number from 1 of which there is no file yet
 *     %%        %
 *
 * What a field brings in stays one part of a file's name: '/' and control characters
 * become '_', and so do dots that it begins with. A field that has nothing to bring in is
 * an error, since names that lack it could be the same for many.
 */
#ifndef KYMO_CONFIG_PATTERN_H
#define KYMO_CONFIG_PATTERN_H

#include <sys/types.h>

#include <kymo/base.h>

struct ky_pattern_facts {
	const char *program; /* as it was called */
	pid_t pid;
	int64_t start_realtime_ns;
	uint32_t sequence; /* how many default names this process has had before */
	/* Whether a name with %n is to be had, beside that there is no such file; or
	 * NULL. It is called again where there is one. */
	int (*claim)(void *owner, const char *name);
	void *owner;
};

/* Whether it is a pattern; nothing is looked up. */
int32_t ky_pattern_check(const char *pattern, struct kymo_error *error);

/*
 * The name of the pattern. NULL is the default, which no other recording has, on whatever
 * host, in whatever container: kymo-PROGRAM-HOST-PID[-rRANK]-START.json.gz, START being
 * the nanoseconds since the epoch, followed by the sequence if that is not 0.
 */
int32_t ky_pattern_expand(const char *pattern, const struct ky_pattern_facts *facts,
			  char *out, size_t size, struct kymo_error *error);

#endif
