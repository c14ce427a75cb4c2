/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets with descriptors over unix sockets. System calls only; nothing is allocated. */
#ifndef KYMO_CONTROL_CHANNEL_H
#define KYMO_CONTROL_CHANNEL_H

#include <sys/types.h>

#include <kymo/base.h>

/*
 * Sends one packet, with `fd` unless it is -1 (it stays the caller's). 0 or an errno;
 * EPIPE when nobody is left to read, never a signal.
 */
int ky_packet_send(int socket_fd, const void *data, size_t size, int fd);

/*
 * Receives one packet; its size, 0 at the end, or -errno. `*fd` is the descriptor that
 * came with it (close-on-exec, the caller's), or -1; more than one are closed. Bytes
 * beyond `size` are dropped.
 */
ssize_t ky_packet_receive(int socket_fd, void *data, size_t size, int *fd);

#endif
