/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kymo record: runs a program, records it and its children, writes the trace. Standard
 * output belongs to the program; what is said here goes to standard error.
 */
#include "commands.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <kymo/control.h>

#include "say.h"

#define EXIT_OWN_FAILURE 125 /* as env(1) and timeout(1) have it */

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
	{NULL, 0, NULL, 0},
};

static const char usage[] =
	"usage: kymo record [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"\n"
	"Runs PROGRAM, records it and its children, and writes one trace.\n"
	"\n"
	"  -t, --trace SOURCES    record these, by name or absolute path of their "
	"plug-in,\n"
	"                         separated by commas; default: all that are installed\n"
	"  -o, --output FILE      .json, .json.gz or .kymo; %p is the pid of PROGRAM, %h "
	"the\n"
	"                         host, %t the start time, %q{NAME} from the "
	"environment;\n"
	"                         default: kymo-PROGRAM-%p.json.gz\n"
	"  -f, --force            replace FILE if it exists\n"
	"      --require SOURCES  fail (125) if one of these has not recorded\n"
	"      --buffer SIZE      memory for each process, 10MiB and more; default: "
	"64MiB\n"
	"      --overflow stream|drop|overwrite\n"
	"                         what becomes of new records when that is full: a file "
	"beside\n"
	"                         FILE takes them all the time (default), they are "
	"dropped, "
	"or\n"
	"                         the oldest are overwritten\n"
	"      --limit SIZE       stream no more once that file has SIZE; default: half "
	"of "
	"the\n"
	"                         free space\n"
	"      --no-follow-fork   leave out children that are forked and run no other "
	"program\n"
	"      --wait all|primary wait for every recorded process (default), or PROGRAM "
	"only\n"
	"      --compat NAME      write what a certain reader needs beyond the format\n"
	"      --strict           fail (125) if anything was lost\n"
	"  -h, --help             show this\n"
	"\n"
	"The exit status is that of PROGRAM (128+n if signal n killed it), 127 if it was "
	"not\n"
	"found, 126 if it could not be run, 125 if recording it failed.\n";

struct arguments {
	struct kymo_record_options options;
	char **sources, **require; /* as options has them, but ours */
	int is_strict;
};

#define fail(...) ky_say_error(EXIT_OWN_FAILURE, __VA_ARGS__)

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

/* Adds the parts of "a,b" to a list that ends with NULL; NULL when that failed. */
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
		list[count] = size > 0 ? strndup(text, size) : NULL;
		if (size > 0 && !list[count++])
			goto fail;
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

/* "64MiB", "64M", "65536": powers of 1024. */
static int read_size(const char *name, const char *text, uint64_t *out)
{
	static const char units[] = "kmgt";
	unsigned long long number;
	const char *unit;
	char *end;
	int shift = 0;

	errno = 0;
	number = strtoull(text, &end, 10);
	unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (int)(unit - units + 1);
		end++;
		if (*end == 'i')
			end++;
	}
	if (tolower((unsigned char)*end) == 'b')
		end++;
	if (!isdigit((unsigned char)text[0]) || *end || errno || number == 0 ||
	    number > UINT64_MAX >> shift)
		return fail("%s \"%s\": a size is wanted, as in 64MiB or 1G", name, text);
	*out = (uint64_t)number << shift;
	return 0;
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

/* A letter stands in optopt; a long option is the word that was read last. */
static int refuse_option(int option, const char *word)
{
	const char letter[] = {'-', (char)optopt, '\0'};
	const char *name = optopt > 0 && optopt < 128 ? letter : word;

	return fail(option == ':' ? "record: %s wants a value; see kymo record --help"
				  : "record: unknown option %s; see kymo record --help",
		    name);
}

