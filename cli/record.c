/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kymo record: runs a program, records it and its children, writes the trace. Standard
 * output belongs to the program; what is said here goes to standard error.
 */
#include "commands.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <kymo/control.h>

#include "record_arguments.h"
#include "say.h"

#define PROGRESS_LINE_S 10 /* from one line of progress to the next */

/* Of what is said of progress. */
struct progress {
	int is_terminal, is_shown;
	time_t last_s; /* of the last line, elsewhere; 0: none was due yet */
};

static void say_lines(const char *before, const char *text)
{
	while (*text) {
		const size_t size = strcspn(text, "\n");

		ky_say_error(0, "%s%.*s", before, (int)size, text);
		text += size + (text[size] == '\n');
	}
}

/* Notes in front of the last line: why there is less than was hoped for. */
static void say_missing(const struct kymo_recorder_result *result,
			const struct kymo_summary *summary,
			const struct kymo_recorder_options *options)
{
	const char *wanted = options->types ? " of the types that are wanted" : "";

	if (result->failed[0])
		ky_say_error(0, "not recorded: %s", result->failed);
	say_lines("recorded in part: ", result->partly);
	/*
	 * It may be loaded where nothing could be recorded, as the last line says then.
	 */
	if (options->sources && result->absent[0]) {
		const int is_refused = result->refused_count > 0;

		ky_say_error(0, "%s: never loaded by %s", result->absent,
			     is_refused ? "a process that was recorded" : "the program");
		if (!is_refused)
			say_lines("", result->absent_remedy);
	} else if (summary->events > 0 || summary->untimed > 0 || summary->lost > 0 ||
		   result->failed[0] || result->partly[0] || result->window[0]) {
		return;
	} else if (result->refused_count > 0) {
		ky_say_error(0, "nothing was recorded");
	} else if (result->absent[0]) {
		ky_say_error(0,
			     "nothing was recorded: the program made no mark%s and "
			     "never loaded %s",
			     wanted, result->absent);
		say_lines("", result->absent_remedy);
	} else {
		ky_say_error(0,
			     "nothing was recorded: the program made no mark%s, and "
			     "no source had anything to tell",
			     wanted);
	}
}

static void say_refused(const struct kymo_recorder_result *result)
{
	char text[KY_SAY_SIZE];

	if (result->refused_count > 0)
		fprintf(stderr, "; %s", result->refused);
	if (result->refused_count > 1)
		fprintf(stderr, "; and %s more",
			ky_say_count(text, result->refused_count - 1));
}

static void say_result(const struct kymo_recorder_result *result,
		       const struct kymo_summary *summary)
{
	char text[KY_SAY_SIZE];

	fputs("kymo: ", stderr);
	ky_say_text(stderr, result->written);
	ky_say_number(stderr, ": ", summary->events, "event", "events");
	if (summary->kernels > 0)
		ky_say_number(stderr, ", ", summary->kernels, "kernel", "kernels");
	if (summary->process_count > 1)
		fprintf(stderr, " in %s processes",
			ky_say_count(text, summary->process_count));
	fprintf(stderr, ", %s", ky_say_duration(text, summary->duration_ns));
	ky_say_losses(stderr, summary, result->losses);
	if (result->window[0]) {
		fputs("; ", stderr);
		ky_say_text(stderr, result->window);
	}
	if (result->stopped[0])
		fprintf(stderr, "; %s", result->stopped);
	say_refused(result);
	if (result->left[0])
		fprintf(stderr, "; %s", result->left);
	fputc('\n', stderr);
}

/* A filter of system calls cannot be asked what it would do. */
static void say_sandbox(int exit_status)
{
	if (exit_status == 128 + SIGSYS)
		fputs("kymo: the program was killed for a system call that its sandbox "
		      "forbids (SIGSYS); if it is not without kymo, let socket, connect, "
		      "getsockopt, setsockopt, sendmsg, recvmsg, mmap, mprotect, "
		      "munlock, madvise, membarrier, prctl and prlimit64 through, or "
		      "make them fail instead (SECCOMP_RET_ERRNO)\n",
		      stderr);
}

