/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ways to put the file in place without a race against another that takes its name:
 * renameat2(RENAME_NOREPLACE), and where the file system can't (NFS), link(), which never
 * replaces, then unlink() of the temporary name. A file without a name (O_TMPFILE) gets a
 * temporary one just before, since linking can't replace a file.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fault.h"

#define TEMPORARY_TRIES 1000

static int32_t fail(struct ky_file *file, int number, const char *verb)
{
	return ky_fault_set_errno(&file->error, number, verb, file->name);
}

/* ---- Writing ---- */

/*
 * write(), but a pipe whose reader has gone is an error like any other: the process,
 * which may be anybody's, is not to be killed by SIGPIPE for a trace that nobody wants.
 */
static ssize_t write_quietly(int fd, const void *data, size_t size)
{
	static const struct timespec now;
	sigset_t pipe, before, pending;
	ssize_t written;
	int number;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	written = write(fd, data, size);
	number = errno;
	/* It also comes with the part that was written before the reader left. */
	if (written != (ssize_t)size && !sigismember(&pending, SIGPIPE))
		(void)sigtimedwait(&pipe, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = number;
	return written;
}

static int32_t write_all(void *context, const void *data, size_t size)
{
	struct ky_file *file = context;
	const char *from = data;

	while (size > 0) {
		ssize_t written = file->is_direct ? write_quietly(file->fd, from, size)
						  : write(file->fd, from, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return fail(file, errno, "write");
		from += written;
		size -= (size_t)written;
		file->bytes += (uint64_t)written;
	}
	return KYMO_OK;
}

/* A failure that was none of writing has left no reason yet. */
static int32_t compressed(struct ky_file *file, int32_t status)
{
	if (status != KYMO_OK && file->error.status == KYMO_OK)
		ky_fault_set(&file->error, status,
			     "cannot compress \"%s\": zlib has refused to", file->name);
	return status;
}

int32_t ky_file_write(void *context, const char *data, size_t size)
{
	struct ky_file *file = context;

	return file->gzip ? compressed(file, ky_gzip_write(file->gzip, data, size))
			  : write_all(file, data, size);
}

/* ---- Names ---- */

/*
 * In the target's folder, since a rename can't cross file systems; hidden, so that no
 * pattern like *.json takes an unfinished one for a trace. `make` makes the file under
 * the name that it gets.
 */
static int name_temporary(struct ky_file *file,
			  int (*make)(struct ky_file *file, const char *name))
{
	const char *slash = strrchr(file->target, '/');
	const int folder = slash ? (int)(slash - file->target) + 1 : 0;
	int number = EEXIST, i;

	for (i = 0; i < TEMPORARY_TRIES && number == EEXIST; i++) {
		char *name;

		if (asprintf(&name, "%.*s.kymo-trace-%ld-%d.tmp", folder, file->target,
			     (long)getpid(), i) < 0)
			return ENOMEM;
		number = make(file, name);
		if (number == 0)
			file->temporary = name;
		else
			free(name);
	}
	return number;
}

static int create_named(struct ky_file *file, const char *name)
{
	file->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return file->fd < 0 ? errno : 0;
}

/* Where /proc shows the file to name it by. */
static const char *own_path(const struct ky_file *file, char *out, size_t size)
{
	snprintf(out, size, "/proc/self/fd/%d", file->fd);
	return out;
}

static int link_nameless(struct ky_file *file, const char *name)
{
	char path[32];

	return linkat(AT_FDCWD, own_path(file, path, sizeof(path)), AT_FDCWD, name,
		      AT_SYMLINK_FOLLOW) == 0
		       ? 0
		       : errno;
}

/* The folder that a path is in, which the caller frees; NULL when memory is out. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
}

/* False, and nothing open, where that can't be. */
static bool create_nameless(struct ky_file *file)
{
	char *folder = folder_of(file->target), path[32];

	file->fd = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
	free(folder);
	if (file->fd < 0)
		return false;
	if (access(own_path(file, path, sizeof(path)), F_OK) == 0)
		return true;
	close(file->fd);
	file->fd = -1;
	return false;
}

static int create_temporary(struct ky_file *file)
{
	return create_nameless(file) ? 0 : name_temporary(file, create_named);
}

/* ---- Putting in place ---- */

static int32_t link_in_place(struct ky_file *file)
{
	if (link(file->temporary, file->target) != 0)
		return fail(file, errno, "create");
	unlink(file->temporary);
	return KYMO_OK;
}

static int32_t put_in_place(struct ky_file *file)
{
	if (file->overwrite) {
		if (rename(file->temporary, file->target) != 0)
			return fail(file, errno, "create");
		return KYMO_OK;
	}
	if (renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->target,
		      RENAME_NOREPLACE) == 0)
		return KYMO_OK;
	if (errno == EINVAL || errno == ENOSYS || errno == ENOTSUP)
		return link_in_place(file);
	return fail(file, errno, "create");
}

/* So that the name, too, survives a power cut. Some file systems can't: then it is so. */
static void sync_folder(const char *target)
{
	char *folder = folder_of(target);
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		(void)fsync(fd);
		close(fd);
	}
	free(folder);
}

