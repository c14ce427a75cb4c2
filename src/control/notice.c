/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/notice.h"

#include <limits.h>
#include <stdio.h>

#include "base/clock.h"

#define AFTER_NS    1000000000u /* what takes longer is worth a word */
#define PROGRESS_NS 200000000u  /* from one percentage to the next */
#define NS_PER_MS   1000000u

void ky_notice_begin(struct ky_notice *notice)
{
	const uint64_t due_ns = ky_monotonic_ns() + AFTER_NS;

	if (notice->options->notice)
		notice->wait_ns = due_ns;
	if (notice->options->progress && notice->custody->is_finishing)
		notice->progress_ns = due_ns;
}

static void tell_waiting(const struct ky_notice *notice)
{
	char text[PATH_MAX + 64];
	pid_t pid = 0;
	size_t count = ky_custody_count_processes(notice->custody, &pid);

	if (notice->custody->is_finishing)
		snprintf(text, sizeof(text), "writing \"%s\"", notice->output);
	else if (count == 1)
		snprintf(text, sizeof(text),
			 "the program has ended, process %ld goes on: waiting for it",
			 (long)pid);
	else
		snprintf(text, sizeof(text),
			 "the program has ended, %zu processes go on: waiting for them",
			 count);
	notice->options->notice(notice->options->notice_context, text);
}

static int until_ms(uint64_t due_ns, uint64_t now_ns)
{
	return due_ns == 0 ? -1 : (int)((due_ns - now_ns) / NS_PER_MS) + 1;
}

int ky_notice_expire(struct ky_notice *notice)
{
	const uint64_t now_ns = ky_monotonic_ns();

	if (notice->wait_ns != 0 && now_ns >= notice->wait_ns) {
		notice->wait_ns = 0;
		tell_waiting(notice);
	}
	if (notice->progress_ns != 0 && now_ns >= notice->progress_ns) {
		notice->progress_ns = now_ns + PROGRESS_NS;
		notice->options->progress(notice->options->progress_context,
					  ky_custody_percent(notice->custody));
	}
	return ky_loop_earlier(until_ms(notice->wait_ns, now_ns),
			       until_ms(notice->progress_ns, now_ns));
}
