/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/process.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

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
