/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a program as a container without rights would:
 *
 *     forbid events ERRNO PROG ARGS    perf_event_open fails so; 0: it kills
 *     forbid files N PROG ARGS         no descriptor beyond the N-th
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int forbid_events(unsigned number)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K,
			 number ? SECCOMP_RET_ERRNO | (number & SECCOMP_RET_DATA)
				: SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(steps) / sizeof(steps[0]), steps};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int forbid_files(unsigned count)
{
	const struct rlimit limit = {count, count};

	return setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
	unsigned number;
	int failed = 1;

	if (argc < 4)
		return 99;
	number = (unsigned)strtoul(argv[2], NULL, 10);
	if (strcmp(argv[1], "events") == 0)
		failed = forbid_events(number);
	else if (strcmp(argv[1], "files") == 0)
		failed = forbid_files(number);
	if (failed) {
		fprintf(stderr, "forbid: %s: %s\n", argv[1], strerror(errno));
		return 99;
	}
	execvp(argv[3], argv + 3);
	fprintf(stderr, "forbid: %s: %s\n", argv[3], strerror(errno));
	return 99;
}
