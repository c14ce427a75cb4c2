/* SPDX-License-Identifier: BSD-3-Clause */
#include "filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int may_kill;

/* Whether there is a filter. Where the line is not read it may be behind what was. */
static int is_filtered(void)
{
	const int fd = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
	char text[4096];
	const char *mode;
	ssize_t size;

	if (fd < 0)
		return 0;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[size > 0 ? size : 0] = '\0';
	mode = strstr(text, "\nSeccomp:");
	if (!mode)
		return size == (ssize_t)sizeof(text) - 1;
	return strtol(mode + strlen("\nSeccomp:"), NULL, 10) == SECCOMP_MODE_FILTER;
}

/* A first child would be the init of a namespace that the program made for its own. */
static int is_first_child_special(void)
{
	char own[64] = "", children[64] = "";
	const size_t size = sizeof(own) - 1;

	if (readlink("/proc/self/ns/pid", own, size) < 0 ||
	    readlink("/proc/self/ns/pid_for_children", children, size) < 0)
		return 1;
	return strcmp(own, children) != 0;
}

/*
 * The child is a process that the program does not see: it sends no signal when it ends,
 * is not found by who waits for children, and runs no handler of forks or signals.
 */
static int does_child_die(void)
{
	sigset_t all, kept;
	pid_t child, ended;
	int status = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &kept);
	child = (pid_t)syscall(SYS_clone, 0UL, NULL, NULL, NULL, 0UL);
	if (child == 0) {
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* no core */
		syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0UL);
		syscall(SYS_exit_group, 0);
	}
	do {
		ended = child > 0 ? waitpid(child, &status, __WCLONE) : -1;
	} while (ended < 0 && child > 0 && errno == EINTR);
	pthread_sigmask(SIG_SETMASK, &kept, NULL);
	return ended < 0 || !WIFEXITED(status);
}

void perf_filter_look(void)
{
	may_kill = is_filtered() && (is_first_child_special() || does_child_die());
}

int perf_filter_may_kill(void)
{
	return may_kill;
}
