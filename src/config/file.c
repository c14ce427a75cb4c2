/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "config/text.h"

static int64_t modified_ns(const struct stat *found)
{
	return (int64_t)found->st_mtim.tv_sec * 1000000000 + found->st_mtim.tv_nsec;
}

/* All that can be read, in memory of its own; 0 or an errno, EFBIG if it is too much. */
static int read_all(int fd, struct kymo_str *out)
{
	size_t room = 4096, size = 0;
	char *data = malloc(room);
	int number = data ? 0 : ENOMEM;

	while (!number) {
		ssize_t got = read(fd, data + size, room - size);
		char *grown;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			number = errno;
		if (got <= 0)
			break;
		size += (size_t)got;
		if (size < room)
			continue;
		if (size > KY_TEXT_MAX) {
			number = EFBIG;
			break;
		}
		room *= 2;
		grown = realloc(data, room);
		if (grown)
			data = grown;
		else
			number = ENOMEM;
	}
	if (!number && size > KY_TEXT_MAX)
		number = EFBIG;
	if (number) {
		free(data);
		return number;
	}
	*out = (struct kymo_str){data, size};
	return 0;
}

/* What is no file yet, as a pipe that nobody writes into, must not make us wait. */
static int open_at_once(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0)
		fcntl(fd, F_SETFL, O_RDONLY);
	return fd;
}

void ky_config_file_fini(struct ky_config_file *file)
{
	free(file->path);
	*file = (struct ky_config_file){0};
}

int32_t ky_config_file_read(const char *path, struct ky_config_file *file,
			    struct kymo_str *text, struct kymo_error *error)
{
	struct stat found = {0};
	int fd, number;

	*text = (struct kymo_str){NULL, 0};
	*file = (struct ky_config_file){.path = strdup(path)};
	if (!file->path)
		return ky_error_no_memory(error);
	fd = open_at_once(path);
	number = fd < 0 || fstat(fd, &found) < 0 ? errno : 0;
	if (!number) {
		/* Before it is read: what changes meanwhile is a change. */
		file->is_there = 1;
		file->device = found.st_dev;
		file->inode = found.st_ino;
		file->size = found.st_size;
		file->modified_ns = modified_ns(&found);
		number = read_all(fd, text);
	}
	if (fd >= 0)
		close(fd);
	if (number == EFBIG)
		return ky_error_set(error, KYMO_ERROR_CONFIG,
				    "the configuration %s is too long: %u MiB are "
				    "allowed",
				    path, KY_TEXT_MAX >> 20);
	if (number)
		return ky_error_set_errno(error, number,
					  "cannot read the configuration %s", path);
	return KYMO_OK;
}

int ky_config_file_has_changed(const struct ky_config_file *file)
{
	struct stat found;

	if (stat(file->path, &found) != 0)
		return file->is_there;
	return !file->is_there || found.st_dev != file->device ||
	       found.st_ino != file->inode || found.st_size != file->size ||
	       modified_ns(&found) != file->modified_ns;
}
