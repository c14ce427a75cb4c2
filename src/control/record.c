/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The front of a recording: it starts the program and waits for it, passes signals on,
 * lets agents in and has a keeper do the rest. One thread, one loop.
 *
 *     prepare    what can fail before anything has run: plug-ins, socket, output, keeper
 *     run        until the program, and the others that attached, have ended
 *     finish     until the keeper says what became of the output
 *
 * SIGINT and SIGQUIT are the program's affair while it runs: it gets them from the
 * terminal as we do. SIGTERM, SIGHUP and what batch systems warn jobs with are passed on.
 * Afterwards any of them but warnings ends what we still wait for: first the other
 * processes, then the output, which the keeper goes on with.
 */
#include <kymo/control.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/options.h"
#include "config/config.h"
#include "config/pattern.h"
#include "control/absent.h"
#include "control/agent.h"
#include "control/configure.h"
#include "control/custody.h"
#include "control/interpreter.h"
#include "control/nested.h"
#include "control/notice.h"
#include "control/outputs.h"
#include "control/process.h"
#include "control/program.h"
#include "control/reception.h"
#include "control/room.h"
#include "control/selection.h"
#include "control/window.h"

#define EXIT_CANNOT_RUN  126
#define EXIT_NO_PROGRAM  127
#define EXIT_OWN_FAILURE 125

struct front {
	struct kymo_recorder_options options;
	struct kymo_recorder_result result;
	struct ky_inheritance inheritance;
	struct ky_loop loop;
	struct ky_watch signal_watch, end_watch;
	int signal_fd;
	int end_fd;     /* of the program, -1: SIGCHLD alone tells when it has ended */
	int is_changed; /* what `inheritance` holds is to be given back */
	struct ky_selection selection;
	struct ky_reception reception;
	struct ky_custody custody;
	struct ky_program program;
	struct ky_window window;
	struct kymo_config *config; /* that options borrow from; NULL: the caller's */
	struct ky_outputs outputs;
	char *command_line; /* arguments separated by NUL */
	int is_running;     /* the program */
	struct ky_notice notice;
	int is_cut;      /* nobody else is waited for */
	int is_detached; /* nor the output */
};

/* ---- Prepare ---- */

static void read_signals(void *owner, struct ky_watch *watch);

static int32_t open_signals(struct front *front, struct kymo_error *error)
{
	sigset_t signals;
	int number = 0;

	ky_inheritance_take(&front->inheritance, &signals);
	front->is_changed = 1;
	front->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (front->signal_fd < 0)
		return ky_error_set_errno(error, errno, "cannot wait for signals");
	front->signal_watch = (struct ky_watch){.ready = read_signals, .owner = front};
	number = ky_loop_add(&front->loop, front->signal_fd, EPOLLIN,
			     &front->signal_watch);
	if (number)
		return ky_error_set_errno(error, number, "cannot wait for signals");
	return KYMO_OK;
}

/* Of what is not the caller's own, but the configuration's. */
static void tell_origins(struct front *front)
{
	const struct kymo_recorder_options *options = &front->options;
	const struct kymo_config *config =
		options->config ? options->config : front->config;
	const struct ky_value *sources = ky_config_value(config, KY_KEY_SOURCES);
	const struct ky_value *types = ky_config_value(config, KY_KEY_ACTIVITY_TYPES);

	if (options->sources == (const char *const *)sources->list)
		front->selection.sources_origin = sources->origin;
	if (options->types == types->text)
		front->selection.types_origin = types->origin;
}

