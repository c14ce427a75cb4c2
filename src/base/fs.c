/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/fs.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "base/error.h"

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

int32_t ky_private_dir(char *out, size_t size, struct kymo_error *error)
{
	const char *const parents[] = {ky_env_get("XDG_RUNTIME_DIR"),
				       ky_env_get("TMPDIR"), "/tmp"};
	int number = ENOENT;

	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		if (!parents[i] || parents[i][0] != '/')
			continue;
		if ((size_t)snprintf(out, size, "%s/kymo-XXXXXX", parents[i]) >= size)
			continue;
		if (mkdtemp(out)) /* mode 0700 */
			return KYMO_OK;
		number = errno;
	}
	out[0] = '\0';
	return ky_error_set_errno(error, number,
				  "cannot make a private directory in XDG_RUNTIME_DIR, "
				  "TMPDIR or /tmp");
}

int32_t ky_object_path(const void *address, char *out, size_t size)
{
	char resolved[PATH_MAX];
	Dl_info info;

	if (!dladdr(address, &info) || !info.dli_fname)
		return KYMO_ERROR_NOT_FOUND;
	if (!realpath(info.dli_fname, resolved))
		return ky_status_from_errno(errno);
	if ((size_t)snprintf(out, size, "%s", resolved) >= size)
		return KYMO_ERROR_NO_MEMORY;
	return KYMO_OK;
}
