/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Only number and start time are kept, on the page that a forked child gets anew: what
 * the recorder was started with is read when somebody asks. It may have ended by then,
 * with a keeper that goes on, and its number be another process's.
 */
#include "session/recorder.h"

#include <stdio.h>
#include <string.h>

#include "base/fs.h"
#include "base/proc_stat.h"
#include "session/page.h"

#define COMMAND_SIZE 300

void ky_recorder_set(pid_t pid)
{
	struct ky_session_page *page = ky_session_page();
	struct ky_process process = {0};

	if (pid > 0)
		ky_process_read(pid, &process);
	page->recorder = (uint32_t)pid;
	page->recorder_start_time = process.start_time;
}

/* Its arguments on one line; what does not fit loses its end. 0: there are none. */
static int read_command(pid_t pid, char *out, size_t size)
{
	static const char cut[] = "...";
	char path[KY_PROC_PATH_SIZE];
	ssize_t got = ky_read_small(ky_proc_path(path, pid, "cmdline"), out, size);

	if (got <= 0)
		return 0;
	for (ssize_t i = 0; i + 1 < got; i++)
		if ((unsigned char)out[i] < ' ' || out[i] == 0x7f)
			out[i] = out[i] ? '?' : ' ';
	if ((size_t)got + 1 < size)
		return 1;
	got -= (ssize_t)sizeof(cut);
	/* Not in the middle of a character. */
	while (got > 0 && ((unsigned char)out[got] & 0xc0u) == 0x80)
		got--;
	memcpy(out + got, cut, sizeof(cut));
	return 1;
}

void ky_recorder_describe(char *out, size_t size)
{
	const struct ky_session_page *page = ky_session_page();
	const pid_t pid = (pid_t)page->recorder;
	struct ky_process now = {0};
	char command[COMMAND_SIZE];

	if (pid <= 0) {
		snprintf(out, size, "a process that this one does not see");
		return;
	}
	ky_process_read(pid, &now);
	if (now.start_time == page->recorder_start_time &&
	    read_command(pid, command, sizeof(command)))
		snprintf(out, size, "process %ld (%s)", (long)pid, command);
	else
		snprintf(out, size, "process %ld, which has ended", (long)pid);
}
