/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A file that gets its name when it is whole: until then it has none, where the file
 * system can do that, so that nothing is left behind however the command ends.
 */
#ifndef KYMO_CLI_PLACE_H
#define KYMO_CLI_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

struct ky_place {
	int fd;          /* to write to; -1: none */
	char *target;    /* links followed */
	char *temporary; /* NULL: the file has no name */
	bool overwrite;
};

/*
 * 0, or an errno: EEXIST where the target is there and not to be replaced, EDEADLK where
 * it is `kept`, which never is. Only a regular file is replaced; its mode stays.
 */
int ky_place_open(struct ky_place *place, const char *target, bool overwrite,
		  const struct stat *kept);

/* Puts the file in place, on disk: 0, or an errno and nothing is replaced. */
int ky_place_commit(struct ky_place *place);

/* After any of these, whatever came of it. */
void ky_place_close(struct ky_place *place);

#endif
