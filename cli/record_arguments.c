/* SPDX-License-Identifier: BSD-3-Clause */
#include "record_arguments.h"

#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "amount.h"
#include "say.h"

#define fail(...) ky_say_error(KY_EXIT_NOT_RECORDED, __VA_ARGS__)

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

const char ky_record_usage[] =
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
	"                         64MiB, but a quarter of what a container leaves;\n"
	"                         all but 8.5MiB of it hold records\n"
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

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

/* Adds the text to a list that ends with NULL. */
static char **append(char **list, const char *text, size_t size)
{
	size_t count = 0;

	while (list && list[count])
		count++;
	list = ky_must_grow(list, count + 2, sizeof(*list));
	list[count] = ky_must_copy(text, size);
	list[count + 1] = NULL;
	return list;
}

/* The parts of "a, b", without the blanks around them. */
static char **append_parts(char **list, const char *text)
{
	while (*text) {
		const char *part = text, *end = text + strcspn(text, ",");

		text = end + (*end == ',');
		while (part < end && isspace((unsigned char)*part))
			part++;
		while (part < end && isspace((unsigned char)end[-1]))
			end--;
		if (part < end)
			list = append(list, part, (size_t)(end - part));
	}
	return list;
}

static int read_list(char ***list, const char *name, const char *text)
{
	*list = append_parts(*list, text);
	if (*list)
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
static int add_output(struct ky_record_arguments *arguments, const char *text)
{
	if (!arguments->options.output)
		arguments->options.output = text;
	else
		arguments->more_outputs =
			append(arguments->more_outputs, text, strlen(text));
	return 0;
}

static int read_option(struct ky_record_arguments *arguments, int option, char **argv)
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
		return ky_read_size(KY_EXIT_NOT_RECORDED, "--buffer", optarg,
				    &options->buffer_size);
	case OPTION_LIMIT:
		return ky_read_size(KY_EXIT_NOT_RECORDED, "--limit", optarg,
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
		return ky_read_duration(KY_EXIT_NOT_RECORDED, "--delay", optarg,
					&options->delay_ns);
	case 'd':
		return ky_read_duration(KY_EXIT_NOT_RECORDED, "--duration", optarg,
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
		return ky_say_usage(KY_EXIT_NOT_RECORDED, option, argv, long_options);
	}
}

void ky_record_free(struct ky_record_arguments *arguments)
{
	free_list(arguments->sources);
	free_list(arguments->require);
	free_list(arguments->more_outputs);
}

int ky_record_read(int argc, char **argv, struct ky_record_arguments *arguments)
{
	int option, status = 0;

	opterr = 0; /* we say it ourselves */
	while (!status) {
		/* '+': what follows the program's name is the program's. */
		option = getopt_long(argc, argv, "+:t:o:fy:d:h", long_options, NULL);
		if (option == -1)
			break;
		if (option == 'h') {
			arguments->is_help = 1;
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