static int say_failure(const struct kymo_recorder_result *result,
		       const struct kymo_error *error)
{
	if (result->capture[0])
		ky_say_error(0, "%s%s; the capture is kept: kymo export %s -o FILE",
			     error->message, ky_say_option(error->status),
			     result->capture);
	else
		ky_say_error(0, "%s%s", error->message, ky_say_option(error->status));
	/* 126 and 127 are ours only where the program never ran. */
	return result->was_started ? KY_EXIT_NOT_RECORDED : result->exit_status;
}

static void say_notice(void *context, const char *text)
{
	(void)context;
	fputs("kymo: ", stderr);
	ky_say_text(stderr, text);
	fputc('\n', stderr);
}

/* In one place of a terminal; elsewhere a line now and then. */
static void say_progress(void *context, uint32_t percent)
{
	struct progress *progress = context;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (progress->is_terminal) {
		fprintf(stderr, "\r%3" PRIu32 " %%", percent);
		progress->is_shown = 1;
	} else if (now.tv_sec - progress->last_s >= PROGRESS_LINE_S) {
		if (progress->last_s != 0)
			fprintf(stderr, "kymo: writing: %" PRIu32 " %%\n", percent);
		progress->last_s = now.tv_sec;
	}
}

static void end_progress(struct progress *progress)
{
	if (progress->is_shown)
		fputs("\r\033[K", stderr);
	progress->is_shown = 0;
}

static void say_warning(void *context, const char *text)
{
	(void)context;
	ky_say_error(0, "not recorded: %s", text);
}

/* What the library has to say of the request: a name that is deprecated, say. */
static void say_log(void *context, uint32_t severity, const char *message)
{
	if (severity >= KYMO_SEVERITY_INFO)
		say_notice(context, message);
}

static int record(const struct ky_record_arguments *arguments)
{
	struct kymo_recorder_result result = {
		.struct_size = sizeof(result),
		.exit_status = KY_EXIT_NOT_RECORDED, /* stays where options are refused */
	};
	struct kymo_summary summary = {.struct_size = sizeof(summary)};
	struct kymo_recorder_options options = arguments->options;
	struct progress progress = {.is_terminal = isatty(STDERR_FILENO)};
	struct kymo_config *config = NULL;
	struct kymo_error error = {0};
	int32_t status = kymo_config_create(&config, NULL, &error);

	if (!status) {
		ky_say_warnings(config);
		options.config = config;
		options.progress = say_progress;
		options.progress_context = &progress;
		status = kymo_recorder_run(&options, &result, &summary, &error);
		end_progress(&progress);
	}
	kymo_config_destroy(config);
	if (result.written[0]) {
		say_missing(&result, &summary, &options);
		say_sandbox(result.exit_status);
		say_result(&result, &summary);
	}
	if (status)
		return say_failure(&result, &error);
	if (arguments->is_strict &&
	    (summary.lost > 0 || result.refused_count > 0 || summary.incomplete))
		return KY_EXIT_NOT_RECORDED;
	return result.exit_status;
}

/*
 * Where a standard descriptor is closed, something of ours would come to lie there, and
 * messages would go into it. The program finds it closed all the same.
 */
static void fill_standard_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int ky_cli_record(int argc, char **argv)
{
	struct ky_record_arguments arguments = {
		.options = {.struct_size = sizeof(arguments.options),
			    .warning = say_warning},
	};
	int status;

	ky_must_exit_with(KY_EXIT_NOT_RECORDED);
	status = ky_record_read(argc, argv, &arguments);
	fill_standard_descriptors();
	kymo_log_to(say_log, NULL);
	if (isatty(STDERR_FILENO))
		arguments.options.notice = say_notice;
	if (!status && arguments.is_help)
		fputs(ky_record_usage, stdout);
	else if (!status)
		status = record(&arguments);
	ky_record_free(&arguments);
	return status;
}
