/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words are another process's as well, so the futex is not a private one, and of the
 * header nobody trusts more than that somebody has changed it.
 */
#include "control/command.h"

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "capture/lease.h"
#include "session/mark.h"
#include "session/source.h"

/* For all sources together: less than a recorder waits. */
#define LIMIT_NS 1500000000u

#define WHY "paused by the recorder"

/* Of this process; touched by its thread only, and before that by who starts it. */
static struct {
	struct ky_capture *capture;
	uint32_t done; /* number of the last command */
	uint32_t is_resting, is_over;
	uint64_t resting_ticks; /* since when */
} served;

void ky_command_give(struct ky_capture *capture, uint32_t command)
{
	struct ky_capture_header *header = capture->header;

	__atomic_store_n(&header->command, command, __ATOMIC_RELAXED);
	__atomic_add_fetch(&header->command_sequence, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &header->command_sequence, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

int ky_command_is_done(const struct ky_capture *capture)
{
	const struct ky_capture_header *header = capture->header;

	return __atomic_load_n(&header->command_done, __ATOMIC_ACQUIRE) ==
	       __atomic_load_n(&header->command_sequence, __ATOMIC_RELAXED);
}

int ky_command_is_to_rest(const struct ky_capture *capture)
{
	const struct ky_capture_header *header = capture->header;

	return __atomic_load_n(&header->command_sequence, __ATOMIC_ACQUIRE) != 0 &&
	       __atomic_load_n(&header->command, __ATOMIC_RELAXED) != KY_COMMAND_RECORD;
}

static void rest(void)
{
	served.resting_ticks = ky_mark_rest(WHY, ky_monotonic_ns() + LIMIT_NS);
	served.is_resting = 1;
}

static void go_on(void)
{
	ky_mark_resume(served.resting_ticks, WHY, ky_monotonic_ns() + LIMIT_NS);
	served.is_resting = 0;
}

/* What the sources still have of before is taken; nothing can be begun any more. */
static void stop(void)
{
	ky_gate_shut();
	if (served.is_resting)
		ky_mark_gap(served.resting_ticks, WHY);
	served.is_resting = 0;
	ky_sources_end(ky_monotonic_ns() + LIMIT_NS);
	ky_capture_cut(served.capture);
	served.is_over = 1;
}

/* Does what was commanded last, if that is new; the number of it. */
static uint32_t obey(void)
{
	struct ky_capture_header *header = served.capture->header;
	uint32_t number = __atomic_load_n(&header->command_sequence, __ATOMIC_ACQUIRE);
	uint32_t command = __atomic_load_n(&header->command, __ATOMIC_RELAXED);

	if (number == served.done || served.is_over)
		return number;
	if (command == KY_COMMAND_REST && !served.is_resting)
		rest();
	else if (command == KY_COMMAND_RECORD && served.is_resting)
		go_on();
	else if (command == KY_COMMAND_STOP)
		stop();
	served.done = number;
	__atomic_store_n(&header->command_done, number, __ATOMIC_RELEASE);
	return number;
}

static void serve(void *unused)
{
	uint32_t *sequence = &served.capture->header->command_sequence;

	(void)unused;
	for (;;) {
		const uint32_t number = obey();

		if (served.is_over)
			break;
		syscall(SYS_futex, sequence, FUTEX_WAIT, number, NULL, NULL, 0);
	}
}

void ky_command_serve(struct ky_capture *capture)
{
	served.capture = capture;
	served.done = served.is_resting = served.is_over = 0;
	obey();
	if (served.is_over)
		return;
	/* Also if it was to rest when it came, and is not any more. */
	if (!served.is_resting)
		ky_gate_resume();
	/* Without it no order is obeyed, which whoever gives one is told. */
	(void)ky_thread_start(serve, NULL);
}
