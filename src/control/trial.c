/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two processes. The patient runs the code. The warden between it and us keeps the time,
 * reads what the patient prints, and ends whatever is left: it is the subreaper, so that
 * processes which the patient abandons come to it, whatever sessions they have made. If
 * we die, the warden sees the end of a pipe and ends the patient; if the warden dies, the
 * kernel does.
 *
 * The outcome lies in memory that all three share. The patient may have spoilt any of it,
 * so the warden writes its part when no patient is left.
 */
#include "control/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fs.h"
#include "control/process.h"

#define NS_PER_MS     1000000u
#define REST_LIMIT_NS 2000000000u /* for those whom even SIGKILL does not end at once */
#define REST_STEP_NS  1000000
#define READS_MAX     64

struct shared {
	struct ky_trial trial;
	uint32_t has_returned;
	alignas(16) char context[];
};

struct warden {
	struct shared *shared;
	ky_trial_fn run;
	uint64_t deadline_ns;
	int life_fd; /* ends when we have died */
	int said_fd;
	pid_t patient;
	size_t said;
	int has_ended; /* the patient, by itself, with this status: */
	int wait_status;
	uint32_t left;
};

/* ---- The patient ---- */

static void become_patient(int said_fd)
{
	const struct rlimit no_core = {0, 0};
	sigset_t none;
	int null_fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setsid(); /* no terminal to ask at, no ^C that was meant for us */
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	setrlimit(RLIMIT_CORE, &no_core);
	null_fd = open("/dev/null", O_RDONLY);
	dup2(null_fd, STDIN_FILENO);
	dup2(said_fd, STDOUT_FILENO);
	dup2(said_fd, STDERR_FILENO);
	ky_close_from(STDERR_FILENO + 1);
	/* What our caller has not written yet is not the patient's to write. */
	__fpurge(stdout);
	__fpurge(stderr);
}

static _Noreturn void be_patient(const struct warden *warden, int said_fd)
{
	const pid_t self = getpid();

	become_patient(said_fd);
	warden->run(warden->shared->context);
	fflush(NULL);
	/* A copy that it has forked may come back here too. */
	if (getpid() == self)
		warden->shared->has_returned = 1;
	_exit(0);
}

/* ---- The warden ---- */

/* What is more than `said` holds is read all the same, or the patient would wait. */
static ssize_t read_said(struct warden *warden, char *said, size_t size)
{
	char block[4096];
	ssize_t got = read(warden->said_fd, block, sizeof(block));

	for (ssize_t i = 0; i < got && warden->said + 1 < size; i++)
		said[warden->said++] = block[i];
	return got;
}

/* Until the patient has ended, its time is over, or we are not there any more. */
static void watch(struct warden *warden, int patient_fd, char *said, size_t size)
{
	struct pollfd fds[] = {
		{.fd = patient_fd, .events = POLLIN},
		{.fd = warden->life_fd, .events = POLLIN},
		{.fd = warden->said_fd, .events = POLLIN},
	};
	uint64_t now = ky_monotonic_ns();

	while (now < warden->deadline_ns) {
		poll(fds, 3, (int)((warden->deadline_ns - now) / NS_PER_MS) + 1);
		if (fds[2].revents && read_said(warden, said, size) == 0)
			fds[2].fd = -1; /* nobody can print any more */
		if (fds[0].revents || fds[1].revents)
			return;
		now = ky_monotonic_ns();
	}
}

/* Those that have come to us; each that ends brings its own. */
static void kill_children(void)
{
	char path[64], list[4096];
	char *at = list, *end;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	if (ky_read_small(path, list, sizeof(list)) < 0)
		return;
	for (;; at = end) {
		long pid = strtol(at, &end, 10);

		if (end == at || pid <= 0)
			return;
		kill((pid_t)pid, SIGKILL);
	}
}

/* A process in the middle of a driver may not end even now: it is left to the system. */
static void end_all(struct warden *warden)
{
	const struct timespec step = {0, REST_STEP_NS};
	const uint64_t limit_ns = ky_monotonic_ns() + REST_LIMIT_NS;
	int wait_status;
	pid_t pid;

	kill(-warden->patient, SIGKILL); /* not reaped yet: the group is still its */
	while (ky_monotonic_ns() < limit_ns) {
		kill_children();
		while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
			if (pid == warden->patient)
				warden->wait_status = wait_status;
			else if (WIFSIGNALED(wait_status))
				warden->left++;
		}
		if (pid < 0)
			return;
		nanosleep(&step, NULL);
	}
}

