/* SPDX-License-Identifier: BSD-3-Clause */
/* How a keeper comes to be: forked from the front, of which nothing is left in it. */
#include "control/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "control/process.h"

/* Leaves the front's terminal, descriptors and signals behind. */
static void become_keeper(int socket_fd)
{
	int null_fd;

	/* First, and in place of others: there may be no descriptor left. */
	dup2(socket_fd, KY_KEEPER_FRONT_FD);
	ky_close_from(KY_KEEPER_FRONT_FD + 1);
	/* The caller may have had standard descriptors closed. */
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd < KY_KEEPER_FRONT_FD && null_fd >= 0; fd++)
		dup2(null_fd, fd);
	if (null_fd > KY_KEEPER_FRONT_FD)
		close(null_fd);
	setsid();
	prctl(PR_SET_NAME, "kymo-keeper", 0, 0, 0);
	signal(SIGPIPE, SIG_IGN);
}

int32_t ky_keeper_spawn(const struct ky_keeper_setup *setup, pid_t *pid, int *socket_fd,
			struct kymo_error *error)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return ky_error_set_errno(error, errno, "cannot make a socket");
	*pid = fork();
	if (*pid == 0) {
		become_keeper(pair[1]);
		ky_keeper_run(setup);
		_exit(0);
	}
	close(pair[1]);
	if (*pid < 0) {
		int number = errno;

		close(pair[0]);
		return ky_error_set_errno(error, number, "cannot make a process");
	}
	*socket_fd = pair[0];
	return KYMO_OK;
}
