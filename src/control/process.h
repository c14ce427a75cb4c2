/* SPDX-License-Identifier: BSD-3-Clause */
/* What the system says about a process, and a handle on it that cannot be reused. */
#ifndef KYMO_CONTROL_PROCESS_H
#define KYMO_CONTROL_PROCESS_H

#include <sys/types.h>

#include <kymo/base.h>

struct ky_process {
	uint64_t start_time;      /* clock ticks since boot */
	uint32_t forked_not_exec; /* 1: it runs the image of the process that forked it */
};

/*
 * Reads it of a process of this namespace, 0: the calling one. 0 or an errno. System
 * calls only, no allocation, no stdio.
 */
int ky_process_read(pid_t pid, struct ky_process *out);

/* A pidfd (close-on-exec), or -errno; readable once the process, all of it, has ended. */
int ky_pidfd_open(pid_t pid);
/* The same of the process that connected this socket. */
int ky_pidfd_of_peer(int socket_fd, pid_t pid);
/* 0 or an errno. */
int ky_pidfd_signal(int pidfd, int signal_number);
/* 1 if the process has ended. */
int ky_pidfd_ended(int pidfd);

/* Closes every descriptor of this process from `first` on. */
void ky_close_from(int first);

#endif
