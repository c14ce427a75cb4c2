/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int ky_write_all(int fd, const void *data, size_t size)
{
	const char *bytes = data;

	while (size > 0) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

int ky_pread_all(int fd, void *data, size_t size, uint64_t offset, size_t *got)
{
	char *bytes = data;

	*got = 0;
	while (*got < size) {
		ssize_t n = pread(fd, bytes + *got, size - *got, (off_t)(offset + *got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			break;
		*got += (size_t)n;
	}
	return 0;
}

int ky_move_file(const char *from, const char *to, int overwrite)
{
	if (overwrite)
		return rename(from, to) < 0 ? errno : 0;
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	/* Old systems and some file systems do not know the flag; link never replaces. */
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	if (link(from, to) < 0)
		return errno;
	/* The target is whole; an old name that stays is no harm. */
	unlink(from);
	return 0;
}

int ky_path_beside(const char *path, const char *tail, char *out, size_t size)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	int written = snprintf(out, size, "%.*s.%.*s%s", (int)(name - path), path,
			       (int)(NAME_MAX - strlen(tail) - 1), name, tail);

	return written >= 0 && (size_t)written < size;
}

int ky_open_nameless(const char *folder)
{
	char path[PATH_MAX];
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	/* Not every file system has O_TMPFILE. */
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return -errno;
	if ((size_t)snprintf(path, sizeof(path), "%s/.kymo-XXXXXX", folder) >=
	    sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

ssize_t ky_read_small(const char *path, char *buffer, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t got = 0;
	int number = 0;

	buffer[0] = '\0';
	if (fd < 0)
		return -errno;
	while (got < size - 1) {
		ssize_t n = read(fd, buffer + got, size - 1 - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			number = errno;
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	close(fd);
	buffer[got] = '\0';
	return number ? -number : (ssize_t)got;
}
