/* SPDX-License-Identifier: BSD-3-Clause */
/* A handle on a process that cannot be reused. */
#ifndef KYMO_CONTROL_PROCESS_H
#define KYMO_CONTROL_PROCESS_H

#include <sys/types.h>

/* A pidfd (close-on-exec), or -errno; readable once the process, all of it, has ended. */
int ky_pidfd_open(pid_t pid);
/* The same of the process that connected this socket. */
int ky_pidfd_of_peer(int socket_fd, pid_t pid);
/* 1 if the process has ended. */
int ky_pidfd_ended(int pidfd);

/*
 * 1 if it has memory of that inode mapped, which exec ends; 0 if not, and -1 if it cannot
 * be told.
 */
int ky_pidfd_has_memory(int pidfd, ino_t inode);

/* Closes every descriptor of this process from `first` on. */
void ky_close_from(int first);

#endif
