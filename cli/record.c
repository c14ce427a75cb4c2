/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kymo record: runs a program, records it and its children, writes the trace. Standard
 * output belongs to the program; what is said here goes to standard error.
 */
#include "commands.h"

#include <ctype.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <kymo/control.h>

#include "amount.h"
#include "say.h"

#define EXIT_OWN_FAILURE 125 /* as env(1) and timeout(1) have it */
#define PROGRESS_LINE_S  10  /* from one line of progress to the next */

/* Of what is said of progress. */
struct progress {
	int is_terminal, is_shown;
	time_t last_s; /* of the last line, elsewhere; 0: none was due yet */
};

enum {
	OPTION_REQUIRE = 256,
	OPTION_BUFFER,
	OPTION_NO_FOLLOW_FORK,
	OPTION_WAIT,
	OPTION_STRICT,
	OPTION_COMPAT,
	OPTION_TYPES,
	OPTION_OVERFLOW,
	OPTION_LIMIT,
	OPTION_SINK,
	OPTION_START_PAUSED,
	OPTION_CAPTURE_RANGE,
};

static const struct option long_options[] = {
	{"trace", required_argument, NULL, 't'},
	{"output", required_argument, NULL, 'o'},
	{"force", no_argument, NULL, 'f'},
	{"delay", required_argument, NULL, 'y'},
	{"duration", required_argument, NULL, 'd'},
	{"help", no_argument, NULL, 'h'},
	{"require", required_argument, NULL, OPTION_REQUIRE},
	{"buffer", required_argument, NULL, OPTION_BUFFER},
	{"no-follow-fork", no_argument, NULL, OPTION_NO_FOLLOW_FORK},
	{"wait", required_argument, NULL, OPTION_WAIT},
	{"strict", no_argument, NULL, OPTION_STRICT},
	{"compat", required_argument, NULL, OPTION_COMPAT},
	{"types", required_argument, NULL, OPTION_TYPES},
	{"overflow", required_argument, NULL, OPTION_OVERFLOW},
	{"limit", required_argument, NULL, OPTION_LIMIT},
	{"sink", required_argument, NULL, OPTION_SINK},
	{"start-paused", no_argument, NULL, OPTION_START_PAUSED},
	{"capture-range", required_argument, NULL, OPTION_CAPTURE_RANGE},
	{NULL, 0, NULL, 0},
};

static const char usage[] =
	"usage: kymo record [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"\n"
	"Runs PROGRAM, records it and its children, and writes one trace.\n"
	"\n"
	"  -t, --trace LIST       sources to record, separated by commas, each as\n"
	"                         NAME[:OPTION=VALUE], NAME also being the path\n"
	"                         of a plug-in, with a /; \"app\" is the program's own\n"
	"                         marks, which are recorded in any case; default:\n"
	"                         all that are installed, but those that must be\n"
	"                         named, as \"fake\", which is for tests; kymo types\n"
	"                         NAME lists the options of a source\n"
	"  -o, --output FILE      .json, .json.gz or .kymo; %p is the pid of PROGRAM,\n"
	"                         %h the host, %r the rank, %t the start time, %n\n"
	"                         the first free number, %q{NAME} a variable of the\n"
	"                         environment; default: a name of its own for every\n"
	"                         recording, kymo-PROGRAM-HOST-PID-NS.json.gz; may\n"
	"                         be given more than once, for several outputs\n"
	"  -f, --force            replace FILE if it exists\n"
	"  -y, --delay TIME       record from TIME after the program's start on, as\n"
	"                         500ms, 1.5s, 2m, or seconds; processes are at rest\n"
	"                         before, their sources already started\n"
	"  -d, --duration TIME    record for TIME, then write the trace; the program\n"
	"                         goes on to its end\n"
	"      --start-paused     be at rest until the program orders otherwise, with\n"
	"                         kymo_recorder_order\n"
	"      --capture-range RANGE\n"
	"                         mark:NAME: record from the begin to the end of the\n"
	"                         first range of that name (kymo_range_begin) in each\n"
	"                         process; mark:NAME,repeat:N: of the first N\n"
	"      --types LIST       activity types to record, separated by commas: a NAME\n"
	"                         of kymo types, PLUGIN.*, default or all, each with\n"
	"                         SOURCE: in front to concern that source alone, or\n"
	"                         with - to leave it out; default: \"default\"\n"
	"      --require LIST     fail (125) if one of these NAMEs has not recorded\n"
	"      --buffer SIZE      memory for each process, 10MiB or more; default:\n"
	"                         64MiB; all but 8.5MiB of it hold records\n"
	"      --overflow stream|drop|overwrite\n"
	"                         what becomes of new records when that is full: a\n"
	"                         file beside FILE takes them all the time (default),\n"
	"                         they are dropped, or the oldest are overwritten\n"
	"      --limit SIZE       stream no more once that file has SIZE; default:\n"
	"                         half of the free space\n"
	"      --no-follow-fork   leave out children that are forked and run no other\n"
	"                         program\n"
	"      --wait all|primary wait for every recorded process (default), or for\n"
	"                         PROGRAM only\n"
	"      --compat READER    add what a reader needs beyond what was recorded,\n"
	"                         flagged as synthetic: tensorboard\n"
	"      --sink FILE        load a sink that is not installed, by its path\n"
	"      --strict           fail (125) if anything was lost\n"
	"  -h, --help             show this\n"
	"\n"
	"The exit status is that of PROGRAM (128+n if signal n killed it), 127 if it\n"
	"was not found, 126 if it could not be run, 125 if recording it failed.\n";

