/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/process.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc_stat.h"

/* Since Linux 6.5; older C libraries do not know it. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

int ky_pidfd_open(pid_t pid)
{
	long fd = syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : (int)fd;
}

int ky_pidfd_of_peer(int socket_fd, pid_t pid)
{
	socklen_t size = sizeof(int);
	int fd;

	/* No window in which the number could pass to another process. */
	if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERPIDFD, &fd, &size) == 0)
		return fd;
	return ky_pidfd_open(pid);
}

int ky_pidfd_ended(int pidfd)
{
	struct pollfd poll_fd = {.fd = pidfd, .events = POLLIN};

	return poll(&poll_fd, 1, 0) > 0;
}

/* Of the process, as we see it; 0 or less: none. */
static pid_t pid_of(int pidfd)
{
	char name[32], path[KY_PROC_PATH_SIZE], text[512];
	const char *line;

	snprintf(name, sizeof(name), "fdinfo/%d", pidfd);
	if (ky_read_small(ky_proc_path(path, getpid(), name), text, sizeof(text)) <= 0)
		return 0;
	line = strstr(text, "\nPid:");
	return line ? (pid_t)strtol(line + strlen("\nPid:"), NULL, 10) : 0;
}

/* Of a line of maps: "FROM-TO RIGHTS OFFSET DEVICE INODE PATH". */
static ino_t inode_of(const char *line)
{
	for (int word = 0; word < 4; word++) {
		line += strcspn(line, " ");
		line += strspn(line, " ");
	}
	return strtoul(line, NULL, 10);
}

int ky_pidfd_has_memory(int pidfd, ino_t inode)
{
	const pid_t pid = pid_of(pidfd);
	char path[KY_PROC_PATH_SIZE], line[512];
	int result = -1; /* where the first thread has ended there is no line */
	FILE *file;

	if (pid <= 0)
		return -1;
	file = fopen(ky_proc_path(path, pid, "maps"), "re");
	while (file && result != 1 && fgets(line, sizeof(line), file))
		result = strstr(line, "/memfd:") && inode_of(line) == inode;
	if (file)
		fclose(file);
	return result;
}

void ky_close_from(int first)
{
	struct rlimit limit = {.rlim_cur = 1024};

#ifdef SYS_close_range
	if (syscall(SYS_close_range, (unsigned int)first, UINT_MAX, 0) == 0)
		return;
#endif
	/* Linux before 5.9. */
	getrlimit(RLIMIT_NOFILE, &limit);
	for (int fd = first; fd >= 0 && (rlim_t)fd < limit.rlim_cur; fd++)
		close(fd);
}
