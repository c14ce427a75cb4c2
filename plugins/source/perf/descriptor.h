/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors in somebody else's process. The program may close ours (closefrom, daemons)
 * and the kernel give the number to a file of its own; so each is looked at before it is
 * used, and before it is closed. They have high numbers: so the program's own are those
 * that it would have without us, and ours are hardly given anew.
 */
#ifndef KYMO_PLUGINS_SOURCE_PERF_DESCRIPTOR_H
#define KYMO_PLUGINS_SOURCE_PERF_DESCRIPTOR_H

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/types.h>

/* A file of /proc that is read again and again. */
struct perf_file {
	int fd; /* 0: none */
	dev_t device;
	ino_t inode;
};

/* 0, or the errno. */
int perf_file_open(struct perf_file *file, const char *path);
/* From the beginning; a text, ended with 0. How much it is; -1: it is no longer ours. */
ssize_t perf_file_read(const struct perf_file *file, char *text, size_t size);
void perf_file_close(struct perf_file *file);

/* An event of the kernel, counting or sampling. */
struct perf_event {
	int fd; /* 0: none */
	uint64_t id;
};

#define PERF_EVENT_KILLS ECANCELED /* it is not tried: see filter.h */

/* 0, or the errno. `group`: the leader, or NULL. */
int perf_event_open(struct perf_event *event, struct perf_event_attr *attr, pid_t tid,
		    int cpu, const struct perf_event *group);
/* The bytes of its read format, or -1 if it is no longer ours. */
ssize_t perf_event_read(const struct perf_event *event, void *out, size_t size);
void perf_event_close(struct perf_event *event);

#endif