struct arguments {
	struct kymo_recorder_options options;
	/* As options has them, but ours. */
	char **sources, **require, **more_outputs;
	int is_strict;
};

#define fail(...) ky_say_error(EXIT_OWN_FAILURE, __VA_ARGS__)

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

/* Without the blanks around it. */
static char *copy_part(const char *text, size_t size)
{
	while (size > 0 && isspace((unsigned char)*text)) {
		text++;
		size--;
	}
	while (size > 0 && isspace((unsigned char)text[size - 1]))
		size--;
	return strndup(text, size);
}

/* Adds the parts of "a, b" to a list that ends with NULL; NULL when that failed. */
static char **add_parts(char **list, const char *text)
{
	size_t count = 0;

	while (list && list[count])
		count++;
	while (*text) {
		size_t size = strcspn(text, ",");
		char **grown = realloc(list, (count + 2) * sizeof(*list));

		if (!grown)
			goto fail;
		list = grown;
		list[count] = copy_part(text, size);
		if (!list[count])
			goto fail;
		if (list[count][0])
			count++;
		else
			free(list[count]);
		list[count] = NULL;
		text += size + (text[size] == ',');
	}
	return list;
fail:
	free_list(list);
	return NULL;
}

static int read_list(char ***list, const char *name, const char *text)
{
	*list = add_parts(*list, text);
	if (*list && **list)
		return 0;
	return fail("%s \"%s\": names are wanted, separated by commas", name, text);
}

static int read_overflow(const char *text, uint32_t *out)
{
	if (strcmp(text, "stream") == 0)
		*out = KYMO_OVERFLOW_STREAM;
	else if (strcmp(text, "drop") == 0)
		*out = KYMO_OVERFLOW_DROP;
	else if (strcmp(text, "overwrite") == 0)
		*out = KYMO_OVERFLOW_OVERWRITE;
	else
		return fail("--overflow \"%s\": \"stream\", \"drop\" or \"overwrite\" is "
			    "wanted",
			    text);
	return 0;
}

static int read_wait(const char *text, uint32_t *out)
{
	if (strcmp(text, "all") == 0)
		*out = KYMO_WAIT_ALL;
	else if (strcmp(text, "primary") == 0)
		*out = KYMO_WAIT_PRIMARY;
	else
		return fail("--wait \"%s\": \"all\" or \"primary\" is wanted", text);
	return 0;
}

static int load_sink(const char *path)
{
	struct kymo_error error;

	if (kymo_sink_load(path, &error) == KYMO_OK)
		return 0;
	return fail("--sink: %s", error.message);
}

/* The first one names the recording. */
static int add_output(struct arguments *arguments, const char *text)
{
	char **list = arguments->more_outputs;
	size_t count = 0;

	if (!arguments->options.output) {
		arguments->options.output = text;
		return 0;
	}
	while (list && list[count])
		count++;
	list = ky_must_grow(list, count + 2, sizeof(*list));
	list[count] = ky_must_copy(text, strlen(text));
	list[count + 1] = NULL;
	arguments->more_outputs = list;
	return 0;
}

