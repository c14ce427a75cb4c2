/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/thread.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <kymo/error.h>

struct task {
	void (*run)(void *context);
	void *context;
};

static void *run_task(void *allocated)
{
	const struct task task = *(struct task *)allocated;

	free(allocated);
	pthread_setname_np(pthread_self(), "kymo");
	task.run(task.context);
	return NULL;
}

/*
 * All but those that a thread causes itself: where one of these is blocked the kernel
 * ends the process, whatever handler there is: one that tells of crashes, or a sandbox's.
 */
static sigset_t blocked_signals(void)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&set, own[i]);
	return set;
}

/* The thread takes over the task, if it starts: 0, else an errno. */
static int start(struct task *task)
{
	const sigset_t blocked = blocked_signals();
	pthread_attr_t attributes;
	sigset_t before;
	pthread_t thread;
	int number = pthread_attr_init(&attributes);

	if (number != 0)
		return number;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	/* The new thread inherits the mask, so no signal can come in between. */
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	number = pthread_create(&thread, &attributes, run_task, task);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return number;
}

int32_t ky_thread_start(void (*run)(void *context), void *context)
{
	struct task *task = malloc(sizeof(*task));

	if (!task)
		return KYMO_ERROR_NO_MEMORY;
	*task = (struct task){run, context};
	if (start(task) == 0)
		return KYMO_OK;
	free(task);
	return KYMO_ERROR_NO_MEMORY;
}

void ky_wait_for_change(uint32_t *word, uint32_t seen, uint64_t due_ns)
{
	const struct timespec until = {
		.tv_sec = (time_t)(due_ns / 1000000000u),
		.tv_nsec = (long)(due_ns % 1000000000u),
	};

	/* FUTEX_WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC. */
	syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, seen, &until, NULL,
		FUTEX_BITSET_MATCH_ANY);
}

void ky_tell_change(uint32_t *word)
{
	__atomic_add_fetch(word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