static int read_option(struct arguments *arguments, int option, char **argv)
{
	struct kymo_record_options *options = &arguments->options;

	switch (option) {
	case 't':
		return read_list(&arguments->sources, "--trace", optarg);
	case 'o':
		options->output = optarg;
		return 0;
	case 'f':
		options->overwrite = 1;
		return 0;
	case OPTION_REQUIRE:
		return read_list(&arguments->require, "--require", optarg);
	case OPTION_BUFFER:
		return read_size("--buffer", optarg, &options->buffer_size);
	case OPTION_LIMIT:
		return read_size("--limit", optarg, &options->file_limit);
	case OPTION_OVERFLOW:
		return read_overflow(optarg, &options->overflow);
	case OPTION_NO_FOLLOW_FORK:
		options->no_follow_fork = 1;
		return 0;
	case OPTION_WAIT:
		return read_wait(optarg, &options->wait);
	case OPTION_STRICT:
		arguments->is_strict = 1;
		return 0;
	case OPTION_COMPAT:
		options->compat = optarg;
		return 0;
	case 'y':
		return fail("record: -y (--delay) is not in this version");
	case 'd':
		return fail("record: -d (--duration) is not in this version");
	case OPTION_TYPES:
		return fail("record: --types is not in this version");
	default:
		return refuse_option(option, argv[optind - 1]);
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
	return status;
}

/* ---- What is said in the end ---- */

/* ", 1 kernel", ", 2,000 kernels" */
static void say_count(const char *before, uint64_t count, const char *noun)
{
	char text[KY_SAY_SIZE];

	fprintf(stderr, "%s%s %s%s", before, ky_say_count(text, count), noun,
		count == 1 ? "" : "s");
}

/* Why there may be less in the trace than was hoped for. */
static void say_missing(const struct kymo_record_result *result, int is_by_name)
{
	const struct kymo_summary *summary = &result->summary;
	int is_idle = summary->kernels == 0 && summary->copies == 0;

	if (result->failed[0])
		fail("not recorded: %s", result->failed);
	if (result->absent[0] && (is_idle || is_by_name))
		fail("no accelerator activity of %s: never loaded by the program",
		     result->absent);
	else if (summary->events == 0 && !result->failed[0])
		fail("nothing was recorded: the program made no mark and loaded no "
		     "source");
}

static void say_losses(const struct kymo_record_result *result)
{
	char text[KY_SAY_SIZE];

	if (result->summary.lost == 0)
		fputs(", nothing lost", stderr);
	else
		fprintf(stderr, ", lost %s", ky_say_count(text, result->summary.lost));
	/* Names may be lost where no event is. */
	if (result->losses[0])
		fprintf(stderr, " (%s)", result->losses);
	if (result->stopped[0])
		fprintf(stderr, "; %s", result->stopped);
	if (result->refused_count > 0)
		fprintf(stderr, "; %s", result->refused);
	if (result->refused_count > 1)
		fprintf(stderr, "; nor were %s others",
			ky_say_count(text, result->refused_count - 1));
}

static void say_result(const struct kymo_record_result *result)
{
	const struct kymo_summary *summary = &result->summary;
	char text[KY_SAY_SIZE];

	fputs("kymo: ", stderr);
	ky_say_text(stderr, result->output);
	say_count(": ", summary->events, "event");
	if (summary->kernels > 0)
		say_count(", ", summary->kernels, "kernel");
	if (summary->process_count > 1)
		fprintf(stderr, " in %s processes",
			ky_say_count(text, summary->process_count));
	fprintf(stderr, ", %s", ky_say_duration(text, summary->duration_ns));
	say_losses(result);
	fputc('\n', stderr);
}

static int say_failure(const struct kymo_record_result *result,
		       const struct kymo_error *error)
{
	if (result->capture[0])
		fail("%s; the capture is kept: kymo export %s -o FILE", error->message,
		     result->capture);
	else
		fail("%s", error->message);
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

static int record(const struct arguments *arguments)
{
	struct kymo_record_result result = {.struct_size = sizeof(result)};
	struct kymo_error error = {0};
	int32_t status = kymo_record_run(&arguments->options, &result, &error);
	int is_written = result.was_started && result.summary.bytes > 0;

	if (is_written) {
		say_missing(&result, arguments->options.sources != NULL);
		say_result(&result);
	}
	if (status)
		return say_failure(&result, &error);
	if (arguments->is_strict && (result.summary.lost > 0 || result.refused_count > 0))
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
		.options = {.struct_size = sizeof(arguments.options)},
	};
	int is_help = 0;
	int status = read_arguments(argc, argv, &arguments, &is_help);

	fill_standard_descriptors();
	if (isatty(STDERR_FILENO))
		arguments.options.notice = say_notice;
	if (!status && is_help)
		fputs(usage, stdout);
	else if (!status)
		status = record(&arguments);
	free_list(arguments.sources);
	free_list(arguments.require);
	return status;
}
