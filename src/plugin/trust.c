/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks from the file up to the root. A set-uid program that loaded a plug-in which its
 * caller can write, or whose folder its caller can rename, would hand over its privilege.
 */
#include "plugin/trust.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"

static int is_trusted(const struct stat *info, uid_t owner)
{
	if (info->st_uid != 0 && info->st_uid != owner)
		return 0;
	if (!(info->st_mode & (S_IWGRP | S_IWOTH)))
		return 1;
	/* In a sticky folder nobody renames or removes what belongs to others. */
	return S_ISDIR(info->st_mode) && info->st_uid == 0 && (info->st_mode & S_ISVTX);
}

int32_t ky_trust_check(const char *path, uid_t owner, struct kymo_error *error)
{
	char part[PATH_MAX];
	struct stat info;
	char *slash;

	if ((size_t)snprintf(part, sizeof(part), "%s", path) >= sizeof(part))
		return ky_error_set(error, KYMO_ERROR_INVALID, "the path is too long");
	for (;;) {
		if (lstat(part, &info) != 0)
			return ky_error_set_errno(error, errno, "cannot look at %s",
						  part);
		if (!is_trusted(&info, owner))
			return ky_error_set(error, KYMO_ERROR_PERMISSION,
					    "others than root can write %s, so this "
					    "privileged process does not load from it",
					    part);
		if (strcmp(part, "/") == 0)
			return KYMO_OK;
		slash = strrchr(part, '/');
		slash[slash == part] = '\0';
	}
}
