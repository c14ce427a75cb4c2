/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The words are another process's as well, so the futex is not a private one, and of the
 * header nobody trusts more than that somebody has changed it.
 */
#include "control/command.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/lease.h"
#include "session/line.h"
#include "session/source.h"

/* Of this process; touched by its thread only, and before that by who starts it. */
static struct {
	struct ky_capture *capture;
	uint32_t done; /* number of the last command */
	uint32_t is_resting;
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

static void rest(void)
{
	ky_sources_pause(1);
	served.resting_ticks = ky_ticks();
	ky_gate_pause();
	served.is_resting = 1;
}

static void go_on(void)
{
	ky_gate_resume();
	ky_mark_gap(served.resting_ticks, "paused by the recorder");
	ky_sources_pause(0);
	served.is_resting = 0;
}

/* Does what was commanded last, if that is new; the number of it. */
static uint32_t obey(void)
{
	struct ky_capture_header *header = served.capture->header;
	uint32_t number = __atomic_load_n(&header->command_sequence, __ATOMIC_ACQUIRE);
	uint32_t command = __atomic_load_n(&header->command, __ATOMIC_RELAXED);

	if (number == served.done)
		return number;
	if (command == KY_COMMAND_REST && !served.is_resting)
		rest();
	else if (command == KY_COMMAND_RECORD && served.is_resting)
		go_on();
	served.done = number;
	__atomic_store_n(&header->command_done, number, __ATOMIC_RELEASE);
	return number;
}

static void *serve(void *unused)
{
	uint32_t *sequence = &served.capture->header->command_sequence;

	(void)unused;
	pthread_setname_np(pthread_self(), "kymo");
	for (;;)
		syscall(SYS_futex, sequence, FUTEX_WAIT, obey(), NULL, NULL, 0);
	return NULL;
}

void ky_command_serve(struct ky_capture *capture)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;

	served.capture = capture;
	served.done = served.is_resting = 0;
	obey();
	if (pthread_attr_init(&attributes) != 0)
		return;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	/* The new thread inherits the mask, so no signal can come in between. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	(void)!pthread_create(&thread, &attributes, serve, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}
