/* SPDX-License-Identifier: BSD-3-Clause */
/* Nothing is allocated: this may be a forked child in the middle of somebody's malloc. */
#include "thread_list.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 256u

static void add(struct perf_threads *threads, pid_t tid)
{
	if (threads->count < PERF_THREADS_MAX)
		threads->tid[threads->count++] = tid;
	threads->total++;
}

/* As getdents64 gives it; glibc's readdir would allocate. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

/* The host's own, which may start a source, and ends with that: none of the program's. */
static int is_of_host(void)
{
	char name[16] = "";

	return prctl(PR_GET_NAME, name) == 0 && strcmp(name, "kymo") == 0;
}

/* The process goes on without it, and it cannot be followed any more. */
static int has_main_ended(void)
{
	const int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	char text[64] = "", *end;

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) <= 0)
		text[0] = '\0';
	close(fd);
	end = strrchr(text, ')'); /* of the name; then comes the state */
	return end && end[1] == ' ' && end[2] == 'Z';
}

/* Adds the threads of a part of the folder, but the first one and the caller. */
static void add_part(struct perf_threads *threads, const char *part, size_t size,
		     pid_t first)
{
	const char *end = part + size;

	while (part < end) {
		const struct entry *entry = (const void *)part;
		const pid_t tid = (pid_t)strtol(entry->name, NULL, 10);

		if (tid > 0 && tid != first && tid != gettid())
			add(threads, tid);
		part += entry->size;
	}
}

void perf_threads_list(struct perf_threads *threads)
{
	const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const pid_t first = is_of_host() ? getpid() : gettid();
	_Alignas(8) char part[4096];
	long size;

	threads->count = threads->total = 0;
	if (first == gettid() || !has_main_ended())
		add(threads, first);
	while (folder >= 0 &&
	       (size = syscall(SYS_getdents64, folder, part, sizeof(part))) > 0)
		add_part(threads, part, (size_t)size, first);
	if (folder >= 0)
		close(folder);
	/* That none is left but the host's cannot be for long. */
	if (threads->count == 0)
		add(threads, gettid());
}

uint32_t perf_descriptors_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    limit.rlim_cur / 4 >= DESCRIPTORS_MAX)
		return DESCRIPTORS_MAX;
	return (uint32_t)(limit.rlim_cur / 4);
}