static void write_outcome(const struct warden *warden, const char *said)
{
	struct ky_trial *out = &warden->shared->trial;

	*out = (struct ky_trial){.end = KY_TRIAL_LATE, .left = warden->left};
	memcpy(out->said, said, sizeof(out->said));
	if (!warden->has_ended)
		return;
	if (WIFSIGNALED(warden->wait_status)) {
		out->end = KY_TRIAL_KILLED;
		out->number = WTERMSIG(warden->wait_status);
	} else {
		out->end = warden->shared->has_returned ? KY_TRIAL_RETURNED
							: KY_TRIAL_EXITED;
		out->number = WEXITSTATUS(warden->wait_status);
	}
}

static _Noreturn void be_warden(struct warden *warden)
{
	char said[sizeof(warden->shared->trial.said)] = "";
	int ends[2] = {-1, -1}, patient_fd;
	sigset_t all;

	prctl(PR_SET_NAME, "kymo-trial"); /* its patient's name too */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (pipe2(ends, O_CLOEXEC) < 0)
		_exit(1);
	warden->patient = fork();
	if (warden->patient == 0)
		be_patient(warden, ends[1]);
	close(ends[1]);
	if (warden->patient < 0)
		_exit(1);
	warden->said_fd = ends[0];
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	patient_fd = ky_pidfd_open(warden->patient);
	watch(warden, patient_fd, said, sizeof(said));
	/* Looked at before we end it: then it has not crashed. */
	warden->has_ended = ky_pidfd_ended(patient_fd);
	end_all(warden);
	/* What the pipe still holds; with nobody left to fill it that is little. */
	for (int i = 0; i < READS_MAX && read_said(warden, said, sizeof(said)) > 0; i++)
		;
	write_outcome(warden, said);
	_exit(0);
}

/* ---- We ---- */

static int32_t start_warden(struct warden *warden, pid_t *out, int *life_fd)
{
	int life[2];

	if (pipe2(life, O_CLOEXEC) < 0)
		return errno;
	*out = fork();
	if (*out == 0) {
		close(life[1]);
		warden->life_fd = life[0];
		be_warden(warden);
	}
	close(life[0]);
	*life_fd = life[1];
	return *out < 0 ? errno : 0;
}

int32_t ky_trial_run(ky_trial_fn run, void *context, size_t size, uint64_t limit_ns,
		     struct ky_trial *out, struct kymo_error *error)
{
	const size_t whole = sizeof(struct shared) + size;
	struct shared *shared = mmap(NULL, whole, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct warden warden = {.shared = shared, .run = run, .life_fd = -1};
	int wait_status = 0, life_fd = -1, number;
	pid_t pid = -1;

	if (shared == MAP_FAILED)
		return ky_error_no_memory(error);
	memcpy(shared->context, context, size);
	warden.deadline_ns = ky_monotonic_ns() + limit_ns;
	number = start_warden(&warden, &pid, &life_fd);
	if (!number) {
		while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
			;
		if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != 0)
			number = ECHILD;
	}
	if (life_fd >= 0)
		close(life_fd);
	*out = shared->trial;
	out->said[sizeof(out->said) - 1] = '\0';
	memcpy(context, shared->context, size);
	munmap(shared, whole);
	if (number)
		return ky_error_set_errno(error, number, "cannot make a process for it");
	return KYMO_OK;
}

void ky_trial_describe(const struct ky_trial *trial, char *out, size_t size)
{
	const char *name = sigabbrev_np(trial->number);

	if (trial->end == KY_TRIAL_RETURNED)
		snprintf(out, size, "returned");
	else if (trial->end == KY_TRIAL_EXITED)
		snprintf(out, size, "ended its process with status %d", trial->number);
	else if (trial->end == KY_TRIAL_LATE)
		snprintf(out, size, "did not come to an end");
	else if (name)
		snprintf(out, size, "crashed (SIG%s)", name);
	else
		snprintf(out, size, "crashed (signal %d)", trial->number);
}
