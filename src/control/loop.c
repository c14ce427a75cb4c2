/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/loop.h"

#include <errno.h>
#include <unistd.h>

#include "base/error.h"

static int control(struct ky_loop *loop, int operation, int fd, uint32_t events,
		   struct ky_watch *watch)
{
	struct epoll_event event = {.events = events, .data.ptr = watch};

	return epoll_ctl(loop->epoll_fd, operation, fd, &event) < 0 ? errno : 0;
}

int32_t ky_loop_open(struct ky_loop *out, struct kymo_error *error)
{
	out->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (out->epoll_fd < 0)
		return ky_error_set_errno(error, errno, "cannot make an epoll");
	return KYMO_OK;
}

void ky_loop_close(struct ky_loop *loop)
{
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	loop->epoll_fd = -1;
}

int ky_loop_add(struct ky_loop *loop, int fd, uint32_t events, struct ky_watch *watch)
{
	return control(loop, EPOLL_CTL_ADD, fd, events, watch);
}

int ky_loop_change(struct ky_loop *loop, int fd, uint32_t events, struct ky_watch *watch)
{
	return control(loop, EPOLL_CTL_MOD, fd, events, watch);
}

void ky_loop_remove(struct ky_loop *loop, int fd)
{
	control(loop, EPOLL_CTL_DEL, fd, 0, NULL);
}

int ky_loop_step(struct ky_loop *loop, int timeout_ms)
{
	struct epoll_event event;
	struct ky_watch *watch;
	const int count = epoll_wait(loop->epoll_fd, &event, 1, timeout_ms);

	if (count < 1)
		return count < 0 && errno != EINTR ? -1 : 0;
	watch = event.data.ptr;
	watch->ready(watch->owner, watch);
	return 1;
}