static int read_option(struct arguments *arguments, int option, char **argv)
{
	struct kymo_recorder_options *options = &arguments->options;

	switch (option) {
	case 't':
		return read_list(&arguments->sources, "--trace", optarg);
	case 'o':
		return add_output(arguments, optarg);
	case 'f':
		options->overwrite = 1;
		return 0;
	case OPTION_REQUIRE:
		return read_list(&arguments->require, "--require", optarg);
	case OPTION_BUFFER:
		return ky_read_size(EXIT_OWN_FAILURE, "--buffer", optarg,
				    &options->buffer_size);
	case OPTION_LIMIT:
		return ky_read_size(EXIT_OWN_FAILURE, "--limit", optarg,
				    &options->file_limit);
	case OPTION_OVERFLOW:
		return read_overflow(optarg, &options->overflow);
	case OPTION_NO_FOLLOW_FORK:
		options->no_follow_fork = 1;
		return 0;
	case OPTION_WAIT:
		return read_wait(optarg, &options->wait);
	case OPTION_SINK:
		return load_sink(optarg);
	case OPTION_STRICT:
		arguments->is_strict = 1;
		return 0;
	case OPTION_COMPAT:
		options->compat = optarg;
		return 0;
	case 'y':
		return ky_read_duration(EXIT_OWN_FAILURE, "--delay", optarg,
					&options->delay_ns);
	case 'd':
		return ky_read_duration(EXIT_OWN_FAILURE, "--duration", optarg,
					&options->duration_ns);
	case OPTION_START_PAUSED:
		options->start_paused = 1;
		return 0;
	case OPTION_CAPTURE_RANGE:
		options->capture_range = optarg;
		return 0;
	case OPTION_TYPES:
		options->types = optarg;
		return 0;
	default:
		return ky_say_usage(EXIT_OWN_FAILURE, option, argv, long_options);
	}
}

/* 0, or an exit status; `*is_help` if only the usage is wanted. */
static int read_arguments(int argc, char **argv, struct arguments *arguments,
			  int *is_help)
{
	int option, status = 0;

	opterr = 0; /* we say it ourselves */
	while (!status) {
		/* '+': what follows the program's name is the program's. */
		option = getopt_long(argc, argv, "+:t:o:fy:d:h", long_options, NULL);
		if (option == -1)
			break;
		if (option == 'h') {
			*is_help = 1;
			return 0;
		}
		status = read_option(arguments, option, argv);
	}
	if (!status && optind >= argc)
		status = fail("record: no program to run; see kymo record --help");
	arguments->options.arguments = argv + optind;
	arguments->options.sources = (const char *const *)arguments->sources;
	arguments->options.require = (const char *const *)arguments->require;
	arguments->options.more_outputs = (const char *const *)arguments->more_outputs;
	return status;
}

/* ---- What is said in the end ---- */

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
	/* It may be loaded where nothing could be recorded, as the last line says then.
	 */
	if (options->sources && result->absent[0]) {
		ky_say_error(0, "%s: never loaded by %s", result->absent,
			     result->refused_count > 0 ? "a process that was recorded"
						       : "the program");
		say_lines("", result->absent_remedy);
	} else if (summary->events > 0 || summary->untimed > 0 || result->failed[0] ||
		   result->partly[0] || result->window[0]) {
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
		fprintf(stderr, "; nor %s %s other%s",
			result->refused_count == 2 ? "was" : "were",
			ky_say_count(text, result->refused_count - 1),
			result->refused_count == 2 ? "" : "s");
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

static int say_failure(const struct kymo_recorder_result *result,
		       const struct kymo_error *error)
{
	if (result->capture[0])
		fail("%s%s; the capture is kept: kymo export %s -o FILE", error->message,
		     ky_say_option(error->status), result->capture);
	else
		fail("%s%s", error->message, ky_say_option(error->status));
	/* 126 and 127 are ours only where the program never ran. */
	return result->was_started ? EXIT_OWN_FAILURE : result->exit_status;
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

static int record(const struct arguments *arguments)
{
	struct kymo_recorder_result result = {
		.struct_size = sizeof(result),
		.exit_status = EXIT_OWN_FAILURE, /* stays where options are refused */
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
		say_result(&result, &summary);
	}
	if (status)
		return say_failure(&result, &error);
	if (arguments->is_strict &&
	    (summary.lost > 0 || result.refused_count > 0 || summary.incomplete))
		return EXIT_OWN_FAILURE;
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
	struct arguments arguments = {
		.options = {.struct_size = sizeof(arguments.options),
			    .warning = say_warning},
	};
	int is_help = 0, status;

	ky_must_exit_with(EXIT_OWN_FAILURE);
	status = read_arguments(argc, argv, &arguments, &is_help);
	fill_standard_descriptors();
	kymo_log_to(say_log, NULL);
	if (isatty(STDERR_FILENO))
		arguments.options.notice = say_notice;
	if (!status && is_help)
		fputs(usage, stdout);
	else if (!status)
		status = record(&arguments);
	free_list(arguments.sources);
	free_list(arguments.require);
	free_list(arguments.more_outputs);
	return status;
}
