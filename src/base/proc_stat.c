/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/proc_stat.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"

/* Of <linux/sched.h>: set by fork, cleared by exec. */
#define PF_FORKNOEXEC 0x40u

/* Fields of /proc/PID/stat, counted as in proc(5); the second may hold blanks and ')'. */
#define STAT_FLAGS      9
#define STAT_START_TIME 22

/* Fields of /proc/PID/statm, in pages. */
#define STATM_SIZE 1
#define STATM_DATA 6

const char *ky_proc_path(char out[static KY_PROC_PATH_SIZE], pid_t pid, const char *name)
{
	char digits[3 * sizeof(pid)];
	char *at = stpcpy(out, "/proc/");
	size_t count = 0;

	for (; pid > 0; pid /= 10)
		digits[count++] = (char)('0' + pid % 10);
	if (count == 0)
		at = stpcpy(at, "self");
	while (count > 0)
		*at++ = digits[--count];
	*at++ = '/';
	*stpncpy(at, name, KY_PROC_NAME_SIZE - 1) = '\0';
	return out;
}

static uint64_t read_number(const char *text)
{
	uint64_t number = 0;

	while (*text >= '0' && *text <= '9')
		number = number * 10 + (uint64_t)(*text++ - '0');
	return number;
}

int ky_process_read(pid_t pid, struct ky_process *out)
{
	char path[KY_PROC_PATH_SIZE], text[1024];
	const char *at;
	ssize_t size;

	*out = (struct ky_process){0};
	size = ky_read_small(ky_proc_path(path, pid, "stat"), text, sizeof(text));
	if (size < 0)
		return (int)-size;
	at = strrchr(text, ')');
	/* What follows the name is the third field. */
	for (int field = 2; at && field < STAT_START_TIME; field++) {
		at = strchr(at + 1, ' ');
		if (at && field + 1 == STAT_FLAGS)
			out->forked_not_exec = (read_number(at + 1) & PF_FORKNOEXEC) != 0;
	}
	if (!at) {
		*out = (struct ky_process){0};
		return EIO;
	}
	out->start_time = read_number(at + 1);
	return 0;
}

void ky_process_name(pid_t pid, char *out, size_t size)
{
	char path[KY_PROC_PATH_SIZE];

	if (pid <= 0 || ky_read_small(ky_proc_path(path, pid, "comm"), out, size) <= 0)
		snprintf(out, size, "unknown");
	out[strcspn(out, "\n")] = '\0';
	for (char *at = out; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
}

int ky_mapped_read(struct ky_mapped *out)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char text[256];
	const char *at = text;
	ssize_t size = ky_read_small("/proc/self/statm", text, sizeof(text));

	*out = (struct ky_mapped){0};
	if (size < 0)
		return (int)-size;
	out->address_space = read_number(at) * page;
	for (int field = STATM_SIZE; at && field < STATM_DATA; field++)
		at = strchr(at + 1, ' ');
	if (!at) {
		*out = (struct ky_mapped){0};
		return EIO;
	}
	out->data = read_number(at + 1) * page;
	return 0;
}
