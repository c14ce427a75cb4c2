/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/left.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kymo/plugin.h>

#include "base/proc_stat.h"
#include "control/protocol.h"
#include "record/dictionary.h"
#include "session/remark.h"

/* The kernel takes no larger environment with arguments of usual limits. */
#define ENVIRONMENT_SIZE ((size_t)2 << 20)

struct left {
	size_t count;
	pid_t pid;     /* of one of them */
	char name[32]; /* its name */
};

/* What is in the file at `path`, as far as it fits; its size, 0 if it cannot be read. */
static size_t read_environment(const char *path, char *out)
{
	size_t size = 0;
	ssize_t more;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	while (size < ENVIRONMENT_SIZE &&
	       (more = read(fd, out + size, ENVIRONMENT_SIZE - size)) > 0)
		size += (size_t)more;
	close(fd);
	return size;
}

/* Whether one of the texts, which end with 0 each, is `setting`; its 0 counts. */
static int has_setting(const char *texts, size_t size, const char *setting)
{
	const size_t length = strlen(setting) + 1;

	for (size_t at = 0; at + length <= size;) {
		const char *end = memchr(texts + at, '\0', size - at);

		if (memcmp(texts + at, setting, length) == 0)
			return 1;
		if (!end)
			return 0;
		at = (size_t)(end - texts) + 1;
	}
	return 0;
}

static void find(const char *path, struct left *out)
{
	char setting[4096 + sizeof(KY_SESSION_VARIABLE)], file[KY_PROC_PATH_SIZE];
	char *texts = malloc(ENVIRONMENT_SIZE);
	DIR *folder = opendir("/proc");
	const struct dirent *entry;

	*out = (struct left){0};
	if (!texts || !folder)
		goto out;
	snprintf(setting, sizeof(setting), "%s=%s", KY_SESSION_VARIABLE, path);
	while ((entry = readdir(folder)) != NULL) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0)
			continue;
		ky_proc_path(file, pid, "environ");
		if (has_setting(texts, read_environment(file, texts), setting) &&
		    out->count++ == 0)
			out->pid = pid;
	}
	if (out->count > 0)
		ky_process_name(out->pid, out->name, sizeof(out->name));
out:
	if (folder)
		closedir(folder);
	free(texts);
}

/* It never had a capture; this one has nothing in it but who it is, and why. */
static void note(const struct left *left, struct ky_capture *capture)
{
	struct ky_capture_header *header = capture->header;

	if (ky_dictionary_mirror(capture->dictionary, capture->dictionary_size,
				 &header->dictionary_tail,
				 &header->names_not_kept) != KYMO_OK)
		return;
	ky_capture_identify(capture, left->pid);
	ky_remark(KYMO_STATE_READY,
		  left->count == 1
			  ? "it goes on, and had reached nothing to record by the end"
			  : "it goes on, as others do, and had reached nothing to record "
			    "by the end");
	ky_dictionary_mirror(NULL, 0, NULL, NULL);
}

void ky_left_tell(const char *path, struct ky_capture *spare, char *out, size_t size)
{
	struct left left;

	out[0] = '\0';
	find(path, &left);
	if (left.count == 0)
		return;
	if (left.count == 1)
		snprintf(out, size, "process %ld (%s) goes on and is not recorded",
			 (long)left.pid, left.name);
	else
		snprintf(out, size,
			 "%zu processes go on and are not recorded, among them %ld (%s)",
			 left.count, (long)left.pid, left.name);
	if (spare)
		note(&left, spare);
}