static int32_t finish_writing(struct ky_file *file)
{
	int32_t status =
		file->gzip ? compressed(file, ky_gzip_finish(file->gzip)) : KYMO_OK;
	int fd = file->fd, number = 0;

	if (status != KYMO_OK)
		return status;
	if (!file->is_direct && fsync(fd) != 0)
		return fail(file, errno, "write");
	if (!file->is_direct && !file->temporary)
		number = name_temporary(file, link_nameless);
	if (number != 0)
		return fail(file, number, "create");
	file->fd = -1;
	if (close(fd) != 0 && errno != EINTR) /* NFS reports a full disk here */
		return fail(file, errno, "write");
	return KYMO_OK;
}

int32_t ky_file_commit(struct ky_file *file, struct kymo_error *error)
{
	int32_t status = finish_writing(file);

	if (status == KYMO_OK && !file->is_direct)
		status = put_in_place(file);
	if (status != KYMO_OK) {
		if (error)
			*error = file->error;
		return status;
	}
	if (!file->is_direct)
		sync_folder(file->target);
	free(file->temporary);
	file->temporary = NULL; /* it has another name now */
	return KYMO_OK;
}

/* ---- Opening ---- */

void ky_file_discard(struct ky_file *file)
{
	ky_gzip_destroy(file->gzip);     /* its threads write to the file */
	if (file->fd >= 0 && file->name) /* else it is zeroed memory */
		close(file->fd);
	if (file->temporary)
		unlink(file->temporary);
	free(file->temporary);
	free(file->target);
	free(file->name);
	memset(file, 0, sizeof(*file));
	file->fd = -1;
}

static char *copy_path(struct kymo_str path)
{
	if (path.size == 0 || path.size >= PATH_MAX || memchr(path.data, '\0', path.size))
		return NULL;
	return strndup(path.data, path.size);
}

/* Follows links, so that what they point to is replaced and not they. */
static int resolve_target(struct ky_file *file)
{
	char *resolved = realpath(file->target, NULL);

	if (!resolved)
		return errno;
	free(file->target);
	file->target = resolved;
	return 0;
}

static int open_existing(struct ky_file *file, const struct stat *found)
{
	int number;

	if (S_ISDIR(found->st_mode))
		return EISDIR;
	if (!S_ISREG(found->st_mode)) {
		file->is_direct = true;
		file->fd = open(file->target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return file->fd < 0 ? errno : 0;
	}
	if (!file->overwrite)
		return EEXIST;
	number = resolve_target(file);
	if (number == 0)
		number = create_temporary(file);
	/* Who could not read the old one shall not read the new one. */
	if (number == 0 && fchmod(file->fd, found->st_mode & 0777) != 0)
		number = errno;
	return number;
}

static int open_target(struct ky_file *file)
{
	struct stat found;

	if (stat(file->target, &found) == 0)
		return open_existing(file, &found);
	if (errno != ENOENT)
		return errno;
	/* A link to nothing is a name that is taken as well. */
	if (!file->overwrite && lstat(file->target, &found) == 0)
		return EEXIST;
	return create_temporary(file);
}

int32_t ky_file_open(struct ky_file *file, struct kymo_str path, bool overwrite,
		     struct kymo_error *error)
{
	const bool is_compressed =
		path.size >= 3 && strncasecmp(path.data + path.size - 3, ".gz", 3) == 0;
	int32_t status;
	int number;

	memset(file, 0, sizeof(*file));
	file->fd = -1;
	file->overwrite = overwrite;
	file->name = copy_path(path);
	if (!file->name)
		return ky_fault_set(error, KYMO_ERROR_INVALID,
				    "cannot write to \"%.*s\": not the name of a file",
				    (int)(path.size < 200 ? path.size : 200),
				    path.data ? path.data : "");
	if (is_compressed)
		file->gzip = ky_gzip_create(KY_GZIP_THREADS, write_all, file);
	if (is_compressed && !file->gzip) {
		status = ky_fault_set(error, KYMO_ERROR_NO_MEMORY,
				      "cannot write \"%s\": out of memory", file->name);
		goto fail;
	}
	file->target = strdup(file->name);
	number = file->target ? open_target(file) : ENOMEM;
	if (number == 0)
		return KYMO_OK;
	status = ky_fault_set_errno(error, number, "create", file->name);
fail:
	ky_file_discard(file);
	return status;
}
