/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slow, but once in a thread's life. The thread's own name is read anew, since the host
 * keeps the last one that it is told.
 */
#include "role.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ompt.h"

/* "" where it cannot be read. Not below /proc/self/task, as the host does not either. */
static void read_name(uint32_t tid, char *name, size_t size)
{
	char path[64];
	ssize_t used = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/comm", tid);
	/* Of a thread that has ended the number may be another process's. */
	fd = tgkill(getpid(), (pid_t)tid, 0) == 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		used = read(fd, name, size - 1);
		close(fd);
	}
	name[used > 0 ? used : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
}

static const char *role_text(uint32_t role)
{
	switch (role) {
	case KY_OMPT_THREAD_INITIAL:
		return "OpenMP initial thread";
	case KY_OMPT_THREAD_WORKER:
		return "OpenMP worker";
	default:
		return "OpenMP runtime's thread";
	}
}

void ky_role_tell(const struct ky_thread *thread)
{
	const struct kymo_host *host = ky_state.host;
	const uint32_t tid = ky_thread_tid(thread), role = ky_thread_role(thread);
	const int saved_errno = errno;
	char name[32], text[96];
	struct kymo_track_desc desc = {
		.struct_size = sizeof(desc),
		.kind = KYMO_TRACK_THREAD,
		.native = tid,
	};
	uint32_t track;

	if (role == 0 || !ky_state.source)
		return;
	read_name(tid, name, sizeof(name));
	snprintf(text, sizeof(text), name[0] ? "%s, %s" : "%s%s", name, role_text(role));
	desc.name = kymo_text(text);
	/* First as the host names it, so that ours is the later name. */
	if (host->thread_track(ky_state.source, tid, 0, &track) == KYMO_OK)
		host->track(ky_state.source, &desc, &track);
	errno = saved_errno;
}
