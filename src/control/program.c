/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The waiting process reads from a pipe: one byte means go, the end means that we are not
 * there any more. A failed exec comes back as an errno through another pipe that exec
 * itself closes. Between fork and exec only async-signal-safe functions are called.
 */
#include "control/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

#define EXIT_LOST 125 /* nobody asks: we are gone or have given it up */

/*
 * SIGXFSZ: what exceeds a limit shall be an error, not the end. So shall be a pipe whose
 * reader is gone: the program may be killed while it waits for its go.
 */
static const int front_signals[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,  SIGUSR1,
				    SIGUSR2, SIGXCPU, SIGCHLD, SIGXFSZ, SIGPIPE};
#define SIGNAL_COUNT (sizeof(front_signals) / sizeof(front_signals[0]))

static pid_t front_thread; /* atomic; of no meaning in other processes */

static void close_held(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static ssize_t read_some(int fd, void *data, size_t size)
{
	ssize_t got;

	do {
		got = read(fd, data, size);
	} while (got < 0 && errno == EINTR);
	return got;
}

static void wait_and_exec(int go_fd, int error_fd, char *const *arguments,
			  char *const *variables,
			  const struct ky_inheritance *inheritance)
{
	int number;
	char go;

	if (read_some(go_fd, &go, 1) != 1)
		_exit(EXIT_LOST);
	ky_inheritance_give_back(inheritance);
	execvpe(arguments[0], arguments, variables);
	number = errno;
	while (write(error_fd, &number, sizeof(number)) < 0 && errno == EINTR)
		;
	_exit(EXIT_LOST);
}

/*
 * A signal comes to any thread that does not block it, as one that a plug-in has made:
 * that has it stay with ours, which does. The keeper has this too, and no such thread:
 * there it is passed over.
 */
static void hand_over(int number)
{
	const int kept = errno;

	syscall(SYS_tgkill, getpid(), __atomic_load_n(&front_thread, __ATOMIC_RELAXED),
		number);
	errno = kept;
}

/* Of signals that would end us; the caller's own handlers, and what it ignores, stay. */
static void take_signals(struct ky_inheritance *out, const sigset_t *signals)
{
	struct sigaction action = {.sa_handler = hand_over, .sa_flags = SA_RESTART};
	struct sigaction was;

	__atomic_store_n(&front_thread, (pid_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
	pthread_sigmask(SIG_BLOCK, signals, &out->mask);
	sigfillset(&action.sa_mask);
	sigemptyset(&out->handled);
	for (size_t i = 0; i < SIGNAL_COUNT; i++) {
		const int number = front_signals[i];

		if (number == SIGCHLD || sigaction(number, NULL, &was) != 0 ||
		    was.sa_handler != SIG_DFL)
			continue;
		sigaction(number, &action, NULL);
		sigaddset(&out->handled, number);
	}
}

/* Handlers first: what has come shall find what there was. */
static void give_signals_back(const struct ky_inheritance *inheritance)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		if (sigismember(&inheritance->handled, front_signals[i]))
			sigaction(front_signals[i], &action, NULL);
	sigaction(SIGCHLD, &inheritance->child, NULL);
	pthread_sigmask(SIG_SETMASK, &inheritance->mask, NULL);
}

static void raise_limit(int resource, struct rlimit *kept)
{
	struct rlimit limit;

	getrlimit(resource, kept);
	limit = *kept;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(resource, &limit);
}

void ky_inheritance_take(struct ky_inheritance *out, sigset_t *signals)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	sigemptyset(signals);
	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		sigaddset(signals, front_signals[i]);
	take_signals(out, signals);
	/* Where SIGCHLD is ignored, the system throws exit statuses away. */
	sigemptyset(&action.sa_mask);
	sigaction(SIGCHLD, &action, &out->child);
	/* Two descriptors for each process that attaches. */
	raise_limit(RLIMIT_NOFILE, &out->files);
	raise_limit(RLIMIT_FSIZE, &out->file_size);
}

void ky_inheritance_give_back(const struct ky_inheritance *inheritance)
{
	setrlimit(RLIMIT_NOFILE, &inheritance->files);
	setrlimit(RLIMIT_FSIZE, &inheritance->file_size);
	give_signals_back(inheritance);
}

void ky_program_abandon(struct ky_program *program)
{
	close_held(&program->error_fd);
	if (program->pid > 0 && program->go_fd >= 0) {
		/* It has not started: this is the end that it waits for. */
		close_held(&program->go_fd);
		while (waitpid(program->pid, NULL, 0) < 0 && errno == EINTR)
			;
		program->pid = 0;
	}
	close_held(&program->go_fd);
}

int32_t ky_program_prepare(struct ky_program *out, char *const *arguments,
			   char *const *variables,
			   const struct ky_inheritance *inheritance,
			   struct kymo_error *error)
{
	int go[2] = {-1, -1}, failed[2] = {-1, -1};
	int number = 0;

	*out = (struct ky_program){.go_fd = -1, .error_fd = -1};
	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0)
		number = errno;
	if (!number)
		out->pid = fork();
	if (out->pid < 0)
		number = errno;
	if (!number && out->pid == 0) {
		/* Or it would wait for its own end of the pipe. */
		close(go[1]);
		close(failed[0]);
		wait_and_exec(go[0], failed[1], arguments, variables, inheritance);
	}
	close_held(&go[0]);
	close_held(&failed[1]);
	out->go_fd = go[1];
	out->error_fd = failed[0];
	if (!number)
		return KYMO_OK;
	out->pid = 0;
	ky_program_abandon(out);
	return ky_error_set_errno(error, number, "cannot make a process");
}

int ky_program_start(struct ky_program *program)
{
	const char go = 1;
	ssize_t sent, got;
	int number = 0;

	/* Where that fails it has ended: whoever waits for it is told how. */
	do {
		sent = write(program->go_fd, &go, 1);
	} while (sent < 0 && errno == EINTR);
	close_held(&program->go_fd);
	got = read_some(program->error_fd, &number, sizeof(number));
	close_held(&program->error_fd);
	if (got != sizeof(number))
		return 0;
	while (waitpid(program->pid, NULL, 0) < 0 && errno == EINTR)
		;
	program->pid = 0;
	return number;
}

char *ky_program_join(char *const *arguments, size_t *size)
{
	char *joined, *to;

	*size = 0;
	for (size_t i = 0; arguments[i]; i++)
		*size += strlen(arguments[i]) + 1;
	joined = to = malloc(*size + 1);
	for (size_t i = 0; joined && arguments[i]; i++)
		to = stpcpy(to, arguments[i]) + 1;
	return joined;
}

int32_t ky_exit_status(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return 128 + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}
