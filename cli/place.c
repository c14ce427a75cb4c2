/* SPDX-License-Identifier: BSD-3-Clause */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder that the target is in, with its slash; to be freed. */
static char *folder_of(const char *target)
{
	const char *slash = strrchr(target, '/');

	return slash ? strndup(target, (size_t)(slash + 1 - target)) : strdup("./");
}

/* Hidden, in the target's folder, since a rename can't cross file systems. */
static char *name_temporary(const char *target)
{
	char *folder = folder_of(target), *name;

	if (!folder || asprintf(&name, "%s.kymo-check-%d", folder, (int)getpid()) < 0)
		name = NULL;
	free(folder);
	return name;
}

/* False, and nothing open, where a file can't be without a name or be given one. */
static bool create_nameless(struct ky_place *place)
{
	char *folder = folder_of(place->target);

	place->fd = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
	free(folder);
	if (place->fd < 0)
		return false;
	if (access("/proc/self/fd", X_OK) == 0)
		return true;
	close(place->fd);
	place->fd = -1;
	return false;
}

static int create(struct ky_place *place)
{
	if (create_nameless(place))
		return 0;
	place->temporary = name_temporary(place->target);
	if (!place->temporary)
		return ENOMEM;
	place->fd = open(place->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (place->fd >= 0)
		return 0;
	free(place->temporary); /* another's */
	place->temporary = NULL;
	return errno;
}

static int link_as(const struct ky_place *place, const char *name)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", place->fd);
	return linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW) < 0 ? errno : 0;
}

/* A link never replaces. */
static int put_new(const struct ky_place *place)
{
	if (!place->temporary)
		return link_as(place, place->target);
	return link(place->temporary, place->target) < 0 ? errno : 0;
}

static int put_over(struct ky_place *place)
{
	int number = 0;

	if (!place->temporary) {
		place->temporary = name_temporary(place->target);
		number = place->temporary ? link_as(place, place->temporary) : ENOMEM;
	}
	if (number != 0) {
		free(place->temporary); /* not there, or another's */
		place->temporary = NULL;
		return number;
	}
	if (rename(place->temporary, place->target) < 0)
		return errno;
	free(place->temporary); /* it has another name now */
	place->temporary = NULL;
	return 0;
}

int ky_place_commit(struct ky_place *place)
{
	if (fsync(place->fd) < 0)
		return errno;
	return place->overwrite ? put_over(place) : put_new(place);
}

void ky_place_close(struct ky_place *place)
{
	if (place->fd >= 0)
		close(place->fd);
	if (place->temporary)
		unlink(place->temporary);
	free(place->temporary);
	free(place->target);
	*place = (struct ky_place){.fd = -1};
}

static int open_over(struct ky_place *place, const struct stat *found,
		     const struct stat *kept)
{
	char *followed;
	int number;

	if (found->st_dev == kept->st_dev && found->st_ino == kept->st_ino)
		return EDEADLK;
	if (!place->overwrite)
		return EEXIST;
	if (S_ISDIR(found->st_mode))
		return EISDIR;
	if (!S_ISREG(found->st_mode))
		return ENOTSUP;
	followed = realpath(place->target, NULL);
	if (!followed)
		return errno;
	free(place->target);
	place->target = followed;
	number = create(place);
	/* Who could not read the old one shall not read the new one. */
	if (number == 0 && fchmod(place->fd, found->st_mode & 0777) < 0)
		number = errno;
	return number;
}

int ky_place_open(struct ky_place *place, const char *target, bool overwrite,
		  const struct stat *kept)
{
	struct stat found;

	*place = (struct ky_place){.fd = -1, .overwrite = overwrite};
	place->target = strdup(target);
	if (!place->target)
		return ENOMEM;
	if (stat(target, &found) == 0)
		return open_over(place, &found, kept);
	/* A link to nothing is a name that is taken as well. */
	if (errno == ENOENT && lstat(target, &found) == 0 && !overwrite)
		return EEXIST;
	return errno == ENOENT ? create(place) : errno;
}
