/* SPDX-License-Identifier: BSD-3-Clause */
#include "thread_list.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define DESCRIPTORS_MAX 256u

static void add(struct perf_threads *threads, pid_t tid)
{
	if (threads->count < PERF_THREADS_MAX)
		threads->tid[threads->count++] = tid;
	threads->total++;
}

void perf_threads_list(struct perf_threads *threads)
{
	DIR *folder = opendir("/proc/self/task");
	const struct dirent *entry;

	threads->count = threads->total = 0;
	add(threads, gettid());
	while (folder && (entry = readdir(folder)) != NULL) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && tid != threads->tid[0])
			add(threads, tid);
	}
	if (folder)
		closedir(folder);
}

uint32_t perf_descriptors_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    limit.rlim_cur / 4 >= DESCRIPTORS_MAX)
		return DESCRIPTORS_MAX;
	return (uint32_t)(limit.rlim_cur / 4);
}