static int32_t open_reception(struct front *front, struct kymo_error *error)
{
	const struct kymo_recorder_options *options = &front->options;
	struct ky_reception *reception = &front->reception;
	int32_t status;

	reception->loop = &front->loop;
	reception->custody = &front->custody;
	reception->is_following = !options->no_follow_fork;
	reception->is_controlled = options->controlled != 0;
	reception->wanted = front->selection.wanted;
	reception->types = front->selection.types;
	reception->range = options->capture_range ? options->capture_range : "";
	status = ky_reception_open(reception, error);
	if (status)
		return status;
	front->selection.warning = options->warning;
	front->selection.warning_context = options->warning_context;
	tell_origins(front);
	ky_foreign_loader(options->arguments[0], front->selection.foreign_loader,
			  sizeof(front->selection.foreign_loader));
	status = ky_selection_make(&front->selection, options->sources, options->types,
				   environ, reception->path, error);
	if (!status)
		status = ky_selection_require(&front->selection, options->require, error);
	return status;
}

/* The output's name and the keeper, once the pid is known. */
static int32_t open_custody(struct front *front, struct kymo_error *error)
{
	const struct kymo_recorder_options *options = &front->options;
	const struct ky_pattern_facts facts = {
		.program = options->arguments[0],
		.pid = front->program.pid,
		.start_realtime_ns = (int64_t)ky_realtime_ns(),
	};
	struct ky_keeper_setup *setup = &front->custody.keeper_setup;
	int32_t status;

	status = ky_outputs_make(&front->outputs, options, &facts, error);
	if (front->outputs.count > 0)
		ky_text_copy(front->result.output, sizeof(front->result.output),
			     front->outputs.names[0]);
	if (status)
		return status;
	front->command_line =
		ky_program_join(options->arguments, &setup->command_line.size);
	if (!front->command_line)
		return ky_error_no_memory(error);
	setup->command_line.data = front->command_line;
	if (getrandom(&setup->session, sizeof(setup->session), 0) < 0)
		setup->session = ky_realtime_ns();
	setup->outputs = (const char *const *)front->outputs.targets;
	setup->overwrite = options->overwrite;
	setup->overflow = options->overflow ? options->overflow : KYMO_OVERFLOW_STREAM;
	setup->file_limit = options->file_limit;
	setup->compat = options->compat;
	setup->require = options->require;
	setup->wanted = front->selection.names;
	ky_window_plan(&front->window, options, &front->reception);
	setup->window = front->window.plan;
	setup->folder = front->reception.folder;
	setup->socket = front->reception.path;
	setup->recorder = getpid();
	front->custody.loop = &front->loop;
	front->custody.capture_setup = (struct ky_capture_setup){
		.budget = options->buffer_size ? options->buffer_size
					       : ky_room_budget(ky_cgroup_left("")),
		.ticks = ky_clock_choose(),
		.overflow = setup->overflow,
		.flags = (options->no_follow_fork ? 0 : KY_CAPTURE_FOLLOW_FORKS) |
			 (options->controlled ? KY_CAPTURE_CONTROLLED : 0),
		.session = setup->session,
	};
	return ky_custody_open(&front->custody, error);
}

static int32_t prepare(struct front *front, struct kymo_error *error)
{
	int32_t status = ky_loop_open(&front->loop, error);

	if (!status)
		status = open_signals(front, error);
	if (!status)
		status = open_reception(front, error);
	if (!status)
		status = ky_program_prepare(&front->program, front->options.arguments,
					    front->selection.environment.variables,
					    &front->inheritance, error);
	if (!status)
		status = open_custody(front, error);
	return status;
}

/* ---- Run and finish ---- */

static void close_end(struct front *front)
{
	if (front->end_fd < 0)
		return;
	ky_loop_remove(&front->loop, front->end_fd);
	close(front->end_fd);
	front->end_fd = -1;
}

static void reap_program(struct front *front)
{
	int wait_status;
	pid_t pid = front->is_running ? waitpid(front->program.pid, &wait_status, WNOHANG)
				      : 0;

	if (pid == 0 || (pid < 0 && errno != ECHILD))
		return;
	front->is_running = 0;
	/*
	 * Else somebody else in this process has waited for it, and knows what it said.
	 */
	if (pid > 0)
		front->result.exit_status = ky_exit_status(wait_status);
	close_end(front);
	ky_notice_begin(&front->notice);
}

static void see_end(void *owner, struct ky_watch *watch)
{
	(void)watch;
	reap_program(owner);
}

