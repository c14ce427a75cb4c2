/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control_buffer {
	struct cmsghdr align;
	/* Room for more than is due, so that whatever comes can be closed. */
	char bytes[CMSG_SPACE(8 * sizeof(int))];
};

static void take_descriptors(const struct cmsghdr *control, int *fd)
{
	size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);

	for (size_t i = 0; i < count; i++) {
		int received;

		memcpy(&received, CMSG_DATA(control) + i * sizeof(int), sizeof(int));
		if (*fd < 0)
			*fd = received;
		else
			close(received);
	}
}

int ky_packet_send(int socket_fd, const void *data, size_t size, int fd)
{
	struct iovec part = {.iov_base = (void *)(uintptr_t)data, .iov_len = size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	union control_buffer control;
	ssize_t sent;

	if (fd >= 0) {
		struct cmsghdr *rights = &control.align;

		memset(&control, 0, sizeof(control));
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(sizeof(int));
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(rights), &fd, sizeof(int));
	}
	do {
		sent = sendmsg(socket_fd, &message, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	/* A packet goes whole or not at all. */
	return sent < 0 ? errno : 0;
}

ssize_t ky_packet_receive(int socket_fd, void *data, size_t size, int *fd)
{
	struct iovec part = {.iov_base = data, .iov_len = size};
	union control_buffer control;
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t got;

	*fd = -1;
	/* A peer that ended with something unread is told once, before what it sent. */
	do {
		got = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
	} while (got < 0 && (errno == EINTR || errno == ECONNRESET));
	if (got < 0)
		return -errno;
	for (struct cmsghdr *part_of = CMSG_FIRSTHDR(&message); part_of;
	     part_of = CMSG_NXTHDR(&message, part_of))
		if (part_of->cmsg_level == SOL_SOCKET && part_of->cmsg_type == SCM_RIGHTS)
			take_descriptors(part_of, fd);
	return got;
}
