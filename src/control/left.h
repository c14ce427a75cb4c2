/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that a recording leaves behind, and that it knows nothing of. */
#ifndef KYMO_CONTROL_LEFT_H
#define KYMO_CONTROL_LEFT_H

#include <stddef.h>
#include <sys/types.h>

struct ky_left {
	size_t count;
	pid_t pid;     /* of one of them */
	char name[32]; /* its name, as it stands; "" where it has just ended */
};

/*
 * Those that may be looked at whose environment has the recorder's socket at `path`: they
 * were started by the program, and have reached nothing to record before it was over.
 */
void ky_left_find(const char *path, struct ky_left *out);

/* For people; "" where there is none. */
void ky_left_describe(const struct ky_left *left, char *out, size_t size);

#endif