/* The signal may go to another thread of ours, which does not keep it for us. */
static void watch_end(struct front *front)
{
	front->end_watch = (struct ky_watch){.ready = see_end, .owner = front};
	front->end_fd = ky_pidfd_open(front->program.pid);
	if (front->end_fd >= 0 &&
	    ky_loop_add(&front->loop, front->end_fd, EPOLLIN, &front->end_watch) != 0)
		close_end(front);
}

static void take_signal(struct front *front, int number)
{
	const int is_warning =
		number == SIGUSR1 || number == SIGUSR2 || number == SIGXCPU;

	if (number == SIGXFSZ || number == SIGPIPE) {
		return; /* the call that caused it has failed, and said so */
	} else if (number == SIGCHLD) {
		reap_program(front);
	} else if (front->is_running) {
		/* It is our child and not reaped: the pid is still its. */
		if (number == SIGTERM || number == SIGHUP || is_warning)
			kill(front->program.pid, number);
	} else if (!is_warning && !front->custody.is_finishing) {
		front->is_cut = 1;
	} else if (!is_warning) {
		front->is_detached = 1;
	}
}

static void read_signals(void *owner, struct ky_watch *watch)
{
	struct front *front = owner;
	struct signalfd_siginfo info;

	(void)watch;
	while (read(front->signal_fd, &info, sizeof(info)) == sizeof(info))
		take_signal(front, (int)info.ssi_signo);
}

static int32_t start(struct front *front, struct kymo_error *error)
{
	const char *name = front->options.arguments[0];
	int number;

	/* Before, since we answer nobody meanwhile. */
	ky_nested_begin(front->result.output);
	number = ky_program_start(&front->program);
	if (number) {
		front->result.exit_status = number == ENOENT || number == ENOTDIR
						    ? EXIT_NO_PROGRAM
						    : EXIT_CANNOT_RUN;
		ky_nested_end(front->result.output, 0);
		return ky_error_set_errno(error, number, "cannot run \"%s\"", name);
	}
	front->result.was_started = 1;
	front->is_running = 1;
	ky_window_begin(&front->window);
	watch_end(front);
	/* Killed before it was let go, it may have told so when nobody cared. */
	reap_program(front);
	return KYMO_OK;
}

/* Whether there is nothing more to record, as far as is known. */
static int is_done(const struct front *front)
{
	if (ky_window_is_over(&front->window))
		return 1;
	if (front->is_running)
		return 0;
	if (front->is_cut || front->options.wait == KYMO_WAIT_PRIMARY)
		return 1;
	return ky_reception_is_idle(&front->reception) &&
	       ky_custody_count_processes(&front->custody, NULL) == 0;
}

/* What is known to go on is not waited for, or the window has ended before it. */
static uint32_t finish_flags(const struct front *front)
{
	return front->is_running || ky_custody_count_processes(&front->custody, NULL) > 0
		       ? 0
		       : KY_FINISH_LOOK_AROUND;
}

static void run(struct front *front)
{
	while (!front->is_detached && (front->is_running || !front->custody.is_over)) {
		int timeout_ms = ky_loop_earlier(ky_reception_expire(&front->reception),
						 ky_window_expire(&front->window));
		int is_last = is_done(front) && !front->custody.is_finishing;

		/* What comes next, if this is the last, is that it is written. */
		if (!front->is_running && !is_last)
			timeout_ms = ky_loop_earlier(timeout_ms,
						     ky_notice_expire(&front->notice));
		/* What has come already is still taken in. */
		if (ky_loop_step(&front->loop, is_last ? 0 : timeout_ms) || !is_last)
			continue;
		ky_reception_close(&front->reception);
		ky_custody_finish(&front->custody, finish_flags(front));
		ky_notice_begin(&front->notice);
	}
}

/* What could not record, here or in the programs. */
static void join_failed(const struct front *front, char *out, size_t size)
{
	const char *here = front->selection.broken;
	const char *there = front->custody.outcome.report.failed;
	size_t used;

	ky_text_copy(out, size, here);
	used = strlen(out);
	snprintf(out + used, size - used, "%s%s", used && there[0] ? "; " : "", there);
}

