/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ways to put the file in place without a race against another that takes its name:
 * renameat2(RENAME_NOREPLACE), and where the file system can't (NFS), link(), which never
 * replaces, then unlink() of the temporary name.
 *
 * O_TMPFILE would leave nothing behind after a kill, but can't replace a file; the name
 * of a temporary says whose it was, so that it can be recognised and removed.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault.h"

#define PACKED_SIZE     (128u << 10)
#define TEMPORARY_TRIES 1000

/*
 * Measured on a trace of kernels and calls, MB of JSON per second and ratio: level 1
 * gives 338 and 7.2, level 2 342 and 7.5, level 3 289 and 7.7, level 6 129 and 9.1.
 */
#define DEFLATE_LEVEL  2
#define DEFLATE_MEMORY 8         /* zlib's default; 9 is slower and no smaller here */
#define GZIP_WINDOW    (15 + 16) /* the largest window, in a gzip member */

static int32_t fail(struct ky_file *file, int number, const char *verb)
{
	return ky_fault_set_errno(&file->error, number, verb, file->name);
}

/* ---- Writing ---- */

static int32_t write_all(struct ky_file *file, const void *data, size_t size)
{
	const char *from = data;

	while (size > 0) {
		ssize_t written = write(file->fd, from, size);

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

/* Feeds `size` bytes through the stream, with Z_FINISH to its end. */
static int32_t pack(struct ky_file *file, const char *data, size_t size, int flush)
{
	z_stream *stream = &file->stream;
	int result;

	stream->next_in = (const Bytef *)data;
	stream->avail_in = (uInt)size;
	do {
		size_t used;
		int32_t status;

		stream->next_out = file->packed;
		stream->avail_out = PACKED_SIZE;
		result = deflate(stream, flush);
		if (result == Z_STREAM_ERROR)
			return ky_fault_set(
				&file->error, KYMO_ERROR_IO,
				"cannot compress \"%s\": the stream is broken",
				file->name);
		used = PACKED_SIZE - stream->avail_out;
		status = write_all(file, file->packed, used);
		if (status != KYMO_OK)
			return status;
	} while (stream->avail_out == 0);
	return KYMO_OK;
}

int32_t ky_file_write(void *context, const char *data, size_t size)
{
	struct ky_file *file = context;

	if (!file->compressed)
		return write_all(file, data, size);
	while (size > 0) {
		size_t piece = size < UINT_MAX ? size : UINT_MAX;
		int32_t status = pack(file, data, piece, Z_NO_FLUSH);

		if (status != KYMO_OK)
			return status;
		data += piece;
		size -= piece;
	}
	return KYMO_OK;
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
	const char *slash = strrchr(target, '/');
	char *folder =
		slash ? strndup(target, (size_t)(slash - target) + 1) : strdup(".");
	int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		(void)fsync(fd);
		close(fd);
	}
	free(folder);
}

static int32_t finish_writing(struct ky_file *file)
{
	int fd = file->fd;

	if (file->compressed) {
		int32_t status = pack(file, NULL, 0, Z_FINISH);

		if (status != KYMO_OK)
			return status;
	}
	if (file->temporary && fsync(fd) != 0)
		return fail(file, errno, "write");
	file->fd = -1;
	if (close(fd) != 0 && errno != EINTR) /* NFS reports a full disk here */
		return fail(file, errno, "write");
	return KYMO_OK;
}

int32_t ky_file_commit(struct ky_file *file, struct kymo_error *error)
{
	int32_t status = finish_writing(file);

	if (status == KYMO_OK && file->temporary)
		status = put_in_place(file);
	if (status != KYMO_OK) {
		if (error)
			*error = file->error;
		return status;
	}
	if (file->temporary)
		sync_folder(file->target);
	free(file->temporary);
	file->temporary = NULL; /* it has another name now */
	return KYMO_OK;
}

/* ---- Opening ---- */

void ky_file_discard(struct ky_file *file)
{
	if (file->deflating)
		deflateEnd(&file->stream);
	if (file->fd >= 0 && file->name) /* else it is zeroed memory */
		close(file->fd);
	if (file->temporary)
		unlink(file->temporary);
	free(file->packed);
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

/*
 * In the target's folder, since a rename can't cross file systems; hidden, so that no
 * pattern like *.json takes an unfinished one for a trace.
 */
static int create_temporary(struct ky_file *file)
{
	const char *slash = strrchr(file->target, '/');
	const int folder = slash ? (int)(slash - file->target) + 1 : 0;
	int i;

	for (i = 0; i < TEMPORARY_TRIES; i++) {
		char *name;

		if (asprintf(&name, "%.*s.kymo-trace-%ld-%d.tmp", folder, file->target,
			     (long)getpid(), i) < 0)
			return ENOMEM;
		file->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (file->fd >= 0) {
			file->temporary = name;
			return 0;
		}
		free(name);
		if (errno != EEXIST)
			break;
	}
	return errno;
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

static bool start_deflating(struct ky_file *file)
{
	file->packed = malloc(PACKED_SIZE);
	file->deflating =
		file->packed &&
		deflateInit2(&file->stream, DEFLATE_LEVEL, Z_DEFLATED, GZIP_WINDOW,
			     DEFLATE_MEMORY, Z_DEFAULT_STRATEGY) == Z_OK;
	return file->deflating;
}

int32_t ky_file_open(struct ky_file *file, struct kymo_str path, bool overwrite,
		     struct kymo_error *error)
{
	int32_t status;
	int number;

	memset(file, 0, sizeof(*file));
	file->fd = -1;
	file->overwrite = overwrite;
	file->compressed =
		path.size >= 3 && memcmp(path.data + path.size - 3, ".gz", 3) == 0;
	file->name = copy_path(path);
	if (!file->name)
		return ky_fault_set(error, KYMO_ERROR_INVALID,
				    "cannot write to \"%.*s\": not the name of a file",
				    (int)(path.size < 200 ? path.size : 200),
				    path.data ? path.data : "");
	if (file->compressed && !start_deflating(file)) {
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
