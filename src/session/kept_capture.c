/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A name alone does not say whose a file is: containers that share a folder have
 * processes of one number, and who has moved a capture away may have another one there.
 */
#include "session/kept_capture.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
	char path[PATH_MAX]; /* "": none */
	struct stat found;   /* when it had been written */
} kept;

static int is_as_it_was(void)
{
	struct stat now;

	return lstat(kept.path, &now) == 0 && now.st_dev == kept.found.st_dev &&
	       now.st_ino == kept.found.st_ino &&
	       now.st_ctim.tv_sec == kept.found.st_ctim.tv_sec &&
	       now.st_ctim.tv_nsec == kept.found.st_ctim.tv_nsec;
}

void ky_kept_capture_replace(const char *path)
{
	/* One that has its name was made when it was gone. */
	if (kept.path[0] && strcmp(kept.path, path) != 0 && is_as_it_was())
		unlink(kept.path);
	snprintf(kept.path, sizeof(kept.path), "%s", path);
	if (lstat(path, &kept.found) != 0)
		ky_kept_capture_forget();
}

void ky_kept_capture_forget(void)
{
	kept.path[0] = '\0';
}
