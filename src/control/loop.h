/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for descriptors, one event at a time: what handles an event may take away
 * whatever another one would be about.
 */
#ifndef KYMO_CONTROL_LOOP_H
#define KYMO_CONTROL_LOOP_H

#include <sys/epoll.h>

#include <kymo/base.h>

/* Part of the object that is waited for. */
struct ky_watch {
	void (*ready)(void *owner, struct ky_watch *watch);
	void *owner;
};

struct ky_loop {
	int epoll_fd; /* -1: closed */
};

int32_t ky_loop_open(struct ky_loop *out, struct kymo_error *error);
void ky_loop_close(struct ky_loop *loop);

/* `events`: EPOLLIN, EPOLLOUT. The watch is borrowed until remove. 0 or an errno. */
int ky_loop_add(struct ky_loop *loop, int fd, uint32_t events, struct ky_watch *watch);
int ky_loop_change(struct ky_loop *loop, int fd, uint32_t events, struct ky_watch *watch);
void ky_loop_remove(struct ky_loop *loop, int fd);

/* Of two timeouts the earlier one; negative: never. */
static inline int ky_loop_earlier(int a_ms, int b_ms)
{
	return a_ms < 0 || (b_ms >= 0 && b_ms < a_ms) ? b_ms : a_ms;
}

/* Handles one event; 0: none came within `timeout_ms` (-1: for ever), -1: none can. */
int ky_loop_step(struct ky_loop *loop, int timeout_ms);

#endif
