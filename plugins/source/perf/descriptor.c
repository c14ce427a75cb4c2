/* SPDX-License-Identifier: BSD-3-Clause */
#include "descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filter.h"

#define NUMBER_LEAST 512u /* or half of what is allowed */

/*
 * Moves it to a high number. Where all of them are taken it stays, unless it would be the
 * program's standard input, output or errors: -1 then, with EMFILE.
 */
static int move_up(int fd)
{
	struct rlimit limit = {2 * NUMBER_LEAST, 0};
	int least = NUMBER_LEAST, moved;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 2 < NUMBER_LEAST)
		least = (int)(limit.rlim_cur / 2);
	moved = fcntl(fd, F_DUPFD_CLOEXEC, least);
	if (moved < 0 && fd > STDERR_FILENO)
		return fd;
	close(fd);
	if (moved < 0)
		errno = EMFILE;
	return moved;
}

/* ---- Files ---- */

static int is_ours(const struct perf_file *file)
{
	struct stat now;

	return file->fd > 0 && fstat(file->fd, &now) == 0 && now.st_dev == file->device &&
	       now.st_ino == file->inode;
}

int perf_file_open(struct perf_file *file, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat opened;

	*file = (struct perf_file){.fd = 0};
	if (fd >= 0)
		fd = move_up(fd);
	if (fd < 0)
		return errno;
	if (fstat(fd, &opened) != 0) {
		const int number = errno;

		close(fd);
		return number;
	}
	*file = (struct perf_file){fd, opened.st_dev, opened.st_ino};
	return 0;
}

ssize_t perf_file_read(const struct perf_file *file, char *text, size_t size)
{
	const ssize_t got = is_ours(file) ? pread(file->fd, text, size - 1, 0) : -1;

	text[got > 0 ? got : 0] = '\0';
	return got;
}

void perf_file_close(struct perf_file *file)
{
	if (is_ours(file))
		close(file->fd);
	*file = (struct perf_file){.fd = 0};
}

/* ---- Events ---- */

static int is_our_event(const struct perf_event *event)
{
	uint64_t id = 0;

	return event->fd > 0 && ioctl(event->fd, PERF_EVENT_IOC_ID, &id) == 0 &&
	       id == event->id;
}

int perf_event_open(struct perf_event *event, struct perf_event_attr *attr, pid_t tid,
		    int cpu, const struct perf_event *group)
{
	int fd, number;

	attr->size = sizeof(*attr);
	*event = (struct perf_event){.fd = 0};
	if (perf_filter_may_kill())
		return PERF_EVENT_KILLS;
	fd = (int)syscall(SYS_perf_event_open, attr, tid, cpu, group ? group->fd : -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		fd = move_up(fd);
	if (fd < 0)
		return errno;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &event->id) == 0) {
		event->fd = fd;
		return 0;
	}
	/* Without its number it could not be told from a file of the program's. */
	number = errno;
	close(fd);
	return number;
}

ssize_t perf_event_read(const struct perf_event *event, void *out, size_t size)
{
	return is_our_event(event) ? read(event->fd, out, size) : -1;
}

void perf_event_close(struct perf_event *event)
{
	if (is_our_event(event))
		close(event->fd);
	*event = (struct perf_event){.fd = 0};
}