static int32_t tell(struct front *front, struct kymo_error *error)
{
	const struct ky_outcome *outcome = &front->custody.outcome;
	struct kymo_recorder_result *result = &front->result;

	memcpy(result->refused, front->reception.refused, sizeof(result->refused));
	result->refused_count = front->reception.refused_count;
	if (front->is_detached)
		return ky_error_set(error, KYMO_ERROR_STATE,
				    "interrupted; process %ld goes on writing \"%s\"",
				    (long)front->custody.keeper, result->output);
	ky_nested_tell(&outcome->report, result);
	if (outcome->written)
		ky_nested_end(result->output, outcome->summary.process_count);
	ky_outputs_list(&front->outputs, outcome->written, result->written,
			sizeof(result->written));
	memcpy(result->capture, outcome->capture, sizeof(result->capture));
	memcpy(result->left, outcome->left, sizeof(result->left));
	memcpy(result->losses, outcome->report.losses, sizeof(result->losses));
	memcpy(result->stopped, outcome->report.stopped, sizeof(result->stopped));
	join_failed(front, result->failed, sizeof(result->failed));
	memcpy(result->partly, outcome->report.partly, sizeof(result->partly));
	memcpy(result->absent, outcome->report.absent, sizeof(result->absent));
	ky_absent_remedies(&front->selection, result->absent, result->absent_remedy,
			   sizeof(result->absent_remedy));
	/* Where not all types are wanted, marks may be what is not. */
	ky_window_tell(&front->window,
		       outcome->summary.events == 0 && !front->options.types,
		       result->window, sizeof(result->window));
	if (outcome->error.status && error)
		*error = outcome->error;
	return outcome->error.status;
}

static void close_all(struct front *front)
{
	ky_program_abandon(&front->program);
	ky_reception_close(&front->reception);
	if (!front->result.was_started)
		ky_custody_abandon(&front->custody);
	ky_custody_close(&front->custody);
	ky_selection_destroy(&front->selection);
	if (front->signal_fd >= 0) {
		/* What has come for us must not hit the caller when it is let through. */
		read_signals(front, &front->signal_watch);
		close(front->signal_fd);
	}
	close_end(front);
	if (front->is_changed)
		ky_inheritance_give_back(&front->inheritance);
	ky_loop_close(&front->loop);
	free(front->command_line);
	ky_outputs_destroy(&front->outputs);
}

int32_t kymo_recorder_run(const struct kymo_recorder_options *options,
			  struct kymo_recorder_result *result,
			  struct kymo_summary *summary, struct kymo_error *error)
{
	struct front *front = calloc(1, sizeof(*front));
	int32_t status;

	if (!front)
		return ky_error_no_memory(error);
	front->result.struct_size = sizeof(front->result);
	front->result.exit_status = EXIT_OWN_FAILURE;
	front->loop.epoll_fd = front->signal_fd = front->end_fd = -1;
	front->notice = (struct ky_notice){.options = &front->options,
					   .custody = &front->custody,
					   .output = front->result.output};
	front->program = (struct ky_program){.go_fd = -1, .error_fd = -1};
	status = ky_recorder_read(options, &front->options, &front->config, error);
	if (!status)
		status = ky_recorder_check_results(result, summary, error);
	if (status)
		goto out; /* `result` and `summary` may be anything */

	ky_agent_set_recorder(getpid());
	status = prepare(front, error);
	if (!status)
		status = start(front, error);
	if (!status) {
		run(front);
		status = tell(front, error);
	}
	close_all(front);
	ky_agent_set_recorder(0);
	ky_result_write(result, &front->result, sizeof(front->result));
	ky_result_write(summary, &front->custody.outcome.summary,
			sizeof(front->custody.outcome.summary));
out:
	kymo_config_destroy(front->config);
	free(front);
	return status;
}
